#!/usr/bin/env python3
"""Lists the tests that the last ctest run of a build folder skipped, each with its reason: skipped_tests.py BUILD"""
import pathlib
import re
import sys


def skipped(log):
    """(name, reason) from the text of LastTest.log."""
    for test in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        if reason := re.search(r"test skipped: (.*)", test):
            yield test.split("\n", 1)[0], reason.group(1)


if __name__ == "__main__":
    log = pathlib.Path(sys.argv[1]) / "Testing/Temporary/LastTest.log"
    for name, reason in skipped(log.read_text(errors="replace")):
        print(f"skipped: {name}: {reason}")
