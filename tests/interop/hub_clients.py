"""Who takes part in the interop tests of the cache: the Hub on loopback, hfcache, and other people's clients.

A client is a Python interpreter with some version of huggingface_hub (and perhaps transformers), which is given a
list of jobs and answers with a list of results: a process is started once for many jobs, and anew for each set of
variables, because huggingface_hub reads its variables when it is imported.
"""

import json
import os
import pathlib
import subprocess
import time

CLIENT = """
import json, sys

def download(job):
    import huggingface_hub
    common = {k: job[k] for k in ("repo_type", "revision", "cache_dir", "local_dir", "local_files_only") if k in job}
    if "file" in job:
        return huggingface_hub.hf_hub_download(job["repo_id"], job["file"], **common)
    return huggingface_hub.snapshot_download(job["repo_id"], max_workers=job.get("max_workers", 8), **common)

def scan(job):
    import huggingface_hub
    info = huggingface_hub.scan_cache_dir(job["cache_dir"])
    return {"warnings": [str(w) for w in info.warnings],
            "repos": {r.repo_type + " " + r.repo_id: [r.size_on_disk, sorted(v.commit_hash for v in r.revisions)]
                      for r in info.repos}}

def load(job):
    import transformers
    transformers.logging.set_verbosity_error()
    place = {"cache_dir": job["cache_dir"]} if "cache_dir" in job else {}
    config = transformers.AutoConfig.from_pretrained(job["model"], **place)
    tokens = transformers.AutoTokenizer.from_pretrained(job["model"], **place)("a black cat sat")["input_ids"]
    answer = [type(config).__name__, config.vocab_size, tokens]
    if job["weights"]:
        import torch
        with torch.no_grad():
            model = transformers.AutoModel.from_pretrained(job["model"], **place)
            answer.append(model(torch.tensor([tokens])).last_hidden_state.double().sum().item().hex())
    return answer

def versions(job):
    import importlib.metadata as metadata
    def of(name):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return ""
    return {name: of(name) for name in ("huggingface_hub", "transformers", "torch", "hf-xet")}

results = []
for job in json.load(sys.stdin):
    try:
        results.append(globals()[job.pop("do")](job))
    except Exception as error:
        results.append("%s: %s" % (type(error).__name__, error))
print("\\n" + json.dumps(results))
"""

# Neither the user's settings nor a proxy that cannot reach loopback.
FOREIGN = (
    "HF_",
    "HUGGINGFACE_",
    "TRANSFORMERS_",
    "XDG_",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "SSL_CERT_",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
)


def clean_environment(home):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return kept | {
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    }


class Checks:
    """Says of each check whether it holds, and counts those that do not."""

    def __init__(self):
        self.failures = 0

    def __call__(self, what, holds, detail=""):
        print(("ok   " if holds else "FAIL ") + what + (f": {detail}" if detail and not holds else ""), flush=True)
        self.failures += not holds

    def end(self):
        print("passed" if self.failures == 0 else f"{self.failures} checks failed")
        return 1 if self.failures else 0


class Client:
    def __init__(self, python, environment):
        self.python, self.environment = str(python), environment
        versions = self.run([{"do": "versions"}])[0]
        self.hub, self.transformers, self.torch = (versions[n] for n in ("huggingface_hub", "transformers", "torch"))
        self.xet = versions["hf-xet"]

    @property
    def name(self):
        return f"huggingface_hub {self.hub}"

    @property
    def major(self):
        return int(self.hub.split(".")[0])

    def run(self, jobs, umask=None, **variables):
        """The result of each job; text "<exception>: <message>" for one that failed."""
        before = {"preexec_fn": lambda: os.umask(umask)} if umask is not None else {}
        done = subprocess.run(
            [self.python, "-c", CLIENT],
            input=json.dumps(jobs),
            env=self.environment | variables,
            capture_output=True,
            text=True,
            timeout=600,
            **before,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.python} ended with {done.returncode}: {done.stderr[-3000:]}")
        return json.loads(done.stdout.rsplit("\n", 2)[-2])


def clients_of(interpreters, environment):
    """One client for each interpreter that has huggingface_hub; says which major versions are missing."""
    clients = []
    for python in dict.fromkeys(filter(None, interpreters)):
        client = Client(python, environment)
        if client.hub:
            clients.append(client)
    missing = {0, 1, 2} - {client.major for client in clients}
    if missing:
        names = ", ".join(f"huggingface_hub {major}.x" for major in sorted(missing))
        print(f"test skipped: its part with {names}, which no interpreter has: see tools/dev/python_env")
    return clients


class Hfcache:
    """The program under test."""

    def __init__(self, program, environment):
        self.program, self.environment = str(pathlib.Path(program).resolve()), environment

    def run(self, *words, umask=None, **variables):
        before = {"preexec_fn": lambda: os.umask(umask)} if umask is not None else {}
        return subprocess.run(
            [self.program, *map(str, words)],
            env=self.environment | variables,
            capture_output=True,
            text=True,
            timeout=600,
            **before,
        )

    def out(self, *words, **options):
        """What it prints, or how it failed."""
        done = self.run(*words, **options)
        return done.stdout.strip() if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr.strip()}"

    def json(self, *words, **options):
        done = self.run(*words, **options)
        if done.returncode != 0:
            raise RuntimeError(f"hfcache {' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


class LoopbackHub:
    """tools/dev/loopback_hub over a folder of repositories; use it in a with statement."""

    def __init__(self, program, root, log, *options):
        self.log, self.seen = pathlib.Path(log), 0
        self.command = [str(program), str(root), "--until-eof", "--log", str(log), *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("the Hub on loopback did not start")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def requests(self):
        """Those since the last call, each as (method, target)."""
        time.sleep(0.1)  # a line is written when the answer has gone, which the client may see first
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        new, self.seen = [json.loads(line) for line in lines[self.seen :]], len(lines)
        return [(line["method"], line["target"]) for line in new]

    def fetched(self):
        """The files asked for since the last call."""
        return [target for method, target in self.requests() if method == "GET" and "/resolve" in target]


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
