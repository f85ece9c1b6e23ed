"""Reads a data file out of an installed Python package, and writes its numbers in short form."""

import hashlib
import importlib.util
import pathlib
import sys


def packaged(package, path, sha256):
    """The lines of a package's data file, found without importing the package and its needs."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        sys.exit(f"{package} is not installed: the first lines of this script say how")
    data = (pathlib.Path(spec.submodule_search_locations[0]) / path).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        sys.exit(f"{package}/{path}: sha-256 {found}, expected {sha256}: another version?")
    return data.decode("utf-8").splitlines()


def shortest(text):
    """The shortest decimal text that parses back to the same float64; integers without a point."""
    value = float(text)
    return str(int(value)) if value == int(value) else repr(value)
