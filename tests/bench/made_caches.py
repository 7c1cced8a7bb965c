"""Files and caches to measure with."""

import hashlib
import random

from costs import MIB


def write_blocks(path, size, number=0):
    """A file of `size` bytes that no two megabytes and no two numbers have in common."""
    path.parent.mkdir(parents=True, exist_ok=True)
    block = random.Random(1).randbytes(MIB)
    with open(path, "wb") as file:
        for at in range(0, size, MIB):
            file.write((b"%15d %15d" % (number, at) + block[31:])[: size - at])


def make_cache(cache, repos, files, size=1000):
    """As downloads leave it: blobs, links and main."""
    for r in range(repos):
        folder = cache / f"models--acme--listed-{r}"
        commit = hashlib.sha1(b"%d" % r).hexdigest()
        for name in ("blobs", "refs", f"snapshots/{commit}"):
            (folder / name).mkdir(parents=True)
        (folder / "refs/main").write_text(commit)
        for f in range(files):
            write_blocks(folder / "blobs/new", size, r * files + f)
            etag = hashlib.sha256((folder / "blobs/new").read_bytes()).hexdigest()
            (folder / "blobs/new").rename(folder / "blobs" / etag)
            (folder / f"snapshots/{commit}/{f}.bin").symlink_to(f"../../blobs/{etag}")
