#!/usr/bin/env python3
"""Hold the ONNX files of hfconvert to what others make of them.

For each case, hfconvert writes the model twice, as it does by itself and with --all-outputs, and

    checker     onnx's full check and strict shape inference with data propagation pass on both files; opset
                17, IR 8 at most, no operators but ONNX's own, no input unused, tensors outside the file
                aligned to 4096 bytes
    reference   ONNX Runtime gives the reference's outputs (with --all-outputs)
    shapes      and transformers' outputs at 1 x 5 and 3 x 17 tokens
    names       inputs, outputs and axes are named and ordered as optimum does; for bert-base and gpt2-base
                also compared with a real export of optimum's
    ortmodel    optimum's class for the task loads the folder and gives the reference's outputs
    hfvalidate  `hfvalidate compare` reads the file back and finds each output of the reference (where the
                program is given)

An output is right within max(1e-5, 3 x noise), its noise being the difference between fp32 and fp64 in
transformers. Prints a row a case and `N passed, N failed`; exits with 1 if any check failed, with 77 where a
package is missing.
"""

import argparse
import collections
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

for package in ("onnx", "onnxruntime", "optimum", "safetensors", "torch", "transformers"):
    if importlib.util.find_spec(package) is None:
        print(f"test skipped: the Python package {package} is missing")
        sys.exit(77)

os.environ.setdefault("HF_HUB_OFFLINE", "1")
logging.disable(logging.WARNING)

import onnx
import onnxruntime
import optimum.onnxruntime
import torch

import onnx_contract
from onnx_cases import captured_case, read_cases, run

OPSET, NEWEST_IR = 17, 8
ALIGNMENT = 4096
SHAPES = ((1, 5), (3, 17))  # [batch, sequence]
EXPORTED_FOR_REAL = ("bert-base", "gpt2-base")
ORT_CLASSES = {
    "feature-extraction": "ORTModelForFeatureExtraction",
    "fill-mask": "ORTModelForMaskedLM",
    "text-classification": "ORTModelForSequenceClassification",
    "token-classification": "ORTModelForTokenClassification",
    "question-answering": "ORTModelForQuestionAnswering",
    "multiple-choice": "ORTModelForMultipleChoice",
    "text-generation": "ORTModelForCausalLM",
}


class Failed(Exception):
    """A check did not pass; the message says in what."""


class NotApplicable(Exception):
    """There is nothing of the kind to check here."""


