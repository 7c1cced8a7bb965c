#!/usr/bin/env python3
"""Make the reference cases of tests/data/fixtures: tiny checkpoints with the outputs that transformers gives.

usage: make_fixtures.py [--out DIR] [--only SUBSTRING ...] [--list]

A case DIR/NAME holds

    config.json (generation_config.json)  as save_pretrained writes them
    model.safetensors                     random weights, scaled so that every parameter shows in the outputs
    reference.safetensors                 inputs.*, outputs.*, outputs.hidden_states.N; where the task
                                          generates, outputs.generated (greedy ids), outputs.generated_margin
    case.json                             class, task, shapes, versions and fp32_vs_fp64_max_abs: the largest
                                          difference between fp32 and fp64 for each output. No tolerance can
                                          sensibly be below this noise floor.

and DIR/NAME.STORAGE the same model in another storage, with a case.json that says what it equals.

References are fp32 with eager attention on one thread. Every value is a function of the seed, the salt and
the parameter's or input's name alone, so a new case never changes another, and two runs on one machine write
the same bytes. The cases themselves are in fixture_cases.py.
"""

import argparse
import json
import math
import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_CBWR", "COMPATIBLE")  # the same bits whatever the alignment of the buffers

import torch
import transformers
from safetensors.torch import load_file, save_file

import fixture_cases
import reference
from fixture_cases import SEED, generator

FLOAT_KINDS = {"fp16": torch.float16}
GENERATED_TOKENS = 10
MAX_SALTS = 24

# ---------------------------------------------------------------------------------------------------- weights

NORM_HINTS = ("norm", "ln_")
QUERY_KEY_HINTS = ("query.", "key.", "q_lin.", "k_lin.", "c_attn.")
RESIDUAL_OUTPUT_HINTS = ("c_proj.",)

BIAS_STD = 0.15
NORM_STD = 0.25
EMBEDDING_STD = 0.5
TIED_EMBEDDING_STD = 0.15
QUERY_KEY_GAIN = 1.6  # peaked attention: near-uniform weights would hide a wrong scale or mask
TIED_RESIDUAL_GAIN = 3.0  # else a token's own embedding dominates the tied logits and generation repeats it


def is_norm(name):
    parts = name.lower().split(".")
    return len(parts) > 1 and any(hint in parts[-2] for hint in NORM_HINTS)


def has_hint(name, hints):
    return any(hint in name + "." for hint in hints)


def fill(model, salt=0, keep=()):
    """Gives every parameter a seeded value. Rows that the library holds at zero (padding_idx) stay random: a
    reader may not assume that they are zero. Parameters whose name contains one of `keep` are left as
    initialised."""
    conv1d = {
        n for n, m in model.named_modules() if type(m).__name__ == "Conv1D"
    }  # GPT-2's [in, out] weights
    embeddings = {n for n, m in model.named_modules() if isinstance(m, torch.nn.Embedding)}
    head = model.get_output_embeddings() if model.can_generate() else None
    tied = head is not None and head.weight is model.get_input_embeddings().weight

    def scaled(name, noise):
        """The value of a parameter that is no normalisation weight."""
        module, _, leaf = name.rpartition(".")
        if leaf == "bias":
            return BIAS_STD * noise
        if module in embeddings:
            positional = "position" in name or ".wpe" in name or name.startswith("wpe")
            return (TIED_EMBEDDING_STD if tied and not positional else EMBEDDING_STD) * noise
        fan_in = noise.shape[0] if module in conv1d else noise.shape[1]
        gain = 1.0
        if has_hint(name, QUERY_KEY_HINTS):
            gain = QUERY_KEY_GAIN
        elif tied and has_hint(name, RESIDUAL_OUTPUT_HINTS):
            gain = TIED_RESIDUAL_GAIN
        return noise * gain / math.sqrt(fan_in)

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if any(part in name for part in keep):
                continue
            seeded = generator(f"{name}#{salt}" if salt else name)
            noise = torch.randn(parameter.shape, generator=seeded, dtype=torch.float32)
            if is_norm(name) and name.endswith(".weight"):
                parameter.copy_(1.0 + NORM_STD * noise)
            elif parameter.dim() == 1 and not name.endswith("bias"):
                raise ValueError(f"{name}: no rule for a parameter of shape {list(parameter.shape)}")
            else:
                parameter.copy_(scaled(name, noise))
    model.tie_weights()
    return model.eval()


# -------------------------------------------------------------------------------------------- running a model


