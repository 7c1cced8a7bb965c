#!/usr/bin/env python3
"""The same files as huggingface_hub 2.4 leaves: layout_interop.py --hfcache H --hub LOOPBACK_HUB --python INTERPRETER

Sixty made-up repositories, each revision downloaded by hfcache and by huggingface_hub 2.x: paths, link targets,
contents and modes must be equal, in a cache, in one without symbolic links and as plain folders of the user
(--local-dir), with several umasks, in folders that hand on their group. Not compared are times, .locks/, the clock line
of .metadata and the mode of trees/, whose lists must be readable to whoever may read the files. One difference is
meant: a revision without files has its folder here, where huggingface_hub prints a path that does not exist and then
warns of the repository in its own scan.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass, field

from hub_clients import Checks, Client, Hfcache, LoopbackHub, clean_environment
from made_up_repos import COUNT, make

ABSENT = ("acme/plain", "acme/unicode", "bare")  # repositories asked for a file that they do not have


@dataclass(frozen=True)
class Mode:
    name: str
    umask: int = 0o022
    local: bool = False  # folders of the user's instead of a cache
    setgid: bool = False  # of the folder that all lies in
    variables: dict = field(default_factory=dict)
    workers: int = 8  # of huggingface_hub
    is_left_out: object = lambda revision: False


def is_large(revision):
    return revision.repo_id == "acme/many"


def asks_for_more(mode, revision):
    """In a folder of the user's, huggingface_hub leaves empty folders behind for a file that there is not."""
    return revision.repo_id in ABSENT and revision.name == "main" and not mode.local


MODES = [
    Mode("a cache"),
    Mode(
        "a cache, umask 002, setgid, hf_xet switched on",
        0o002,
        setgid=True,
        variables={"HF_HUB_DISABLE_XET": "0"},
        is_left_out=lambda r: is_large(r) or "xet" in r.repo_id or "mixture" in r.repo_id,
    ),
    Mode("a cache for oneself, umask 077", 0o077, is_left_out=is_large),
    # huggingface_hub 2.4 fails by chance where two threads fetch files of one content in this mode.
    Mode("a cache without links", variables={"HF_HUB_DISABLE_SYMLINKS": "1"}, workers=1, is_left_out=is_large),
    Mode("--local-dir", local=True, is_left_out=is_large),
    Mode("--local-dir, umask 002, setgid", 0o002, local=True, setgid=True, is_left_out=is_large),
]


def described(path, name):
    """What must be the same of it."""
    mode = oct(stat.S_IMODE(path.lstat().st_mode))
    if path.is_symlink():
        return ("link", os.readlink(path))
    if path.is_dir():
        return ("folder", mode)
    content = path.read_bytes()
    if name.endswith(".metadata") and "/.cache/huggingface/download/" in f"/{name}":
        content = b"\n".join(content.split(b"\n")[:2])
    if "trees" in name.split("/"):
        mode = ""
    return ("file", mode, len(content), hashlib.sha256(content).hexdigest()[:12])


def listing(root):
    out = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if ".locks" not in name.split("/"):
            out[name] = described(path, name)
    return out


def without_empty_folders(ours, number_of_empty):
    """`ours` without what only we make for a revision that has no files, and what that was."""
    cache, local = "cache/models--acme--empty", f"local/{number_of_empty}/.cache/huggingface"
    extra = {
        name
        for name in ours
        if name == f"{cache}/blobs"
        or name.startswith(f"{cache}/snapshots")
        or name in (f"{local}/.gitignore", f"{local}/CACHEDIR.TAG", f"{local}/download")
    }
    return {name: ours[name] for name in ours.keys() - extra}, extra


def differences(ours, theirs):
    return [
        f"{name}: ours {ours.get(name)}, theirs {theirs.get(name)}"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]


def unreadable_lists(root, umask):
    """Lists of files whose mode gives less than the umask allows."""
    return [
        str(path) for path in root.rglob("trees/*.json") if stat.S_IMODE(path.stat().st_mode) & 0o444 != 0o444 & ~umask
    ]


