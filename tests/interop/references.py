#!/usr/bin/env python3
"""The references in the repository are what the scripts in tools/dev make with transformers.

make_fixtures.py makes some cases anew: the same files, the same weights, and outputs within the noise, since
processors differ in the last bits. capture_reference.py captures the embedded model anew. Exits with 77 where
a package is missing.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REMADE = (
    "bert-mc",
    "bert-seqcls",
    "distilbert-base",
    "electra-mlm-untied",
    "gpt2-lm-untied",
    "roberta-tokcls",
)
LEAST_TOLERANCE, NOISE_FACTOR = 1e-5, 3
ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools/dev"


def run(script, *arguments):
    command = [sys.executable, "-W", "ignore", TOOLS / script, *arguments]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise SystemExit(f"{script} exited with {done.returncode}: {done.stderr[-2000:]}")


def departures(kept, made, noise):
    """Sentences on how a file of tensors differs from the one in the repository. `noise` is {name:
    difference}; tensors without one must be the same."""
    from safetensors.torch import load_file

    old, new = load_file(kept), load_file(made)
    if old.keys() != new.keys():
        yield f"{kept.relative_to(ROOT)} differs in {', '.join(sorted(old.keys() ^ new.keys()))}"
        return
    for name, value in old.items():
        if value.shape != new[name].shape or value.dtype != new[name].dtype:
            found, wanted = (f"{tensor.dtype} {list(tensor.shape)}" for tensor in (new[name], value))
            yield f"{kept.relative_to(ROOT)}: {name} is {found}, {wanted} is kept"
            continue
        off = (value.double() - new[name].double()).abs().max().item()
        allowed = max(LEAST_TOLERANCE, NOISE_FACTOR * noise[name]) if name in noise else 0.0
        if not off <= allowed:
            yield f"{kept.relative_to(ROOT)}: {name} is off by {off:.2e}, {allowed:.2e} is allowed"


def remake_fixtures(work):
    run("make_fixtures.py", "--out", work, "--only", *REMADE)
    for made in sorted(work.glob("*/*")):
        kept = ROOT / "tests/data/fixtures" / made.relative_to(work)
        if not kept.exists():
            yield f"{kept.relative_to(ROOT)} is made, but not kept"
        elif made.suffix == ".safetensors":
            facts = json.loads((kept.parent / "case.json").read_text())
            noise = dict(facts.get("fp32_vs_fp64_max_abs", {}))
            if "outputs.logits" in noise:  # a difference of two logits
                noise["outputs.generated_margin"] = 2 * noise["outputs.logits"]
            yield from departures(kept, made, noise)


def recapture_embedded_model(work):
    from safetensors import safe_open
    from transformers import AutoTokenizer

    folder, made = ROOT / "examples/tiny-bert", work / "reference.safetensors"
    kept = folder / "reference.safetensors"
    with safe_open(kept, "pt") as opened:
        metadata, ids = opened.metadata(), opened.get_tensor("inputs.input_ids")
        mask = opened.get_tensor("inputs.attention_mask").bool()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    texts = [tokenizer.decode(row[keep][1:-1]) for row, keep in zip(ids, mask, strict=True)]
    run("capture_reference.py", folder, "-o", made, "--text", *texts)
    noise = {
        f"outputs.{k.removeprefix('noise.')}": float(v) for k, v in metadata.items() if k.startswith("noise.")
    }
    yield from departures(kept, made, noise)


def main():
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for package in ("safetensors", "torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            print(f"test skipped: the Python package {package} is missing")
            return 77
    problems = []
    with tempfile.TemporaryDirectory() as work:
        fixtures, embedded = Path(work, "fixtures"), Path(work, "embedded")
        embedded.mkdir()
        problems += remake_fixtures(fixtures)
        problems += recapture_embedded_model(embedded)
    print("\n".join(problems) or "the references hold")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
