#!/usr/bin/env python3
"""The cache between us and huggingface_hub, both ways: cache_interop.py HFCACHE LOOPBACK_HUB

Repositories are made up, served on loopback and brought into two caches, one by hfcache and one by huggingface_hub.
Then: both caches are equal, name by name and byte by byte; each program finds what the other one wrote; transformers
loads a model from our cache with the network switched off. Any huggingface_hub from 0.36 on; without transformers its
part is left out and said so.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import huggingface_hub
except ImportError:
    print("test skipped: huggingface_hub is not installed")
    sys.exit(77)

COPY = """
import sys, huggingface_hub
print(huggingface_hub.snapshot_download(sys.argv[1], repo_type=sys.argv[2], revision=sys.argv[3] or None,
                                        cache_dir=sys.argv[4], local_files_only=sys.argv[5] == "offline"))
"""
SCAN = """
import json, sys, huggingface_hub
info = huggingface_hub.scan_cache_dir(sys.argv[1])
print(json.dumps({"warnings": [str(w) for w in info.warnings],
                  "repos": {r.repo_id: [r.size_on_disk, sorted(v.commit_hash for v in r.revisions)] for r in info.repos}}))
"""
MAKE_MODEL = """
import sys, torch, transformers
torch.manual_seed(0)
config = transformers.BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                                 intermediate_size=32, max_position_embeddings=32)
transformers.BertModel(config).save_pretrained(sys.argv[1])
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
open(sys.argv[1] + "/vocab.txt", "w").write("\\n".join(words))
transformers.BertTokenizerFast(sys.argv[1] + "/vocab.txt").save_pretrained(sys.argv[1])
"""
USE_MODEL = """
import sys, torch, transformers
tokens = transformers.AutoTokenizer.from_pretrained(sys.argv[1])("a b c", return_tensors="pt")
with torch.no_grad():
    print(transformers.AutoModel.from_pretrained(sys.argv[1])(**tokens).last_hidden_state.double().sum().item().hex())
