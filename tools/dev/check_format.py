#!/usr/bin/env python3
"""Every C++ file is as clang-format 14 writes it: check_format.py ROOT [--fix]

Other versions lay code out differently, so without version 14 the check is skipped (exit code 77).
"""
import pathlib
import re
import shutil
import subprocess
import sys

import source_tree

VERSION = "14"


def find_formatter():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if path := shutil.which(name):
            text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", text):
                return path
    return None


def check(formatter, root, fix=False):
    """The files that are laid out otherwise."""
    paths = source_tree.files(root, source_tree.CPP)
    if fix and paths:
        subprocess.run([formatter, "-i", *paths], check=True)
    if not paths:
        return []
    run = subprocess.run([formatter, "--dry-run", *paths], check=True, capture_output=True, text=True)
    return sorted(set(re.findall(r"^(.+?):\d+:\d+: warning: code should be clang-formatted", run.stderr, re.M)))


if __name__ == "__main__":
    formatter = find_formatter()
    if formatter is None:
        print(f"test skipped: clang-format {VERSION} is not installed")
        sys.exit(77)
    problems = check(formatter, pathlib.Path(sys.argv[1]).resolve(), "--fix" in sys.argv[2:])
    print("\n".join(f"{p}: not formatted, tools/dev/check_format.py . --fix does it" for p in problems) or "formatted")
    sys.exit(bool(problems))
