#!/usr/bin/env python3
"""Libraries never print, exit or abort: check_symbols.py [--debug] NM LIBRARY...

Fails a library that refers to one of FORBIDDEN; <iostream> alone, which protobuf's headers bring along, prints nothing.
A broken promise of ours is an Error{internal}, so assert() is
forbidden too; --debug allows it, because without NDEBUG third parties' headers bring their own.
"""
import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"_?_?(?:v|w|vw)?f?printf(?:_chk)?|putchar|puts|fputs|fputc|putc|perror|psignal|warnx?|errx?"
    r"|abort|_?exit|_Exit|quick_exit|stdout|stderr"
    r"|std::w?(?:cout|cerr|clog)")
ASSERT = re.compile(r"__assert_fail|__assert_perror_fail|std::__glibcxx_assert_fail.*")


def problems_in(listing, library, debug):
    """What `nm --demangle --undefined-only` printed, against the rule."""
    found, member = [], ""
    for line in listing.splitlines():
        if line.endswith(":"):
            member = line[:-1]
            continue
        symbol = re.sub(r"@.*", "", line.strip().removeprefix("U ").removeprefix("w ").strip())
        if FORBIDDEN.fullmatch(symbol) or (not debug and ASSERT.fullmatch(symbol)):
            found.append(f"{library}({member}): refers to {symbol}")
    return found


def main(arguments):
    debug = "--debug" in arguments
    nm, *libraries = [a for a in arguments if a != "--debug"]
    problems = []
    for library in libraries:
        listing = subprocess.run([nm, "--demangle", "--undefined-only", library], check=True, capture_output=True,
                                 text=True).stdout
        problems += problems_in(listing, library, debug)
    print("\n".join(problems) or f"{len(libraries)} libraries hold")
    return bool(problems) or not libraries


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
