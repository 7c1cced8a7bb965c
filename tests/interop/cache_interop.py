#!/usr/bin/env python3
"""One cache, several programs: cache_interop.py --hfcache H --hub LOOPBACK_HUB --model FOLDER --python INTERPRETER...

What hfcache downloads each version of huggingface_hub and transformers uses, with the network switched off and, with
it on, without fetching a file again; what each of them downloads hfcache uses likewise. In one cache that all of them
fill together nothing is fetched twice, and huggingface_hub's scan agrees with `hfcache ls`. Versions that no
interpreter has are left out and said so.
"""

import argparse
import pathlib
import random
import shutil
import sys
import tempfile

from hub_clients import Checks, Hfcache, LoopbackHub, clean_environment, clients_of, put

JOBS = [
    ("acme/files", "model", "main"),
    ("acme/files", "model", "v1.0"),
    ("acme/files", "model", "refs/pr/1"),
    ("acme/files", "model", "feature/x"),
    ("acme/rows", "dataset", "main"),
    ("acme/page", "space", "main"),
    ("bare", "model", "main"),
    ("acme/model", "model", "main"),
]


def make_repositories(root, model):
    files = {
        "README.md": b"# tiny\n",
        "empty": b"",
        "sub/empty too": b"",
        "a/b/c/deep.json": b"{}",
        "unicode \u00e9\u4e2d/\u00fc.txt": b"\xc3\xbc",
        "percent%20and#hash?.txt": b"1",
        "plus+and&.txt": b"2",
        "copy-of-deep.json": b"{}",
        "weights.bin": random.Random(1).randbytes(300_000),
        "copy/weights.bin": b"",
        "stored.xet.bin": random.Random(2).randbytes(5_000),
    }
    files["copy/weights.bin"] = files["weights.bin"]
    for path, content in files.items():
        put(root / "acme/files" / path, content)
    put(root / "acme/files@v1.0/README.md", b"# first\n")
    put(root / "acme/files@refs%2Fpr%2F1/README.md", b"# proposed\n")
    put(root / "acme/files@feature%2Fx/README.md", b"# tiny\n")
    put(root / "datasets/acme/rows/data/train.csv", b"a,b\n1,2\n")
    put(root / "spaces/acme/page/app.py", b"print()\n")
    put(root / "_/bare/config.json", b"{}")
    shutil.copytree(model, root / "acme/model")
    return sorted(files)


def of_job(repo_id, repo_type, revision):
    return {"repo_id": repo_id, "repo_type": repo_type, "revision": revision}


