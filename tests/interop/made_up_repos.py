"""Sixty repositories with all that names, sizes and revisions can be, as folders that loopback_hub serves.

Deterministic: the same names and bytes at each call. The first ones are each about one matter; the rest mix all of
them by chance.
"""

import random
import urllib.parse
from dataclasses import dataclass

COUNT = 60
WORDS = [
    "config",
    "model",
    "tokenizer",
    "vocab",
    "données",
    "模型",
    "модель",
    "नमूना",
    "モデル",
    "ß",
    "e\u0301",
    "😀",
    "a b",
    "x" * 60,
]
SUFFIXES = [".json", ".txt", ".py", ".safetensors", ".bin", ".xet.bin", ".csv", ".MD", ""]


@dataclass(frozen=True)
class Revision:
    repo_id: str
    repo_type: str = "model"
    name: str = "main"

    def folder(self, root):
        owner = root if self.repo_type == "model" else root / f"{self.repo_type}s"
        place = owner / self.repo_id if "/" in self.repo_id else owner / "_" / self.repo_id
        return (
            place if self.name == "main" else place.with_name(f"{place.name}@{urllib.parse.quote(self.name, safe='')}")
        )


def content(size, seed=0):
    return random.Random(f"{size} {seed}").randbytes(size)


TEXT, WEIGHTS = b"{}\n", content(70_000)


def of_kinds():
    """{repository: {revision: {path: bytes}}}: kinds of repositories and of files."""
    yield "acme/plain", {"main": {"config.json": TEXT, "README.md": b"# plain\n"}}
    yield "acme/unicode", {"main": {f"{w}/{w}.txt": w.encode() for w in WORDS}}
    yield "acme/nested", {"main": {"/".join(f"d{i}" for i in range(20)) + "/deep.json": TEXT, "d0/top.json": b"1"}}
    yield "acme/empty", {"main": {}}
    yield "acme/nothing-in-it", {"main": {"a": b"", "b/c": b"", "d.safetensors": b""}}
    yield "acme/lfs", {"main": {"model.safetensors": WEIGHTS, "sub/pytorch_model.bin": content(5)}}
    yield "acme/xet", {"main": {"model.xet.safetensors": WEIGHTS, "sub/other.xet.bin": content(5), "config.json": TEXT}}
    yield "bare", {"main": {"config.json": TEXT}, "v2": {"config.json": b"[]"}}
    yield "bare-lfs", {"main": {"w.bin": WEIGHTS}}
    yield (
        "dataset acme/rows",
        {"main": {"data/train.csv": b"a,b\n", "README.md": b""}, "refs/convert/parquet": {"0.bin": WEIGHTS}},
    )
    yield "dataset rows", {"main": {"rows.csv": b"a\n"}}
    yield "space acme/page", {"main": {"app.py": b"print()\n", "static/index.html": b"<p>"}}


def of_revisions_and_contents():
    """The same: revisions, amounts, what is alike."""
    yield "acme/proposed", {"main": {"a": b"1"}, "refs/pr/1": {"a": b"2"}, "refs/pr/12": {"a": b"2", "b": b"3"}}
    yield "acme/tagged", {"main": {"a": b"1"}, "v1.0": {"a": b"0"}, "v1.0-rc.1+meta": {"a": b"1"}}
    yield "acme/branches", {"main": {"a": b"1"}, "feature/x/y": {"a": b"2"}, "é": {"a": b"3"}}
    yield "acme/many", {"main": {f"part-{i % 7}/{i:04}.txt": b"%d" % (i % 2000) for i in range(3000)}}
    yield (
        "acme/duplicates",
        {
            "main": {
                "a.txt": TEXT,
                "b/a.txt": TEXT,
                "b/c/a.txt": TEXT,
                "w.bin": WEIGHTS,
                "copy/w.bin": WEIGHTS,
                "same.txt": content(9),
                "same.bin": content(9),
            }
        },
    )
    yield "acme/programs", {"main": {"run.sh": b"#!/bin/sh\n", "a.exe": b"MZ", "Makefile": b"", "x.so": b"\x7fELF"}}
    yield (
        "acme/dots-and-dashes",
        {
            "main": {
                ".gitattributes": b"*.bin lfs\n",
                ".hidden/.x": b"1",
                "-rf": b"2",
                "--/--help": b"3",
                "...": b"4",
                "..../a": b"5",
            }
        },
    )