class Comparison:
    def __init__(self, hfcache, client, revisions, work):
        self.hfcache, self.client, self.revisions, self.work, self.check = hfcache, client, revisions, work, Checks()

    def ours(self, mode, revisions, root):
        failed = []
        for number, revision in enumerate(revisions):
            where = ["--local-dir", root / "local" / str(number)] if mode.local else []
            command = [
                "download",
                revision.repo_id,
                "--repo-type",
                revision.repo_type,
                "--revision",
                revision.name,
                "-q",
                "--cache-dir",
                root / "cache",
                *where,
            ]
            done = self.hfcache.run(*command, umask=mode.umask, **mode.variables)
            if done.returncode != 0:
                failed.append(f"{revision}: {done.stderr.strip()}")
            if asks_for_more(mode, revision):
                done = self.hfcache.run(*command, "no/such file.json", umask=mode.umask, **mode.variables)
                if done.returncode != 3:
                    failed.append(f"{revision}: exit code {done.returncode} for a file that does not exist")
        return failed

    def theirs(self, mode, revisions, root):
        jobs = []
        for number, revision in enumerate(revisions):
            job = {
                "do": "download",
                "repo_id": revision.repo_id,
                "repo_type": revision.repo_type,
                "revision": revision.name,
                "cache_dir": str(root / "cache"),
                "max_workers": mode.workers,
            }
            if mode.local:
                job["local_dir"] = str(root / "local" / str(number))
            jobs.append(job)
            if asks_for_more(mode, revision):
                jobs.append(job | {"file": "no/such file.json"})
        results = self.client.run(jobs, umask=mode.umask, **mode.variables)
        return [
            f"{job}: {result}"
            for job, result in zip(jobs, results)
            if not result.startswith("RemoteEntryNotFoundError: " if "file" in job else str(root))
        ]

    def run(self, mode):
        revisions = [r for r in self.revisions if not mode.is_left_out(r)]
        roots = {}
        for who in ("ours", "theirs"):
            roots[who] = self.work / f"{who}-{MODES.index(mode)}"
            roots[who].mkdir()
            roots[who].chmod(0o2775 if mode.setgid else 0o755)
        for who, download in (("ours", self.ours), ("theirs", self.theirs)):
            failed = download(mode, revisions, roots[who])
            self.check(f"{mode.name}: all of {len(revisions)} revisions, {who}", not failed, "\n     ".join(failed[:5]))
        ours, theirs = listing(roots["ours"]), listing(roots["theirs"])
        ours, extra = without_empty_folders(ours, [r.repo_id for r in revisions].index("acme/empty"))
        self.check(f"{mode.name}: a revision without files has its folder", len(extra) == 3, str(extra))
        wrong = differences(ours, theirs)
        self.check(
            f"{mode.name}: {len(theirs)} entries are equal",
            theirs and not wrong,
            f"{len(wrong)} differ\n     " + "\n     ".join(wrong[:12]),
        )
        unreadable = unreadable_lists(roots["ours"], mode.umask)
        self.check(f"{mode.name}: the lists of files are readable", not unreadable, str(unreadable[:3]))
        for root in roots.values():
            shutil.rmtree(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hfcache", required=True)
    parser.add_argument("--hub", required=True)
    parser.add_argument("--python", required=True, help="an interpreter that has huggingface_hub 2.x")
    parser.add_argument("--mode", type=int, action="append", help="only these, by number")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        client = Client(options.python, clean_environment(work / "home")) if options.python else None
        if client is None or client.hub.split(".")[0] != "2":
            print("test skipped: no interpreter with huggingface_hub 2.x: see tools/dev/python_env")
            return 77
        revisions = make(work / "root")
        with LoopbackHub(options.hub, work / "root", work / "requests") as hub:
            client.environment["HF_ENDPOINT"] = hub.url
            comparison = Comparison(Hfcache(options.hfcache, client.environment), client, revisions, work)
            repos = {(r.repo_id, r.repo_type) for r in revisions}
            comparison.check(f"{COUNT} repositories, {len(revisions)} revisions", len(repos) == COUNT)
            for number, mode in enumerate(MODES):
                if options.mode is None or number in options.mode:
                    comparison.run(mode)
    return comparison.check.end()


if __name__ == "__main__":
    sys.exit(main())
