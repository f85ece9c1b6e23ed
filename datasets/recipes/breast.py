"""Makes breast.csv from the data file inside scikit-learn (tried with 1.9.1).

    pip install --no-deps scikit-learn==1.9.1
    python3 recipes/breast.py > breast.csv

Input: sklearn/datasets/data/breast_cancer.csv, the Breast Cancer Wisconsin (Diagnostic) data
(UCI 17, CC BY 4.0; scikit-learn itself is BSD 3-Clause). What this script changes: scikit-learn
codes malignant 0 and benign 1, here malignant is 1; the columns get the names of the UCI page.
Rows keep their order; no number changes.
"""

import csv
import sys

from source import packaged, shortest

SHA256 = "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed"
MEASUREMENTS = [
    "radius", "texture", "perimeter", "area", "smoothness",
    "compactness", "concavity", "concave_points", "symmetry", "fractal_dimension",
]
HEADER = [f"{name}_{kind}" for kind in ("mean", "se", "worst") for name in MEASUREMENTS] + ["malignant"]


def main():
    rows = csv.reader(packaged("sklearn", "datasets/data/breast_cancer.csv", SHA256))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(HEADER)
    count, features, *classes = next(rows)
    assert (count, features, classes) == ("569", "30", ["malignant", "benign"])
    for row in rows:
        malignant = {"0": "1", "1": "0"}[row[-1]]
        out.writerow([shortest(cell) for cell in row[:-1]] + [malignant])


if __name__ == "__main__":
    main()