class Interop:
    def __init__(self, options, work, hub):
        self.work, self.hub, self.check = work, hub, Checks()
        self.environment = clean_environment(work / "home") | {"HF_ENDPOINT": hub.url}
        self.hfcache = Hfcache(options.hfcache, self.environment)
        self.clients = clients_of(options.python, self.environment)

    def ours(self, cache, *words, **variables):
        """What hfcache prints for each job."""
        return [
            self.hfcache.out(
                *words, repo_id, "--repo-type", repo_type, "--revision", revision, "--cache-dir", cache, **variables
            )
            for repo_id, repo_type, revision in JOBS
        ]

    def theirs(self, client, cache, jobs=JOBS, **variables):
        return client.run([{"do": "download", "cache_dir": str(cache)} | of_job(*job) for job in jobs], **variables)

    def use_ours(self):
        cache = self.work / "ours"
        paths = self.ours(cache, "download")
        self.check("hfcache downloads all revisions", all(p.startswith(str(cache)) for p in paths), str(paths))
        self.hub.requests()
        for client in self.clients:
            found = self.theirs(client, cache, HF_HUB_OFFLINE="1")
            self.check(f"{client.name} finds ours offline", found == paths, f"{found} is not {paths}")
            asked = self.hub.requests()
            self.check(f"{client.name} asks the Hub nothing then", not asked, str(asked))
            found = self.theirs(client, cache)
            self.check(f"{client.name} finds ours online", found == paths, f"{found} is not {paths}")
            fetched = self.hub.fetched()
            self.check(f"{client.name} fetches nothing of ours again", not fetched, str(fetched))

    def use_theirs(self, client):
        cache = self.work / f"theirs-{client.major}"
        paths = self.theirs(client, cache)
        self.check(f"{client.name} downloads all revisions", all(p.startswith(str(cache)) for p in paths), str(paths))
        self.hub.requests()
        for verb in ("path", "download"):
            found = self.ours(cache, verb, HF_HUB_OFFLINE="1")
            self.check(
                f"hfcache {verb} finds those of {client.name} offline", found == paths, f"{found} is not {paths}"
            )
        asked = self.hub.requests()
        self.check("hfcache asks the Hub nothing then", not asked, str(asked))
        found = self.ours(cache, "download")
        self.check(f"hfcache finds those of {client.name} online", found == paths, f"{found} is not {paths}")
        fetched = self.hub.fetched()
        self.check(f"hfcache fetches nothing of {client.name} again", not fetched, str(fetched))

    def loads(self, client, *places, **variables):
        """What the model in each place computes, by one process."""
        jobs = [{"do": "load", "model": "acme/model", "weights": bool(client.torch)} | place for place in places]
        return client.run(jobs, **variables)

    def use_model(self, client, model):
        """transformers on our cache, and we on what it left in a cache."""
        name = f"transformers {client.transformers}" + (" with torch" if client.torch else "")
        left = self.work / f"loaded-{client.major}"
        self.hub.requests()
        in_ours, in_left = {"cache_dir": str(self.work / "ours")}, {"cache_dir": str(left)}
        expected, ours, online = self.loads(client, {"model": str(model)}, in_ours, in_left)
        self.check(f"{name} loads the model from a folder", isinstance(expected, list), str(expected))
        self.check(f"{name} loads it from our cache online", ours == expected, str(ours))
        self.check(f"{name} loads it from the Hub", online == expected, str(online))
        fetched = sorted(target.rsplit("/", 1)[1] for target in self.hub.fetched())
        there = sorted(p.name for p in left.glob("models--acme--model/snapshots/*/*"))
        self.check(
            f"{name} fetches nothing of ours again",
            [f for f in fetched if (model / f).exists()] == there,
            f"{fetched} is not {there}",
        )

        self.hfcache.out("download", "acme/model", "--cache-dir", left)
        fetched = sorted(target.rsplit("/", 1)[1] for target in self.hub.fetched())
        missing = sorted({p.name for p in model.iterdir()} - set(there))
        self.check(f"hfcache fetches only what {name} left out", fetched == missing, f"{fetched} is not {missing}")
        offline, again = self.loads(client, in_ours, in_left, HF_HUB_OFFLINE="1")
        self.check(f"{name} loads it from our cache offline", offline == expected, str(offline))
        self.check(f"{name} loads it offline from what hfcache completed", again == expected, str(again))
        asked = self.hub.requests()
        self.check(f"{name} asks the Hub nothing then", not asked, str(asked))

    def share(self, files):
        """All fill one cache, file by file and repository by repository."""
        cache = self.work / "shared"
        workers = [None, *self.clients]
        self.hub.requests()
        for i, file in enumerate(files):
            client = workers[i % len(workers)]
            if client:
                got = client.run([{"do": "download", "repo_id": "acme/files", "file": file, "cache_dir": str(cache)}])[
                    0
                ]
            else:
                got = self.hfcache.out("download", "acme/files", file, "--cache-dir", cache)
            self.check(
                f"{client.name if client else 'hfcache'} adds a file to the shared cache",
                str(got).startswith(str(cache)),
                str(got),
            )
        for i, job in enumerate(JOBS):
            client = workers[i % len(workers)]
            if client:
                self.theirs(client, cache, [job])
            else:
                self.hfcache.out("download", job[0], "--repo-type", job[1], "--revision", job[2], "--cache-dir", cache)
        fetched = self.hub.fetched()
        twice = sorted({target.rsplit("/", 1)[1] for target in fetched if fetched.count(target) > 1})
        self.check("no file is fetched twice into the shared cache", fetched and not twice, str(twice))
        paths = self.ours(cache, "path", HF_HUB_OFFLINE="1")
        self.check("hfcache finds all in the shared cache", all(p.startswith(str(cache)) for p in paths), str(paths))
        for client in self.clients:
            found = self.theirs(client, cache, HF_HUB_OFFLINE="1")
            self.check(
                f"{client.name} finds all in the shared cache offline", found == paths, f"{found} is not {paths}"
            )

    def compare_scans(self):
        """`hfcache ls` of each cache with what each huggingface_hub says of it."""
        caches = {path.name: path for path in sorted(self.work.iterdir()) if any(path.glob("models--*"))}
        for client in self.clients:
            scans = client.run([{"do": "scan", "cache_dir": str(cache)} for cache in caches.values()])
            for (name, cache), scan in zip(caches.items(), scans):
                listed = {
                    f"{repo['repo_type']} {repo['repo_id']}": [
                        repo["bytes"],
                        sorted(revision["commit"] for revision in repo["revisions"]),
                    ]
                    for repo in self.hfcache.json("ls", "--json", "--cache-dir", cache)
                }
                self.check(
                    f"hfcache ls of {name} agrees with {client.name}",
                    listed and listed == scan["repos"],
                    f"{listed} is not {scan['repos']}",
                )
                # Before 1.16 it took these two for broken repositories.
                allowed = (str(cache / "CACHEDIR.TAG"), str(cache / "blobs")) if client.major == 0 else ()
                warnings = [w for w in scan["warnings"] if not any(w.endswith(path) for path in allowed)]
                self.check(f"the scan of {name} by {client.name} has no warnings", not warnings, str(warnings))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hfcache", required=True)
    parser.add_argument("--hub", required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--python", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        files = make_repositories(work / "root", options.model)
        with LoopbackHub(options.hub, work / "root", work / "requests") as hub:
            interop = Interop(options, work, hub)
            if not interop.clients:
                return 77
            interop.use_ours()
            for client in interop.clients:
                interop.use_theirs(client)
                if client.transformers:
                    interop.use_model(client, work / "root/acme/model")
            interop.share(files)
            interop.compare_scans()
    return interop.check.end()


if __name__ == "__main__":
    sys.exit(main())
