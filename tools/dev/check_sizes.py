#!/usr/bin/env python3
"""Measures files and functions: check_sizes.py ROOT

A function has at most 60 lines from its name to its closing brace, a file at most 600; files above 400 are listed.
Functions of C++ are found by their braces: at the level of namespaces and classes, a block is a function where a
parameter list stands before it and no "=" (or "= [": a lambda with a name).
"""
import ast
import pathlib
import re
import sys

import source_tree

FUNCTION_LINES, LISTED_LINES, FILE_LINES = 60, 400, 600

_CONTAINER = re.compile(r'(?:inline\s+)?namespace\b|extern\s*""\s*$|(?:typedef\s+)?(?:class|struct|union|enum)\b[^(]*$')
_ACCESS = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)\s*)?")
_LAMBDA = re.compile(r"(\w+)\s*=\s*\[")
_NAME = re.compile(r"(operator\s*[^\s\w]{1,3}|[~\w:]+)\s*\(")


def _match(code, at, pair):
    """Where the bracket that opens at `at` closes; the end of the text where it does not."""
    depth = 0
    for found in re.compile("[" + re.escape(pair) + "]").finditer(code, at):
        depth += 1 if found.group() == pair[0] else -1
        if depth == 0:
            return found.start()
    return len(code) - 1


def _declaration(head):
    """What stands before a block, without access labels, template<...>, alignas() and attributes."""
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^)]*\)", "", head[_ACCESS.match(head).end():], flags=re.S)
    while start := re.match(r"\s*template\s*<", head):
        head = head[_match(head, start.end() - 1, "<>") + 1:]
    return head.strip()


def _is_function(declaration):
    if _LAMBDA.search(declaration):
        return True
    outside = re.sub(r"\([^()]*\)", "()", declaration)
    while outside != (inner := re.sub(r"\([^()]+\)", "()", outside)):
        outside = inner
    assigned = re.search(r"(?<!operator)(?<![=!<>+\-*/%&|^])=(?!=)", outside)
    return "()" in outside and not assigned


def cpp_functions(text):
    """(name, first line, lines) of each function body that is not inside another."""
    code = source_tree.bare(text)
    found, start, i = [], 0, 0
    while i < len(code):
        c = code[i]
        if c == "(":  # default arguments and initializer lists have braces too
            i = _match(code, i, "()")
        elif c in ";}":
            start = i + 1
        elif c == "{":
            head = code[start:i]
            declaration = _declaration(head)
            if not _CONTAINER.match(declaration):
                end = _match(code, i, "{}")
                function = _is_function(declaration)
                while function and (more := re.compile(r"\s*(?:,[^{;]*)?{").match(code, end + 1)):
                    end = _match(code, more.end() - 1, "{}")  # the block was one of a constructor's initializers
                if function:
                    first = start + _ACCESS.match(head).end()
                    name = _LAMBDA.search(declaration) or _NAME.search(declaration)
                    found.append((name.group(1) if name else declaration, code.count("\n", 0, first) + 1,
                                  code.count("\n", first, end) + 1))
                i = end
            start = i + 1
        i += 1
    return found


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


_READERS = {".py": python_functions, **dict.fromkeys(source_tree.CPP, cpp_functions)}


def check(root):
    """(files to mention, problems)"""
    listed, problems = [], []
    for path in source_tree.files(root, source_tree.CPP | {".py", ".sh", ".cmake"}):
        text, where = path.read_text(), path.relative_to(root).as_posix()
        lines = text.count("\n")
        if lines > FILE_LINES:
            problems.append(f"{where}: {lines} lines, at most {FILE_LINES} are allowed")
        elif lines > LISTED_LINES:
            listed.append(f"{where}: {lines} lines, {LISTED_LINES} are the aim")
        for name, line, length in _READERS.get(path.suffix, lambda _: ())(text):
            if length > FUNCTION_LINES:
                problems.append(f"{where}:{line}: {name} has {length} lines, at most {FUNCTION_LINES} are allowed")
    return listed, problems


if __name__ == "__main__":
    listed, problems = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(listed + problems) or "sizes hold")
    sys.exit(bool(problems))
