#!/usr/bin/env python3
"""Holds every #include against the rooms: check_rooms.py ROOT

The rooms and what each may include are what hf_room(<name> DIR <folder> DEPENDS <room>...) says in CMakeLists.txt.
HOMES says where a third party's headers may be included. A cycle of rooms, a file in no room and an include that
leads nowhere fail as well.
"""
import pathlib
import re
import sys
from fnmatch import fnmatchcase as fnmatch

import source_tree

ROOM_FOLDERS = ("src", "cache", "converters", "runtime")
KEYWORDS = {"DIR", "SOURCES", "DEPENDS", "LINKS"}

# Header -> the files that may include it, both as shell patterns where * stands for any text.
HOMES = {
    "curl/*": ["cache/http/*", "tests/cache/failure_test.cpp"],
    "onnx/*": ["converters/onnx/*", "tests/converters/*"],
    "google/protobuf/*": ["converters/onnx/*", "tests/converters/*"],
    "oneapi/*": ["runtime/cpu/*"],
    "dnnl*": ["runtime/cpu/*"],
    "cuda*": ["runtime/cuda/*", "tests/emulator/*"],
    "cublas*": ["runtime/cuda/*", "tests/emulator/*"],
    "nccl*": ["runtime/cuda/*"],
    "mpi.h": ["runtime/parallel/*"],
    "openssl/*": ["src/base/*", "tests/support/certificates.cpp"],
    "nlohmann/json.hpp": ["*.cpp"],
    "CLI/*": ["tools/*/main.cpp"],
    "doctest/*": ["tests/*"],
    # What prints or aborts stays out of the libraries.
    "iostream": ["tools/*", "tests/*"],
    "cassert": ["tools/*", "tests/*"],
    "assert.h": ["tools/*", "tests/*"],
}


def read_rooms(root):
    """{name: (folder, depends)} from every hf_room() call."""
    rooms = {}
    for folder in ROOM_FOLDERS:
        for listing in sorted((root / folder).rglob("CMakeLists.txt")):
            text = re.sub(r"#[^\n]*", "", listing.read_text())
            for call in re.findall(r"\bhf_room\(([^)]*)\)", text):
                name, *words = call.split()
                values = {}
                for word in words:
                    if word in KEYWORDS:
                        key = values.setdefault(word, [])
                    else:
                        key.append(word)
                rooms[name] = ((listing.parent / values["DIR"][0]).resolve(), set(values.get("DEPENDS", [])))
    return rooms


def cycle(rooms):
    """The rooms that depend on themselves in the end."""
    left = {name: depends for name, (_, depends) in rooms.items()}
    while done := {r for r in left if not left[r] & left.keys()}:
        left = {r: d for r, d in left.items() if r not in done}
    return sorted(left)


def room_of(path, rooms):
    homes = [(len(folder.parts), name) for name, (folder, _) in rooms.items() if folder in path.parents]
    return max(homes)[1] if homes else None


def find_header(root, path, header):
    for base in (path.parent, root / "src", root, root / "tests"):
        if (base / header).is_file():
            return (base / header).resolve()
    return None


def third_party_problem(where, header):
    for pattern, homes in HOMES.items():
        if fnmatch(header, pattern) and not any(fnmatch(where, home) for home in homes):
            return f"{where}: <{header}> belongs to {' and '.join(homes)}"
    return None


def check_file(root, path, rooms):
    """The problems of one file's includes."""
    where = path.relative_to(root).as_posix()
    outside = not where.startswith(tuple(f + "/" for f in ROOM_FOLDERS))
    room = None if outside else room_of(path, rooms)
    problems = [] if outside or room else [f"{where}: lies in no room"]
    text = source_tree.without_comments(path.read_text())
    for header, quoted in re.findall(r'^[ \t]*#[ \t]*include[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")', text, re.M):
        target = find_header(root, path, quoted) if quoted else None
        if target is None:
            problem = third_party_problem(where, header or quoted)
            if quoted and not problem:
                problem = f'{where}: "{quoted}" is not found below src/, the root or its own folder'
            problems += [problem] if problem else []
            continue
        if outside or room is None:
            continue
        target_room = room_of(target, rooms)
        if target_room is None:
            problems.append(f"{where}: {room} may not include {quoted}, which lies in no room")
        elif target_room != room and target_room not in rooms[room][1]:
            problems.append(f"{where}: {room} may not include {quoted} of {target_room}")
    return problems


def check(root):
    root = root.resolve()
    rooms = read_rooms(root)
    problems = [] if rooms else ["no hf_room() call was found"]
    if names := cycle(rooms):
        problems.append(f"rooms in a cycle: {', '.join(names)}")
    for name, (_, depends) in sorted(rooms.items()):
        problems += [f"{name} depends on {d}, which is no room" for d in sorted(depends - rooms.keys())]
    for path in source_tree.files(root, source_tree.CPP, (*ROOM_FOLDERS, "tools", "tests")):
        problems += check_file(root, path, rooms)
    return rooms, problems


if __name__ == "__main__":
    rooms, problems = check(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or f"{len(rooms)} rooms hold")
    sys.exit(bool(problems))
