"""How a reference is computed and stored: what make_fixtures.py and capture_reference.py share.

A reference is one safetensors file: inputs.NAME, outputs.NAME and outputs.hidden_states.N as transformers
gives them in fp32 with eager attention. The noise of an output is the largest difference between fp32 and
fp64 arithmetic on the same weights; another correct implementation may be as far off, so no tolerance can
sensibly be below it.
"""

import json
import struct

import safetensors.torch
import torch


class MissingWeightsError(LookupError):
    """The checkpoint lacks weights of the class; the library would make them up."""

    def __init__(self, source, model_class, names):
        super().__init__(f"{source}: no weights for {', '.join(names)} of {model_class}")
        self.names = names


def load(cls, source, dtype=torch.float32, **options):
    """A model of class `cls`, every weight of it from the checkpoint. `options` override entries of
    config.json."""
    model, report = cls.from_pretrained(
        source, attn_implementation="eager", dtype=dtype, output_loading_info=True, **options
    )
    missing = sorted(report["missing_keys"]) + sorted(str(key) for key in report["mismatched_keys"])
    if missing:
        raise MissingWeightsError(source, type(model).__name__, missing)
    return model.eval()


def flatten(output, prefix="outputs"):
    """A ModelOutput as {dotted name: tensor}; caches are left out."""
    if torch.is_tensor(output):
        return {prefix: output}
    if isinstance(output, (tuple, list)):
        items = enumerate(output)
    else:
        items = [(k, v) for k, v in output.items() if v is not None and k != "past_key_values"]
    flat = {}
    for key, value in items:
        flat.update(flatten(value, f"{prefix}.{key}"))
    return flat


def run(model, inputs, attentions=False):
    with torch.no_grad():
        return flatten(
            model(**inputs, output_hidden_states=True, output_attentions=attentions, return_dict=True)
        )


def noise(wide_model, inputs, outputs):
    """{output: largest |fp32 - fp64|}, given the same model in fp64."""
    torch.set_default_dtype(torch.float64)
    try:
        exact = run(wide_model, inputs)
    finally:
        torch.set_default_dtype(torch.float32)
    return {
        name: float(f"{(exact[name] - value.double()).abs().max().item():.2e}")
        for name, value in outputs.items()
    }


def write(path, tensors, metadata):
    """Writes {name: tensor} with string metadata, in the same bytes each time: the library orders metadata at
    random."""
    packed = safetensors.torch.save(
        {k: v.contiguous().clone() for k, v in tensors.items()}, metadata=metadata
    )
    (length,) = struct.unpack_from("<Q", packed)
    header = json.loads(packed[8 : 8 + length])
    header["__metadata__"] = dict(sorted(metadata.items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + packed[8 + length :])
