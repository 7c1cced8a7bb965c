#!/usr/bin/env python3
"""Absent is a file, not an #if: check_conditions.py ROOT

Fails any #if, #ifdef, #ifndef or #elif that asks for one of our options or for CUDA outside of runtime/cuda/ and of
the emulator that stands in for it in tests.
"""
import pathlib
import re
import sys

import source_tree

ALLOWED = ("runtime/cuda/", "tests/emulator/")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b((?:[^\n]*\\\n)*[^\n]*)", re.M)
_OPTION = re.compile(r"\bHF_\w+|\w*(?:CUDA|NVCC|NCCL|CUBLAS)\w*")


def check(root):
    problems = []
    for path in source_tree.files(root, source_tree.CPP):
        where = path.relative_to(root).as_posix()
        text = source_tree.without_comments(path.read_text())
        for condition in _CONDITION.finditer(text):
            option = _OPTION.search(condition.group(1))
            if option and not where.startswith(ALLOWED):
                line = text.count("\n", 0, condition.start()) + 1
                problems.append(f"{where}:{line}: #if on {option.group()}: choose a file in CMake instead")
    return problems


if __name__ == "__main__":
    problems = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(problems) or "no #if on an option")
    sys.exit(bool(problems))
