"""nginx as a Hub of fixed answers: repositories of plain files, with the requests that a download needs.

    with StaticHub(folder, {"acme/tiny": root}) as hub:       # http://127.0.0.1:port
    with StaticHub(folder, repos, tls=True) as hub:           # https, HTTP/2, a CA of its own: hub.ca

Answers repo-info, trees in pages of 1,000 and files with ranges; LFS files on request from another port, as the Hub's
are. An answer is a file or a line of nginx's configuration, so the server costs as little as nginx does.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import time
import urllib.parse

LFS_SUFFIXES = {".safetensors", ".bin", ".h5", ".onnx", ".msgpack"}
PAGE = 1000

CONFIGURATION = """
{user}
daemon off;
worker_processes {workers};
error_log {folder}/error.log;
pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  {access_log}
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  default_type application/octet-stream;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  etag off;
  {limit}
  map_hash_max_size 1048576;
  map_hash_bucket_size 2048;
  map $uri $identity {{ include {folder}/identities; }}
  map "$uri $arg_cursor" $next_page {{ include {folder}/pages; }}
  map $uri $place {{ include {folder}/places; }}
  server {{
    listen 127.0.0.1:{port} {protocol};
    {certificate}
    root {folder};
    location = /hub-is-ready {{ return 204; }}
    include {folder}/repos;
    location / {{
      add_header X-Error-Code RepoNotFound always;
      add_header X-Error-Message "Repository not found" always;
      return 404;
    }}
  }}
  server {{  # paths-info, what it is asked for being in a header: one file each, by a plain name
    listen 127.0.0.1:{asked_port};
    default_type application/json;
    root {folder};
    location ~ ^/api/models/(?<repo>.+)/paths-info/ {{ try_files /api/$repo/$http_asked.json /nothing.json; }}
  }}
  server {{
    listen 127.0.0.1:{data_port} {protocol};
    {certificate}
    root {folder};
    location /objects/ {{ add_header ETag '"data-1"'; }}
  }}
}}
"""

REPOSITORY = """
location ~ ^/api/models/{name}(?:/revision/[^/]+)?$ {{
  default_type application/json;
  try_files /api/{id}/info.json =404;
}}
location ~ ^/api/models/{name}/tree/[^/]+/?$ {{
  default_type application/json;
  add_header Link $next_page;
  try_files /api/{id}/tree$arg_cursor.json =404;
}}
location ~ ^/api/models/{name}/paths-info/[^/]+$ {{
  proxy_method GET;
  proxy_pass_request_body off;
  proxy_set_header Content-Length "";
  proxy_set_header Asked $request_body;
  proxy_pass http://127.0.0.1:{asked_port};
}}
location ~ ^/{name}/resolve/[^/]+/(?<file>.+)$ {{
  error_page 404 @missing-{tag};
  add_header X-Repo-Commit {commit};
  add_header ETag $identity;
  add_header X-Linked-Etag $identity;
  if ($place) {{ return 302 $place; }}
  try_files /objects/{id}/$file =404;
}}
location @missing-{tag} {{
  add_header X-Repo-Commit {commit} always;
  add_header X-Error-Code EntryNotFound always;
  add_header X-Error-Message "Entry not found" always;
  return 404;
}}
"""


def nginx_program():
    """None where it is not installed."""
    return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def free_port():
    """One for a server that is started later: below those that the system gives to whoever asks for any."""
    while True:
        port = random.SystemRandom().randrange(20000, 32000)
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


def quoted(text):
    """As a word of nginx's configuration."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def entry_of(path, file):
    """How a tree names the file."""
    sha1 = hashlib.sha1(b"blob %d\0" % file.stat().st_size)
    sha256 = hashlib.sha256()
    is_lfs = file.suffix in LFS_SUFFIXES
    with open(file, "rb") as stream:
        while block := stream.read(1 << 20):
            (sha256 if is_lfs else sha1).update(block)
    size = file.stat().st_size
    if not is_lfs:
        return {"type": "file", "oid": sha1.hexdigest(), "size": size, "path": path}
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256.hexdigest()}\nsize {size}\n".encode()
    oid = hashlib.sha1(b"blob %d\0" % len(pointer) + pointer).hexdigest()
    lfs = {"oid": sha256.hexdigest(), "size": size, "pointerSize": len(pointer)}
    return {"type": "file", "oid": oid, "size": size, "path": path, "lfs": lfs}


def make_certificates(folder):
    """ca.pem, and server.pem with server.key for 127.0.0.1 and localhost."""

    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, cwd=folder)

    openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=Hub of the tests",
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
    )
    openssl(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        "/CN=localhost",
        "-keyout",
        "server.key",
        "-out",
        "server.csr",
    )
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl(
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        "server.pem",
    )