"""

failures = 0


def check(what, holds, detail=""):
    global failures
    print(("ok   " if holds else "FAIL ") + what + (f": {detail}" if detail and not holds else ""), flush=True)
    failures += not holds


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def make_repositories(root):
    files = {"README.md": b"# tiny\n", "empty": b"", "sub/empty too": b"", "a/b/c/deep.json": b"{}",
             "unicode \u00e9\u4e2d/\u00fc.txt": b"\xc3\xbc", "percent%20and#hash?.txt": b"1", "plus+and&.txt": b"2",
             "copy-of-deep.json": b"{}", "weights.bin": os.urandom(300_000), "copy/weights.bin": b""}
    files["copy/weights.bin"] = files["weights.bin"]
    for path, content in files.items():
        put(root / "acme/files" / path, content)
    put(root / "acme/files@v1.0/README.md", b"# first\n")
    put(root / "acme/files@refs%2Fpr%2F1/README.md", b"# proposed\n")
    put(root / "datasets/acme/rows/data/train.csv", b"a,b\n1,2\n")
    for i in range(1100):  # more than one page of a tree
        put(root / f"acme/many/part-{i % 7}/{i:04}.txt", b"%d" % (i % 400))


def listing(repo_folder):
    """Each entry with its type, mode and content: what must be the same whoever wrote it."""
    out = {}
    for path in sorted(repo_folder.rglob("*")):
        name = str(path.relative_to(repo_folder))
        # Written by newer versions only, whose tree files have another mode.
        if name.split("/")[0] in ("trees", ".no_exist"):
            continue
        if path.is_symlink():
            out[name] = ("link", os.readlink(path))
        elif path.is_dir():
            out[name] = ("folder", oct(path.stat().st_mode & 0o7777))
        else:
            out[name] = ("file", oct(path.stat().st_mode & 0o7777), path.read_bytes())
    return out


def difference(ours, theirs):
    names = [n for n in sorted(ours.keys() | theirs.keys()) if ours.get(n) != theirs.get(n)]
    return "; ".join(f"{n!r}: ours {str(ours.get(n))[:80]}, theirs {str(theirs.get(n))[:80]}" for n in names[:5])


class Run:
    def __init__(self, hfcache, work):
        self.hfcache, self.ours, self.theirs = hfcache, work / "ours", work / "theirs"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGINGFACE_", "TRANSFORMERS_"))}
        self.environment |= {"HF_HOME": str(work / "home"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
                             "HF_HUB_DISABLE_PROGRESS_BARS": "1", "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}

    def call(self, command, **variables):
        done = subprocess.run([str(c) for c in command], env=self.environment | variables, capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr[-2000:], file=sys.stderr)
        return done.stdout.strip() if done.returncode == 0 else f"exit code {done.returncode}"

    def python(self, program, *arguments, **variables):
        return self.call([sys.executable, "-c", program, *arguments], **variables)

    def download(self, repo_id, repo_type="model", revision=""):
        name = f"{repo_type} {repo_id}" + (f" at {revision}" if revision else "")
        revision_flag = ["--revision", revision] if revision else []
        got = self.call([self.hfcache, "download", repo_id, "--repo-type", repo_type, *revision_flag,
                         "--cache-dir", self.ours])
        self.python(COPY, repo_id, repo_type, revision, self.theirs, "online")
        folder = f"{repo_type}s--" + repo_id.replace("/", "--")
        ours, theirs = listing(self.ours / folder), listing(self.theirs / folder)
        check(f"{name}: both caches are equal", ours and ours == theirs, difference(ours, theirs))
        found = self.python(COPY, repo_id, repo_type, revision, self.ours, "offline", HF_HUB_OFFLINE="1")
        check(f"{name}: huggingface_hub finds ours offline", found == got, f"{found} is not {got}")
        path = self.call([self.hfcache, "path", repo_id, "--repo-type", repo_type, *revision_flag, "--cache-dir",
                          self.theirs])
        check(f"{name}: hfcache finds theirs", path.endswith(got[len(str(self.ours)):]), path)
        plan = json.loads(self.call([self.hfcache, "download", repo_id, "--repo-type", repo_type, *revision_flag,
                                     "--cache-dir", self.theirs, "--dry-run", "--json"]))
        check(f"{name}: nothing of theirs is to be fetched again",
              all(file["state"] == "present" for file in plan["files"]), json.dumps(plan)[:300])

    def compare_lists(self):
        scan = json.loads(self.python(SCAN, self.ours))
        warnings = [w for w in scan["warnings"] if "CACHEDIR.TAG" not in w]  # before 1.16 it was not known
        check("huggingface_hub's scan of ours has no warnings", not warnings, str(warnings))
        ls = json.loads(self.call([self.hfcache, "ls", "--json", "--cache-dir", self.ours]))
        listed = {repo["repo_id"]: [repo["bytes"], [v["commit"] for v in repo["revisions"]]] for repo in ls}
        check("hfcache ls has the numbers of huggingface_hub's scan", listed == scan["repos"], f"{listed} {scan['repos']}")

    def use_model(self, model):
        expected = self.python(USE_MODEL, model)
        check("transformers loads the model from its folder", expected.startswith(("0x", "-0x")), expected)
        offline = self.python(USE_MODEL, "acme/model", HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(self.ours))
        check("transformers loads it from our cache offline", offline == expected, offline)
        online = self.python(USE_MODEL, "acme/model", HF_HUB_CACHE=str(self.theirs / "fresh"))
        check("transformers loads it from the Hub on loopback", online == expected, online)


def main():
    hfcache, loopback_hub = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    try:
        import torch, transformers  # noqa: F401, E401
        with_model = True
    except ImportError:
        with_model = False
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        make_repositories(work / "root")
        run = Run(hfcache, work)
        if with_model:
            (work / "root/acme/model").mkdir(parents=True)
            run.python(MAKE_MODEL, work / "root/acme/model")
        hub = subprocess.Popen([loopback_hub, work / "root", "--until-eof"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        run.environment["HF_ENDPOINT"] = hub.stdout.readline().strip()
        print(f"huggingface_hub {huggingface_hub.__version__}")
        try:
            run.download("acme/files")
            for revision in ("v1.0", "refs/pr/1"):
                run.download("acme/files", revision=revision)
            run.download("acme/rows", "dataset")
            run.download("acme/many")
            if with_model:
                run.download("acme/model")
                run.use_model(work / "root/acme/model")
            else:
                print("left out: transformers and torch are not installed")
            run.compare_lists()
        finally:
            hub.stdin.close()
            hub.wait()
    print("passed" if failures == 0 else f"{failures} checks failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
