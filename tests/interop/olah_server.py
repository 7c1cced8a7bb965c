"""olah, a Hub that nobody here wrote: serving plain git repositories, or as a proxy in front of another Hub."""

import hashlib
import os
import pathlib
import socket
import subprocess
import time

from hub_clients import clean_environment
from static_hub import LFS_SUFFIXES, free_port

CONFIGURATION = """
[basic]
host = "127.0.0.1"
port = {port}
repos-path = "{folder}/repos"
mirrors-path = ["{folder}/mirrors"]
hf-scheme = "http"
hf-netloc = "{upstream}"
hf-lfs-netloc = "{upstream}"
mirror-scheme = "http"
mirror-netloc = "127.0.0.1:{port}"
mirror-lfs-netloc = "127.0.0.1:{port}"
[accessibility]
offline = {offline}
[[accessibility.proxy]]
repo = "*/*"
allow = true
[[accessibility.cache]]
repo = "*/*"
allow = true
"""


def git(folder, *words):
    identity = {
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@localhost",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@localhost",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
    }
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env=os.environ | identity)


def make_git_repository(folder, files):
    """Commits {path: bytes}; what goes to LFS as a pointer, its object put where git-lfs keeps it."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for path, content in files.items():
        if pathlib.Path(path).suffix in LFS_SUFFIXES:
            oid = hashlib.sha256(content).hexdigest()
            place = folder / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            content = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n".encode()
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-gpg-sign", "-m", "files")


class Olah:
    """`python`: an interpreter that has olah. `repos`: {"models/acme/tiny": {path: bytes}} to serve offline;
    else `upstream`: "host:port" of the Hub that it is a proxy of."""

    def __init__(self, python, folder, repos=None, upstream=None):
        self.program, self.folder = pathlib.Path(python).parent / "olah-cli", pathlib.Path(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        for name in ("repos", "mirrors", "logs", "home"):
            (self.folder / name).mkdir(parents=True)
        for name, files in (repos or {}).items():
            make_git_repository(self.folder / "mirrors" / name, files)
        (self.folder / "olah.toml").write_text(
            CONFIGURATION.format(
                port=self.port,
                folder=self.folder,
                upstream=upstream or "127.0.0.1:9",
                offline="false" if upstream else "true",
            )
        )

    def __enter__(self):
        environment = clean_environment(self.folder / "home") | {"HOME": str(self.folder / "home")}
        with open(self.folder / "output", "w") as output:
            self.process = subprocess.Popen(
                [str(self.program), "-c", str(self.folder / "olah.toml"), "--log-path", str(self.folder / "logs")],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        for _ in range(600):
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.1)
        self.__exit__()
        raise RuntimeError(f"olah did not start: {(self.folder / 'output').read_text()[-3000:]}")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