def generate(model, inputs, task):
    """Greedy ids of the first row, and the smallest gap between the best and the second logit on the way:
    below it, another implementation's rounding may choose another token."""
    if task != "text-generation":
        return {}
    first = {name: value[:1] for name, value in inputs.items()}
    with torch.no_grad():
        result = model.generate(
            **first,
            num_beams=1,
            do_sample=False,
            max_new_tokens=GENERATED_TOKENS,
            return_dict_in_generate=True,
            output_scores=True,
        )
    best = [scores.topk(2, -1).values for scores in result.scores]
    margin = torch.stack([top[:, 0] - top[:, 1] for top in best]).min().view(1)
    return {"outputs.generated": result.sequences, "outputs.generated_margin": margin}


def choose_salt(model, inputs, case):
    """The first salt whose greedy generation neither repeats one token nor meets near-ties; else the best one
    seen. Leaves the model filled with it."""
    scores = []
    for salt in range(MAX_SALTS):
        fill(model, salt, case.keep)
        made = generate(model, inputs, case.task)
        if not made:
            return 0
        distinct = len(set(made["outputs.generated"][0, -GENERATED_TOKENS:].tolist()))
        scores.append(min(distinct, 6) + 50 * min(made["outputs.generated_margin"].item(), 0.02))
        if scores[-1] >= 6.5:
            return salt
    salt = scores.index(max(scores))
    fill(model, salt, case.keep)
    return salt


def noise_floor(cls, folder, inputs, outputs):
    """{output: largest |fp32 - fp64|}; fp64 weights are the stored ones, widened."""
    config = json.loads((folder / "config.json").read_text())
    # GPT-2's upcasting attention is the same arithmetic in another order, and refuses to run in fp64.
    overrides = {"reorder_and_upcast_attn": False} if config.get("reorder_and_upcast_attn") else {}
    return reference.noise(reference.load(cls, folder, torch.float64, **overrides), inputs, outputs)


# ----------------------------------------------------------------------------------------- is it a good case?


def attention_entropy(model, inputs):
    """Mean attention entropy over log(visible keys): 1 is uniform, 0 one-hot; either hides errors."""
    ratios = []
    for name, weights in reference.run(model, inputs, attentions=True).items():
        if "attentions" not in name:
            continue
        visible = (weights > 1e-9).sum(-1)
        entropy = -(weights.clamp(min=1e-12).log() * weights).sum(-1)
        ratios.append((entropy / visible.clamp(min=2).float().log())[visible >= 2].mean().item())
    return sum(ratios) / len(ratios)


def sensitivity(model, inputs, outputs):
    """How far the first row's results move when its first token becomes another."""
    changed = {name: value.clone() for name, value in inputs.items()}
    first = changed["input_ids"].view(-1)
    first[0] = 8 if first[0] == 7 else 7
    moved = reference.run(model, changed)
    results = [name for name in outputs if "logits" in name or name == "outputs.last_hidden_state"]
    return max((moved[name][0] - outputs[name][0]).abs().max().item() for name in results)


def complaints(facts, stored):
    """What makes a case a poor test."""
    found = []
    if min(facts["output_std"].values()) < 0.02:
        found.append("an output hardly varies")
    if not 0.1 < facts["attention_entropy_ratio"] < 0.97:
        found.append("attention is degenerate")
    if facts["sensitivity"] < 1e-3:
        found.append("the first token does not matter")
    generated = stored.get("outputs.generated")
    if generated is not None and len(set(generated[0, -GENERATED_TOKENS:].tolist())) < 3:
        found.append("generation repeats")
    return found


# ------------------------------------------------------------------------------------------------------ files


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


def signature(tensors):
    return {k: [str(v.dtype).removeprefix("torch."), list(v.shape)] for k, v in tensors.items()}


def write_sharded(folder, weights):
    """About three shards and their index."""
    total = sum(w.numel() * w.element_size() for w in weights.values())
    groups, size = [{}], 0
    for name, weight in weights.items():
        nbytes = weight.numel() * weight.element_size()
        if groups[-1] and size + nbytes > total // 3 + 1:
            groups.append({})
            size = 0
        groups[-1][name] = weight
        size += nbytes
    weight_map = {}
    for number, group in enumerate(groups, 1):
        file = f"model-{number:05d}-of-{len(groups):05d}.safetensors"
        save_file(group, folder / file, metadata={"format": "pt"})
        weight_map.update(dict.fromkeys(group, file))
    write_json(
        folder / "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": weight_map}
    )


