#!/usr/bin/env python3
"""What hfcache removes huggingface_hub does not miss: removal_interop.py --hfcache H --python INTERPRETER...

A cache with detached revisions, orphans, what killed programs leave and, where the version has it, contents shared by
huggingface_hub's own code. Sizes agree; after `hfcache prune` and `rm` its scan gives no warning, its list of shared
contents is right, and it can delete the rest itself, of which hfcache then finds nothing.
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

from hub_clients import Checks, Hfcache, clean_environment, clients_of, put

SHARE = """
import sys
try:
    from huggingface_hub.utils import _shared_blobs
except ImportError:
    sys.exit(77)
cache, size = sys.argv[1], int(sys.argv[2])
for blob in sys.argv[3:]:
    assert _shared_blobs.publish_blob_to_shared_store(blob_path=blob, xet_hash="c" * 64, cache_dir=cache, expected_size=size)
"""
UNREFERENCED = """
import sys
from huggingface_hub.utils import _shared_blobs
print(sorted(path.name for path in _shared_blobs.unreferenced_shared_blobs(sys.argv[1])))
"""
DELETE = """
import sys
from huggingface_hub import scan_cache_dir
info = scan_cache_dir(sys.argv[1])
info.delete_revisions(*[v.commit_hash for r in info.repos for v in r.revisions]).execute()
"""
SHARED = b"x" * 3000


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Cache:
    def __init__(self, root):
        self.root = root

    def folder(self, repo):
        return self.root / f"models--acme--{repo}"

    def add(self, repo, commit, path, content):
        blob = self.folder(repo) / "blobs" / sha256(content)
        put(blob, content)
        link = self.folder(repo) / "snapshots" / commit / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
        return blob

    def fill(self):
        """Names the blobs that may be shared."""
        a, b, c = ("abc"[i] * 40 for i in range(3))
        self.add("one", a, "config.json", b"{}")
        self.add("one", b, "config.json", b"{}")
        self.add("one", b, "sub/old.bin", b"o" * 500)
        shared = [self.add("one", a, "model.bin", SHARED), self.add("two", c, "sub/model.bin", SHARED)]
        self.add("two", c, "only.bin", b"u" * 70)
        put(self.folder("one") / "refs/main", a.encode())
        put(self.folder("one") / "refs/refs/pr/1", a.encode())
        put(self.folder("two") / "refs/main", c.encode())
        put(self.folder("one") / "blobs" / sha256(b"orphan"), b"orphan")
        put(self.folder("one") / "trees" / (b + ".json"), b"{}")
        put(self.folder("one") / ".no_exist" / b / "x.json", b"")
        put(self.root / "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n")
        return shared


class Removal:
    def __init__(self, client, hfcache, root, check):
        self.client, self.hfcache, self.cache, self.check = client, hfcache, Cache(root), check

    def python(self, program, *words):
        return subprocess.run([self.client.python, "-c", program, *map(str, words)], env=self.client.environment,
                              capture_output=True, text=True, timeout=120)

    def scan(self, what):
        scan = self.client.run([{"do": "scan", "cache_dir": str(self.cache.root)}])[0]
        allowed = [str(self.cache.root / name) for name in ("CACHEDIR.TAG", "blobs")] if self.client.major == 0 else []
        warnings = [w for w in scan["warnings"] if not any(w.endswith(path) for path in allowed)]
        self.check(f"{self.client.name} {what}: no warnings", not warnings, str(warnings))
        listed = {f"{r['repo_type']} {r['repo_id']}": [r["bytes"], [v["commit"] for v in r["revisions"]]]
                  for r in self.hfcache.json("ls", "--json", "--cache-dir", self.cache.root)}
        self.check(f"{self.client.name} {what}: the same sizes", listed == scan["repos"], f"{listed} {scan['repos']}")
        return listed

    def freed(self, *words):
        return self.hfcache.json(*words, "--json", "--cache-dir", self.cache.root)["bytes"]

    def run(self):
        name = self.client.name
        blobs = self.cache.fill()
        done = self.python(SHARE, self.cache.root, len(SHARED), *blobs)
        shares = done.returncode == 0
        self.check(f"{name}: contents are shared where it can", shares or done.returncode == 77, done.stderr[-500:])
        payload = self.cache.root / "blobs/cc" / ("c" * 64)
        self.scan("before")
        # Access times stay as they were for those who decide by them what to delete.
        before = {blob: blob.stat().st_atime_ns for blob in blobs}
        freed = self.freed("prune", "--grace", "0s")
        self.check(f"{name}: prune frees a revision and an orphan", freed == 506, str(freed))
        self.check(f"{name}: access times", before == {blob: blob.stat().st_atime_ns for blob in blobs})
        self.check(f"{name}: two repositories are left", len(self.scan("after prune")) == 2)
        freed = self.freed("rm", "acme/two")
        self.check(f"{name}: rm frees what only that one had", freed == (70 if shares else 3070), str(freed))
        self.check(f"{name}: one is left", len(self.scan("after rm")) == 1)
        self.check(f"{name}: and works", (self.cache.folder("one") / "snapshots" / ("a" * 40) / "model.bin").read_bytes()
                   == SHARED)
        if shares:
            lines = payload.with_name(payload.name + ".refs").read_text()
            self.check(f"{name}: the list names the one", lines == f"models--acme--one/blobs/{sha256(SHARED)}\n", lines)
            unreferenced = self.python(UNREFERENCED, self.cache.root).stdout.strip()
            self.check(f"{name}: it finds no shared content unused", unreferenced == "[]", unreferenced)
        done = self.python(DELETE, self.cache.root)
        self.check(f"{name}: it deletes the rest", done.returncode == 0, done.stderr[-500:])
        self.check(f"{name}: nothing is left of it", self.scan("at the end") == {} and not (shares and payload.exists()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hfcache", required=True)
    parser.add_argument("--python", action="append", default=[])
    options = parser.parse_args()
    check = Checks()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        environment = clean_environment(work / "home")
        environment.pop("HF_HUB_DISABLE_XET", None)  # with it nothing is shared
        clients = clients_of(options.python, environment)
        if not clients:
            return 77
        for i, client in enumerate(clients):
            Removal(client, Hfcache(options.hfcache, environment), work / str(i), check).run()
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
