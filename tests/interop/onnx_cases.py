"""The cases as tests of an exporter: the model in transformers, its reference, and inputs of other
shapes."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file

FIRST_WORD_ID = 5  # smaller ids are special tokens
LEAST_TOLERANCE = 1e-5
NOISE_FACTOR = 3


def tolerance(noise):
    return max(LEAST_TOLERANCE, NOISE_FACTOR * noise)


@dataclass(frozen=True)
class Case:
    folder: Path
    facts: dict  # case.json; of the model that it equals where it is another storage of one
    noise: dict  # {output: |fp32 - fp64|}
    reference_file: Path

    @property
    def name(self):
        return self.folder.name

    @property
    def task(self):
        return self.facts["task"]

    @cached_property
    def reference(self):
        """(inputs, outputs) as tensors by name; what generation gave is left out."""
        stored = load_file(self.reference_file)
        inputs = {k.removeprefix("inputs."): v for k, v in stored.items() if k.startswith("inputs.")}
        outputs = {k.removeprefix("outputs."): v for k, v in stored.items() if k.startswith("outputs.")}
        return inputs, {k: v for k, v in outputs.items() if not k.startswith("generated")}

    @cached_property
    def model(self):
        return self.load(torch.float32)

    def load(self, dtype):
        cls = getattr(transformers, self.facts["model_class"])
        config = transformers.AutoConfig.from_pretrained(self.folder)
        if getattr(config, "reorder_and_upcast_attn", False):
            config.reorder_and_upcast_attn = False  # the same arithmetic, which refuses to run in fp64
        return cls.from_pretrained(
            self.folder, config=config, attn_implementation="eager", dtype=dtype
        ).eval()

    def tolerances(self):
        """{output: tolerance} against the stored reference."""
        return {name.removeprefix("outputs."): tolerance(value) for name, value in self.noise.items()}

    def inputs(self, batch, length):
        """Seeded inputs of [batch, length], or [batch, 4, length] for multiple choice; each row of the batch
        is padded a little more than the one before, on the right. The first row is whole."""
        given, _ = self.reference
        shape = (batch, length) if self.task != "multiple-choice" else (batch, 4, length)
        seeded = torch.Generator().manual_seed(batch * 1000 + length)
        ids = torch.randint(FIRST_WORD_ID, self.model.config.vocab_size, shape, generator=seeded)
        mask = torch.ones(shape, dtype=torch.int64)
        for row in range(1, batch):
            mask[row, ..., length - 2 * row :] = 0
        made = {"input_ids": torch.where(mask.bool(), ids, self.model.config.pad_token_id or 0)}
        if "attention_mask" in given:
            made["attention_mask"] = mask
        if "token_type_ids" in given:
            made["token_type_ids"] = (torch.arange(length) >= length // 2).long() * mask
        return made

    def outputs(self, inputs):
        """(what transformers gives in fp32, {output: tolerance} from its difference to fp64)."""
        single = run(self.model, inputs)
        torch.set_default_dtype(torch.float64)
        try:
            double = run(self.load(torch.float64), inputs)
        finally:
            torch.set_default_dtype(torch.float32)
        spread = {name: (double[name] - value.double()).abs().max().item() for name, value in single.items()}
        return single, {name: tolerance(value) for name, value in spread.items()}


def run(model, inputs):
    """{output: tensor}, hidden states as hidden_states.N."""
    with torch.no_grad():
        result = model(**inputs, output_hidden_states=True, return_dict=True)
    flat = {name: value for name, value in result.items() if torch.is_tensor(value)}
    flat.update({f"hidden_states.{n}": value for n, value in enumerate(result.hidden_states)})
    return flat


def captured_case(folder):
    """A model beside whose weights lies a reference.safetensors of capture_reference.py."""
    file = folder / "reference.safetensors"
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    noise = {k.removeprefix("noise."): float(v) for k, v in metadata.items() if k.startswith("noise.")}
    return Case(folder.resolve(), {"model_class": metadata["class"], "task": metadata["task"]}, noise, file)


def read_cases(root, only):
    """The cases below `root` whose name contains one of `only`, if any is given."""
    found = []
    for file in sorted(root.glob("*/case.json")):
        folder = file.parent
        if only and not any(part in folder.name for part in only):
            continue
        own = json.loads(file.read_text())
        facts = own
        if "same_as" in own:
            facts = json.loads((folder.parent / own["same_as"] / "case.json").read_text())
        found.append(
            Case(
                folder,
                facts,
                own.get("fp32_vs_fp64_max_abs") or facts["fp32_vs_fp64_max_abs"],
                folder / own.get("reference", "reference.safetensors"),
            )
        )
    if not found:
        raise SystemExit(f"no case in {root}" + (f" is named like {' or '.join(only)}" if only else ""))
    return found