def write_storage(source, storage, cls, inputs, outputs):
    """The case `source` in another storage. Rounded weights get a reference of their own."""
    folder = source.with_name(f"{source.name}.{storage}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("config.json", "generation_config.json"):
        if (source / name).exists():
            shutil.copy(source / name, folder)
    weights = load_file(source / "model.safetensors")
    facts = {"same_as": source.name, "format": storage}
    if storage in FLOAT_KINDS:
        rounded = {name: w.to(FLOAT_KINDS[storage]) for name, w in weights.items()}
        save_file(rounded, folder / "model.safetensors", metadata={"format": "pt"})
        config = json.loads((folder / "config.json").read_text())
        config["dtype"] = str(FLOAT_KINDS[storage]).removeprefix("torch.")
        (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    else:
        write_sharded(folder, weights)
    again = reference.run(reference.load(cls, folder), inputs)
    difference = max((again[name] - outputs[name]).abs().max().item() for name in outputs)
    if storage in FLOAT_KINDS:
        stored = {f"inputs.{k}": v for k, v in inputs.items()} | again
        reference.write(folder / "reference.safetensors", stored, {"case": f"{folder.name} seed {SEED}"})
        facts["reference"] = "reference.safetensors"
        facts["note"] = "weights rounded to the stored type, computed in fp32"
        facts["fp32_vs_fp64_max_abs"] = noise_floor(cls, folder, inputs, again)
    else:
        facts["reference"] = f"../{source.name}/reference.safetensors"
        facts["note"] = "bit-identical weights"
        if difference > 5e-5:
            raise RuntimeError(f"{folder}: differs by {difference} from {source}")
    facts["max_abs_diff_to_same_as"] = float(f"{difference:.3e}")
    write_json(folder / "case.json", facts)


def make(case, out):
    """Writes one case with its storages; returns the complaints."""
    folder = out / case.name
    cls = getattr(transformers, case.model_class)
    config = cls.config_class(**case.config)
    config._attn_implementation = "eager"
    torch.manual_seed(SEED)
    model = cls(config)
    salt = choose_salt(model, case.inputs, case)
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, safe_serialization=True)

    model = reference.load(cls, folder)  # what any reader of the files must get
    outputs = reference.run(model, case.inputs)
    stored = {f"inputs.{k}": v for k, v in case.inputs.items()}
    stored |= outputs | generate(model, case.inputs, case.task)
    reference.write(folder / "reference.safetensors", stored, {"case": f"{case.name} seed {SEED}"})
    results = {k: v for k, v in stored.items() if k.startswith("outputs.") and "hidden_states." not in k}
    facts = {
        "name": case.name,
        "model_type": model.config.model_type,
        "model_class": case.model_class,
        "task": case.task,
        "seed": SEED,
        "salt": salt,
        "parameters": sum(p.numel() for p in model.parameters()),
        "inputs": signature(case.inputs),
        "outputs": signature(results),
        "output_std": {k: round(v.std().item(), 4) for k, v in outputs.items() if "hidden_states." not in k},
        "attention_entropy_ratio": round(attention_entropy(model, case.inputs), 3),
        "sensitivity": round(sensitivity(model, case.inputs, outputs), 4),
        "fp32_vs_fp64_max_abs": noise_floor(cls, folder, case.inputs, outputs),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    write_json(folder / "case.json", facts)
    for storage in case.storages:
        write_storage(folder, storage, cls, case.inputs, outputs)
    found = complaints(facts, stored)
    print(
        f"{case.name:22} {case.model_class:36} {facts['parameters']:6} parameters"
        f"  std {min(facts['output_std'].values()):.3f}  entropy {facts['attention_entropy_ratio']:.2f}"
        f"  sensitivity {facts['sensitivity']:.3f}  noise {max(facts['fp32_vs_fp64_max_abs'].values()):.1e}"
        f"  {'; '.join(found)}",
        flush=True,
    )
    return found


def main():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--out", type=Path, default=root / "tests/data/fixtures", metavar="DIR")
    parser.add_argument(
        "--only", nargs="*", metavar="SUBSTRING", help="cases whose name contains one of these"
    )
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    options = parser.parse_args()

    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.backends.mkldnn.enabled = False

    chosen = [
        case
        for case in fixture_cases.CASES
        if not options.only or any(part in case.name for part in options.only)
    ]
    if options.list:
        for case in chosen:
            print(case.name, case.task, *case.storages)
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    poor = [case.name for case in chosen if make(case, options.out)]
    if poor:
        print("poor cases:", *poor, file=sys.stderr)
    return 1 if poor else 0


if __name__ == "__main__":
    sys.exit(main())
