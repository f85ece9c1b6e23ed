"""Five folds of a table by the command `svn`, scored here and not by it.

python docs/experiments/own_data.py FILE --target COLUMN [--skip N] -- [options of svn fit]

Rows are shuffled with seed 0 and cut into five parts; N rows below the header (a second header, units) go into every part. A row
without a target is left out. The standard library alone.
"""

import argparse
import csv
import math
import pathlib
import random
import subprocess
import sys
import tempfile


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def auroc(scores, positive):
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    rank, i, total = 0.0, 0, 0
    while i < len(order):
        j = i
        while j < len(order) and scores[order[j]] == scores[order[i]]:
            j += 1
        middle = (i + j + 1) / 2
        total += middle * sum(positive[k] for k in order[i:j])
        i = j
    p = sum(positive)
    return (total - p * (p + 1) / 2) / (p * (len(positive) - p))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--target", required=True)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--svn", default="svn")
    parser.add_argument("--folds", type=int, default=5)
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    asked = parser.parse_args(sys.argv[1:cut])
    asked.rest = sys.argv[cut + 1 :]
    rows = list(csv.reader(open(asked.file, newline="", encoding="utf-8")))
    header, above, rows = rows[0], rows[1 : 1 + asked.skip], rows[1 + asked.skip :]
    at = header.index(asked.target)
    rows = [row for row in rows if row[at].strip() not in ("", "NA")]
    random.Random(0).shuffle(rows)
    scores = {}
    for fold in range(asked.folds):
        test = rows[fold :: asked.folds]
        train = [row for i, row in enumerate(rows) if i % asked.folds != fold]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, part in (("train.csv", train), ("test.csv", test)):
                with open(folder / name, "w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([header, *above, *part])
            model, out = str(folder / "model"), str(folder / "out.csv")
            run(asked.svn, "fit", str(folder / "train.csv"), "--target", asked.target, "--out", model, "--quiet", *asked.rest)
            run(asked.svn, "predict", model, str(folder / "test.csv"), "-o", out)
            found = list(csv.DictReader(open(out, newline="", encoding="utf-8")))
        # A second header may be read as units, or be a row: then it has a prediction.
        found = found[len(found) - len(test) :]
        truth = [row[at].strip() for row in test]
        if "mean" in found[0]:
            y, mean = [float(t) for t in truth], [float(f["mean"]) for f in found]
            held = [float(f["lower"]) <= t <= float(f["upper"]) for f, t in zip(found, y)]
            one = {
                "rmse": math.sqrt(sum((a - b) ** 2 for a, b in zip(y, mean)) / len(y)),
                "coverage90": sum(held) / len(held),
            }
        else:
            p = [max(float(f[f"p({t})"]), 1e-300) for f, t in zip(found, truth)]
            one = {
                "log_loss": -sum(map(math.log, p)) / len(p),
                "accuracy": sum(f["label"] == t for f, t in zip(found, truth)) / len(p),
            }
            labels = sorted(set(truth))
            if len(labels) == 2:
                one["auroc"] = auroc([float(f[f"p({labels[1]})"]) for f in found], [t == labels[1] for t in truth])
        print(f"fold {fold + 1}:", ", ".join(f"{k} {v:.4f}" for k, v in one.items()), flush=True)
        for key, value in one.items():
            scores.setdefault(key, []).append(value)
    for key, values in scores.items():
        mean = sum(values) / len(values)
        se = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
        print(f"{key} {mean:.4f} ± {se:.4f}")


main()
