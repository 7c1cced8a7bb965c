"""The project's own source files, and C++ text without what a rule must not read: comments, strings, directives."""
import os
import pathlib
import re

CPP = {".h", ".cpp", ".cu", ".cuh"}
SKIPPED = {"build", "data", "examples", "corpus", "__pycache__"}


def files(root, suffixes, folders=(".",)):
    """Paths below root/folder with one of the suffixes, sorted; build folders and data are left out."""
    found = []
    for folder in folders:
        for here, inside, names in os.walk(root / folder):
            inside[:] = [d for d in inside if d not in SKIPPED and not d.startswith(".")]
            found += [pathlib.Path(here, n) for n in names if pathlib.Path(n).suffix in suffixes]
    return sorted(set(found))


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'
    r'|(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+'",  # not the ' between digits
    re.S)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def _newlines(match):
    return "\n" * match.group().count("\n")


def _literal(match):
    return _newlines(match) if match.group().startswith("/") else '""' + _newlines(match)


def without_comments(text):
    """Comments are gone, line numbers stay."""
    return _TOKEN.sub(lambda m: _newlines(m) if m.group().startswith("/") else m.group(), text)


def bare(text):
    """Only code: comments and directives are gone, literals are empty, line numbers stay."""
    return _DIRECTIVE.sub(_newlines, _TOKEN.sub(_literal, text))