def convert(hfconvert, source, target, *options):
    """Writes `target`/model.onnx and returns its path."""
    shutil.rmtree(target, ignore_errors=True)
    command = [hfconvert, source, "--to", "onnx", "-o", target, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        said = done.stderr.strip()[-2000:]
        raise Failed(f"hfconvert {' '.join(options)} exited with {done.returncode}: {said}")
    path = target / "model.onnx"
    if not path.is_file():
        raise Failed(f"hfconvert wrote no model.onnx, but {sorted(p.name for p in target.iterdir())}")
    return path


def check_alignment(path):
    """Tensors in a file beside the model can be mapped into memory."""
    for tensor in onnx.load(path, load_external_data=False).graph.initializer:
        place = {entry.key: entry.value for entry in tensor.external_data}
        if int(place.get("offset", 0)) % ALIGNMENT:
            raise Failed(f"{tensor.name} lies at byte {place['offset']} of {place['location']}")


def compare(found, wanted, tolerances):
    """Returns the largest difference as a share of its tolerance."""
    worst = 0.0
    for name, value in found.items():
        if list(value.shape) != list(wanted[name].shape):
            raise Failed(f"{name} has shape {list(value.shape)}, expected {list(wanted[name].shape)}")
        off = (torch.as_tensor(value).double() - wanted[name].double()).abs().max().item()
        if not off <= tolerances[name]:  # so that NaN fails
            raise Failed(f"{name} is off by {off:.2e}, tolerance {tolerances[name]:.2e}")
        worst = max(worst, off / tolerances[name])
    return worst


def with_positions(inputs, names):
    """Decoders take position_ids, which a plain forward of transformers counts from 0."""
    made = dict(inputs)
    if "position_ids" in names and "position_ids" not in made:
        ids = inputs["input_ids"]
        made["position_ids"] = torch.arange(ids.shape[1]).expand_as(ids).contiguous()
    return made


def run_onnx(session, inputs):
    names = [value.name for value in session.get_inputs()]
    given = with_positions(inputs, names)
    outputs = [value.name for value in session.get_outputs()]
    values = session.run(outputs, {name: given[name].numpy() for name in names})
    return dict(zip(outputs, values, strict=True))


class Checks:
    """The checks of one case, in the order of the table's columns. Each returns what its cell shows."""

    def __init__(self, case, work, hfconvert, hfvalidate):
        self.case = case
        self.hfvalidate_program = hfvalidate
        self.work = work / case.name
        self.folder = self.work / "plain"
        self.plain = convert(hfconvert, case.folder, self.folder)
        self.full = convert(hfconvert, case.folder, self.work / "all", "--all-outputs")
        self.session = onnxruntime.InferenceSession(self.full, providers=["CPUExecutionProvider"])

    def checker(self):
        for path in (self.plain, self.full):
            onnx.checker.check_model(str(path), full_check=True)
            model = onnx.load(path)
            onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
            opsets = {(entry.domain or "ai.onnx"): entry.version for entry in model.opset_import}
            if opsets != {"ai.onnx": OPSET}:
                raise Failed(f"operator sets {opsets}, expected only ai.onnx {OPSET}")
            if model.ir_version > NEWEST_IR:
                raise Failed(f"IR version {model.ir_version}, expected at most {NEWEST_IR}")
            graph = model.graph
            used = {name for node in graph.node for name in node.input} | {
                value.name for value in graph.output
            }
            unused = [value.name for value in [*graph.input, *graph.initializer] if value.name not in used]
            if unused:
                raise Failed(f"{path.parent.name}: {', '.join(unused)} is not used by any node")
            check_alignment(path)
        return "ok"

    def reference(self):
        inputs, outputs = self.case.reference
        found = run_onnx(self.session, inputs)
        missing = [name for name in outputs if name not in found and not name.startswith("hidden_states.")]
        if missing:
            raise Failed(f"--all-outputs lacks {', '.join(missing)}")
        strange = [name for name in found if name not in outputs]
        if strange:
            raise Failed(f"--all-outputs has {', '.join(strange)}, which transformers has not")
        return f"{compare(found, outputs, self.case.tolerances()):.2f}"

    def shapes(self):
        worst = 0.0
        for batch, length in SHAPES:
            inputs = self.case.inputs(batch, length)
            try:
                found = run_onnx(self.session, inputs)
                worst = max(worst, compare(found, *self.case.outputs(inputs)))
            except (Failed, onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException) as error:
                raise Failed(f"at {batch} x {length} tokens: {error}") from error
        return f"{worst:.2f}"

    def names(self):
        inputs, _ = self.case.reference
        outputs = run(
            self.case.model, inputs
        )  # in transformers' order, which a file of tensors does not keep
        results = {name: value for name, value in outputs.items() if not name.startswith("hidden_states.")}
        found = onnx_contract.interface(self.plain)
        wanted = [onnx_contract.expected(self.case.model, self.case.task, inputs, results)]
        if self.case.name in EXPORTED_FOR_REAL:
            wanted.append(onnx_contract.interface(self.export_by_optimum()))
        for interface in wanted:
            departures = list(onnx_contract.differences(found, interface))
            if departures:
                raise Failed("; ".join(departures))
        return "ok" if len(wanted) == 1 else "ok (export)"

    def export_by_optimum(self):
        from optimum.exporters.onnx import main_export

        target = self.work / "optimum"
        main_export(
            str(self.case.folder),
            target,
            task=self.case.task,
            opset=OPSET,
            do_validation=False,
            library_name="transformers",
        )
        return target / "model.onnx"

    def ortmodel(self):
        if onnx_contract.optimum_config(self.case.model, self.case.task) is None:
            raise NotApplicable
        cls = getattr(optimum.onnxruntime, ORT_CLASSES[self.case.task])
        # Without a cache, since GPT-2 is written without one so far.
        options = {"use_cache": False, "use_io_binding": False} if self.case.task == "text-generation" else {}
        model = cls.from_pretrained(self.folder, **options)
        inputs, outputs = self.case.reference
        found = {k: v for k, v in model(**with_positions(inputs, model.input_names)).items() if v is not None}
        if not found:
            raise Failed(f"{cls.__name__} gives no output")
        return f"{compare(found, outputs, self.case.tolerances()):.2f}"

    def hfvalidate(self):
        if self.hfvalidate_program is None:
            raise NotApplicable
        command = [
            self.hfvalidate_program,
            "compare",
            self.full.parent,
            "--against",
            self.case.reference_file,
        ]
        done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=300, check=False)
        if done.returncode not in (0, 1):
            raise Failed(f"exited with {done.returncode}: {done.stderr.strip()[-2000:]}")
        compared = {entry["name"]: entry for entry in json.loads(done.stdout)["outputs"]}
        _, outputs = self.case.reference
        missing = [name for name in outputs if name not in compared and not name.startswith("hidden_states.")]
        if missing:
            raise Failed(f"did not compare {', '.join(missing)}")
        problems = [f"{name}: {entry['problem']}" for name, entry in compared.items() if not entry["passed"]]
        if problems or done.returncode:
            raise Failed("; ".join(problems) or "exited with 1")
        tolerances = self.case.tolerances()
        worst = max(entry["max_absolute_error"] / tolerances[name] for name, entry in compared.items())
        if worst > 1:
            raise Failed(f"passes what is off by {worst:.2f} times its tolerance")
        return f"{worst:.2f}"


