"""Makes autompg.csv from the Python package bokeh_sampledata (tried with 2026.1).

    pip install --no-deps bokeh_sampledata==2026.1
    python3 recipes/autompg.py > autompg.csv

Input: bokeh_sampledata/_data/auto-mpg.csv, declared CC0-1.0 in the package's
licenses/datasets.json (Donoho and Ramos 1982, StatLib's cars data without its incomplete rows;
UCI 9 is the same data under CC BY 4.0). What this script changes: the car name is dropped, mpg
moves to the last column, the columns get their full names. Rows keep their order; no number
changes.

The cars set of vega-datasets was tried first and not used: it gives 1982 as the year of the 28
rows whose year is 1981 in the UCI file.
"""

import csv
import sys

from source import packaged, shortest

SHA256 = "7de0ecb3489c54523818af3daa65115dd87cc3737ad007b93ec31a74536787a7"
SOURCE = ["cyl", "displ", "hp", "weight", "accel", "yr", "origin", "mpg"]
HEADER = ["cylinders", "displacement", "horsepower", "weight", "acceleration", "model_year", "origin", "mpg"]


def main():
    lines = packaged("bokeh_sampledata", "_data/auto-mpg.csv", SHA256)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(HEADER)
    for row in csv.DictReader(lines):
        out.writerow(shortest(row[name]) for name in SOURCE)


if __name__ == "__main__":
    main()
