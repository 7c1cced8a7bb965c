#!/usr/bin/env python3
"""Downloads from servers that nobody here wrote: servers_interop.py --hfcache H --hub LOOPBACK_HUB --olah INTERPRETER

olah serving git repositories, olah as a proxy in front of the Hub of the tests, and nginx with fixed answers: plain,
and over TLS and HTTP/2 with a certificate of an authority that only SSL_CERT_FILE names, its large files at another
origin. Each time the snapshot must hold exactly the files, and a second call must fetch nothing.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from hub_clients import Checks, Hfcache, LoopbackHub, clean_environment, put
from olah_server import Olah
from static_hub import StaticHub, nginx_program

FILES = {
    "README.md": b"# tiny\n",
    "config.json": b"{}",
    "empty.txt": b"",
    "a/b/c/deep.json": b"[]",
    "unicode \u00e9\u4e2d/\u00fc.txt": b"\xc3\xbc",
    "a b+c&d.txt": b"2",
    "model.safetensors": random.Random(1).randbytes(9_000_000),
    "small.bin": b"x",
}


def has_olah(python):
    return bool(python) and subprocess.run([python, "-c", "import olah"], capture_output=True).returncode == 0


def files_of(snapshot):
    return {str(p.relative_to(snapshot)): p.read_bytes() for p in pathlib.Path(snapshot).rglob("*") if p.is_file()}


def differences(found, files):
    """Names only: contents are long."""
    return sorted(name for name in found.keys() | files.keys() if found.get(name) != files.get(name))


class Servers:
    def __init__(self, options, work):
        self.options, self.work, self.check = options, work, Checks()
        self.environment = clean_environment(work / "home")

    def download(self, what, url, repo_id="acme/tiny", files=FILES, words=(), **variables):
        """Everything; again; one file into another cache; and a file that is not there."""
        cache = self.work / "caches" / what.replace(" ", "-").replace("/", "-")
        hfcache = Hfcache(self.options.hfcache, self.environment | {"HF_ENDPOINT": url} | variables)
        snapshot = hfcache.out("download", repo_id, *words, "--cache-dir", cache)
        found = files_of(snapshot) if os.path.isdir(snapshot) else {}
        self.check(
            f"{what}: the snapshot has exactly the files",
            found == files,
            f"{snapshot}\n     {differences(found, files)}",
        )
        again = hfcache.out("download", repo_id, *words, "--cache-dir", cache)
        self.check(f"{what}: a second call finds it", again == snapshot, again)
        blobs = sorted(p.stat().st_ino for p in cache.glob("*/blobs/*"))
        forced = hfcache.out("download", repo_id, *words, "--force-download", "--cache-dir", cache)
        self.check(
            f"{what}: --force-download fetches it once more",
            forced == snapshot
            and files_of(snapshot) == files
            and sorted(p.stat().st_ino for p in cache.glob("*/blobs/*")) != blobs,
            forced,
        )
        name = "README.md"
        one = hfcache.out("download", repo_id, name, *words, "--cache-dir", cache.with_suffix(".one"))
        found = files_of(one) if os.path.isdir(one) else {}
        self.check(f"{what}: one named file comes alone", found == {name: files[name]}, f"{one} {sorted(found)}")
        done = hfcache.run("download", repo_id, *words, "no-such-file.json", "--cache-dir", cache)
        self.check(
            f"{what}: a file that is not there ends with 3",
            done.returncode == 3 and "no-such-file.json" in done.stderr,
            f"exit code {done.returncode}: {done.stderr}",
        )

    def use_olah(self):
        repos = {"models/acme/tiny": FILES, "datasets/acme/rows": {"data/train.csv": b"a,b\n", "README.md": b"#\n"}}
        with Olah(self.options.olah, self.work / "origin", repos=repos) as olah:
            self.download("olah offline", olah.url)
            self.download(
                "olah offline, a dataset",
                olah.url,
                "acme/rows",
                repos["datasets/acme/rows"],
                ["--repo-type", "dataset"],
            )

    def use_olah_as_proxy(self):
        root = self.work / "root"
        for path, content in FILES.items():
            put(root / "acme/tiny" / path, content)
        with LoopbackHub(self.options.hub, root, self.work / "requests") as hub:
            with Olah(self.options.olah, self.work / "proxy", upstream=hub.url.removeprefix("http://")) as olah:
                self.download("olah as a proxy", olah.url)
                fetched = hub.fetched()
                self.check("olah as a proxy: the files came through it", fetched != [])

    def use_nginx(self):
        root = self.work / "plain"
        for path, content in FILES.items():
            put(root / path, content)
        for i in range(1200):
            put(root / f"many/{i:04}.txt", b"%d" % i)
        files = files_of(root)
        with StaticHub(self.work / "nginx", {"acme/tiny": root}, logged=True) as hub:
            self.download("nginx", hub.url, files=files)
            targets = [line.split(" ")[2] for line in hub.requests()]
            self.check(
                "nginx: a tree of two pages was read", any("cursor=1000" in t for t in targets), str(targets[:5])
            )
        with StaticHub(self.work / "nginx-tls", {"acme/tiny": root}, tls=True, away=True, logged=True) as hub:
            unknown = Hfcache(self.options.hfcache, self.environment | {"HF_ENDPOINT": hub.url}).run(
                "download", "acme/tiny", "--cache-dir", self.work / "unknown"
            )
            self.check(
                "nginx with TLS: an unknown authority is refused",
                unknown.returncode == 5,
                f"exit code {unknown.returncode}: {unknown.stderr}",
            )
            self.download("nginx with TLS", hub.url, files=files, SSL_CERT_FILE=str(hub.ca))
            lines = hub.requests()
            small = [line for line in lines if "/resolve/" in line]
            self.check(
                "nginx with TLS: small files come over HTTP/2",
                small and all(line.startswith("HTTP/2") for line in small if "many/" in line),
                str(small[:3]),
            )
            large = [line for line in lines if "/objects/acme/tiny/model.safetensors" in line]
            self.check("nginx with TLS: the large file comes from the other origin", large != [], str(lines[:3]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hfcache", required=True)
    parser.add_argument("--hub", required=True)
    parser.add_argument("--olah", default="", help="an interpreter that has olah")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    with_olah, with_nginx = has_olah(options.olah), nginx_program() is not None and shutil.which("openssl") is not None
    if not with_olah:
        print("test skipped: its part with olah, which no interpreter has: see tools/dev/python_env")
    if not with_nginx:
        print("test skipped: its part with nginx and openssl, which are not installed")
    if not with_olah and not with_nginx:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(options, pathlib.Path(folder))
        if with_nginx:
            servers.use_nginx()
        if with_olah:
            servers.use_olah()
            servers.use_olah_as_proxy()
    return servers.check.end()


if __name__ == "__main__":
    sys.exit(main())