COLUMNS = ("checker", "reference", "shapes", "names", "ortmodel", "hfvalidate")


def check(case, work, hfconvert, hfvalidate):
    """{column: (cell, the complaint or "")}"""
    try:
        checks = Checks(case, work, hfconvert, hfvalidate)
    except Failed as error:
        return {"convert": ("FAILED", str(error))}
    results = {"convert": ("ok", "")}
    for column in COLUMNS:
        try:
            results[column] = (getattr(checks, column)(), "")
        except NotApplicable:
            results[column] = ("-", "")
        except Failed as error:
            results[column] = ("FAILED", str(error))
        except Exception as error:  # whatever the libraries throw at a file they cannot take
            last = traceback.extract_tb(error.__traceback__)[-1]
            results[column] = ("FAILED", f"{type(error).__name__}: {error} ({last.name})")
    return results


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hfconvert", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--hfvalidate", type=Path, metavar="PROGRAM")
    parser.add_argument("--fixtures", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--model",
        type=Path,
        nargs="*",
        default=[],
        metavar="DIR",
        help="also a model with its reference.safetensors of capture_reference.py",
    )
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="where the files are written")
    parser.add_argument("--only", nargs="*", metavar="SUBSTRING", help="cases named like one of these")
    options = parser.parse_args()
    torch.set_num_threads(1)

    hfvalidate = options.hfvalidate.resolve() if options.hfvalidate else None
    counts = collections.Counter()
    print(f"{'case':32}", *(f"{column:11}" for column in ("convert", *COLUMNS)))
    cases = read_cases(options.fixtures, options.only) + [captured_case(folder) for folder in options.model]
    for case in cases:
        results = check(case, options.work, options.hfconvert.resolve(), hfvalidate)
        print(f"{case.name:32}", *(f"{cell:11}" for cell, _ in results.values()), flush=True)
        for column, (cell, complaint) in results.items():
            counts["failed" if cell == "FAILED" else "passed"] += cell != "-"
            if complaint:
                print(f"    {column}: {complaint}", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed (numbers: largest difference / tolerance)")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