class StaticHub:
    """`repos`: {id: folder of its files}. `limit_rate`: bytes a second of each connection. `away`: LFS files are
    redirected to another origin. `logged`: requests() tells what was asked for. `link_port`: where a proxy in front of
    it listens, to which its answers then lead."""

    def __init__(self, folder, repos, tls=False, limit_rate=0, away=False, logged=False, workers=1, link_port=None):
        self.folder, self.tls, self.away = pathlib.Path(folder).resolve(), tls, away
        self.port, self.data_port, self.asked_port = free_port(), free_port(), free_port()
        self.scheme = "https" if tls else "http"
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"
        self.link_url = f"{self.scheme}://127.0.0.1:{link_port or self.port}"
        self.ca, self.seen = self.folder / "ca.pem", 0
        self.folder.mkdir(parents=True)
        if tls:
            make_certificates(self.folder)
        (self.folder / "nothing.json").write_text("[]")
        lines = {"repos": [], "identities": ['default "";'], "pages": ['default "";'], "places": ['default "";']}
        for tag, (repo_id, root) in enumerate(repos.items()):
            self.add(tag, repo_id, pathlib.Path(root), lines)
        for name, text in lines.items():
            (self.folder / name).write_text("\n".join(text) + "\n")
        (self.folder / "nginx.conf").write_text(
            CONFIGURATION.format(
                user="user root;" if os.geteuid() == 0 else "",
                workers=workers,
                folder=self.folder,
                port=self.port,
                data_port=self.data_port,
                asked_port=self.asked_port,
                protocol="ssl http2" if tls else "",
                access_log=(
                    "log_format asked '$server_protocol $request_method $request_uri $http_range'; "
                    f"access_log {self.folder}/requests asked;"
                    if logged
                    else "access_log off;"
                ),
                certificate=f"ssl_certificate {self.folder}/server.pem; ssl_certificate_key {self.folder}/server.key;"
                if tls
                else "",
                limit=f"limit_rate {limit_rate};" if limit_rate else "",
            )
        )

    def add(self, tag, repo_id, root, lines):
        objects = self.folder / "objects" / repo_id
        objects.parent.mkdir(parents=True, exist_ok=True)
        objects.symlink_to(root.resolve())
        files = {str(p.relative_to(root)): p for p in sorted(root.rglob("*")) if p.is_file()}
        entries = [entry_of(path, file) for path, file in files.items()]
        commit = hashlib.sha1(json.dumps(entries).encode()).hexdigest()
        api = self.folder / "api" / repo_id
        api.mkdir(parents=True)
        (api / "info.json").write_text(
            json.dumps(
                {
                    "_id": "0",
                    "id": repo_id,
                    "modelId": repo_id,
                    "sha": commit,
                    "private": False,
                    "gated": False,
                    "disabled": False,
                    "downloads": 0,
                    "likes": 0,
                    "tags": [],
                    "lastModified": "2026-01-01T00:00:00.000Z",
                    "createdAt": "2026-01-01T00:00:00.000Z",
                    "siblings": [{"rfilename": path} for path in files],
                }
            )
        )
        for first in range(0, max(len(entries), 1), PAGE):
            name = f"tree{first or ''}"
            (api / f"{name}.json").write_text(json.dumps(entries[first : first + PAGE]))
            if first + PAGE < len(entries):
                next_page = f"{self.link_url}/api/models/{repo_id}/tree/{commit}?recursive=true&cursor={first + PAGE}"
                asked = quoted(f"/api/{repo_id}/{name}.json {first or ''}")
                link = f'<{next_page}>; rel="next"'
                lines["pages"].append(f"{asked} {quoted(link)};")
        for path, entry in zip(files, entries):
            place = f"/objects/{repo_id}/{path}"
            identity = quoted(f'"{entry.get("lfs", entry)["oid"]}"')
            lines["identities"].append(f"{quoted(place)} {identity};")
            if self.away and "lfs" in entry:
                for revision in ("main", commit):
                    asked = quoted(f"/{repo_id}/resolve/{revision}/{path}")
                    away = f"{self.scheme}://localhost:{self.data_port}{urllib.parse.quote(place)}?signature=1"
                    lines["places"].append(f"{asked} {quoted(away)};")
                    lines["identities"].append(f"{asked} {identity};")
        for path, entry in zip(files, entries):
            if re.fullmatch(r"[\w.-]+", path):
                (api / f"paths={path}.json").write_text(json.dumps([entry]))
        lines["repos"].append(
            REPOSITORY.format(name=re.escape(repo_id), id=repo_id, tag=tag, commit=commit, asked_port=self.asked_port)
        )

    def __enter__(self):
        self.process = subprocess.Popen(
            [
                nginx_program(),
                "-p",
                str(self.folder),
                "-e",
                str(self.folder / "error.log"),
                "-c",
                str(self.folder / "nginx.conf"),
            ]
        )
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise RuntimeError(f"nginx did not start: {(self.folder / 'error.log').read_text()}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def requests(self):
        """Those since the last call, each as "<protocol> <method> <target> <range>"."""
        lines = (self.folder / "requests").read_text().splitlines()
        new, self.seen = lines[self.seen :], len(lines)
        return new