def of_names():
    """The same: what files and repositories can be called."""
    yield (
        "acme/spaces",
        {"main": {"a b c.txt": b"1", " lead": b"2", "trail ": b"3", "in side/x y": b"4", "\u00a0": b"5"}},
    )
    yield (
        "acme/long-names",
        {"main": {"n" * 200: b"1", "m" * 200 + ".bin": b"2", "é" * 100: b"3", "d" * 200 + "/" + "f" * 200: b"4"}},
    )
    yield (
        "acme/odd-characters",
        {
            "main": {
                c: c.encode()
                for c in (
                    "%20",
                    "a%2Fb",
                    "#",
                    "?q=1",
                    "a&b",
                    "a+b",
                    "a;b",
                    "'",
                    '"',
                    "[x]",
                    "{y}",
                    "~",
                    "$HOME",
                    "`id`",
                    "*",
                    "!",
                    "@",
                    "=",
                    ",",
                    "^",
                    "|",
                )
            }
        },
    )
    yield "acme/cases", {"main": {"readme": b"1", "README": b"2", "ReadMe/x": b"3"}}
    yield "acme/like-refs", {"main": {"refs/main": b"1", "snapshots/x": b"2", "blobs/y": b"3", "trees/z.json": b"4"}}
    yield (
        "acme/like-ours",
        {"main": {"a.lock": b"1", "b.incomplete": b"2", "c.part": b"3", "d.metadata": b"4", "e.tmp": b"5"}},
    )
    yield "A.b_c-d/E.f_g-h", {"main": {"x": b"1"}}
    yield "0/1", {"main": {"x": b"1"}}
    yield "acme/" + "n" * 90, {"main": {"x": b"1"}}
    yield "acme/sizes", {"main": {f"{n}.bin": content(n) for n in (1, 63, 64, 65, 4095, 4096, 4097, 65536, 262145)}}
    yield (
        "acme/deep-and-wide",
        {"main": {f"{a}/{b}/{c}.txt": f"{a}{b}{c}".encode() for a in range(3) for b in range(3) for c in range(3)}},
    )
    yield "acme/one-commit-two-names", {"main": {"a": b"1"}, "same": {"a": b"1"}}
    yield "acme/grows", {"main": {"a": b"1", "b": b"2", "w.bin": WEIGHTS}, "old": {"a": b"1", "w.bin": WEIGHTS}}


def mixture(seed):
    """A repository by chance: one to three revisions that share most of their files."""
    chance = random.Random(seed)
    files = {}
    for _ in range(chance.randrange(1, 12)):
        folders = [chance.choice(WORDS) for _ in range(chance.choice([0, 0, 1, 1, 2, 4]))]
        path = "/".join([*folders, f"{chance.choice(WORDS)}-{chance.randrange(100)}{chance.choice(SUFFIXES)}"])
        files[path] = content(chance.choice([0, 1, 100, 5_000, 60_000]), chance.randrange(4))
    revisions = {"main": files}
    for name in chance.sample(["v1", "dev/next", "refs/pr/3"], chance.choice([0, 0, 1, 2])):
        revisions[name] = {path: files[path] for path in chance.sample(sorted(files), (len(files) + 1) // 2)} | {
            "new": name.encode()
        }
    kind = chance.choice(["", "", "", "dataset ", "space "])
    return f"{kind}{chance.choice(['acme/', 'acme/', 'b.c/', ''])}mixture-{seed}", revisions


def make(root):
    """Writes them all below `root`; the revisions, in order."""
    repos = [*of_kinds(), *of_revisions_and_contents(), *of_names()]
    repos += [mixture(seed) for seed in range(COUNT - len(repos))]
    out = []
    for name, revisions in repos:
        repo_type, _, repo_id = name.rpartition(" ")
        for revision, files in revisions.items():
            out.append(Revision(repo_id, repo_type or "model", revision))
            folder = out[-1].folder(root)
            folder.mkdir(parents=True)
            for path, data in files.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
    return out
