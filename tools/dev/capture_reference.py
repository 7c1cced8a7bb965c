#!/usr/bin/env python3
"""Capture what transformers computes for a model, for `hfvalidate compare` to check a conversion against.

MODEL is a folder or a repo id. It is run once, in fp32 with eager attention, on a padded batch of tokenized
text (or of seeded ids, where the model has no tokenizer) and once in fp64. The file holds

    inputs.NAME                   what the model was given, int64
    outputs.NAME                  what it returned
    outputs.hidden_states.N       the embeddings' output (0) and each layer's

and as metadata class, task, torch, transformers and, for each output, noise.NAME: the largest difference
between fp32 and fp64. Another correct implementation may be as far off.

examples:
    capture_reference.py ./my-bert -o reference.safetensors
    capture_reference.py sentence-transformers/all-MiniLM-L6-v2 -o ref.safetensors --text "A quay." "A boat."
    capture_reference.py ./my-bert -o ref.safetensors --task question-answering --text "Who?" "Ada was here."
"""

import argparse
import inspect
import sys
from pathlib import Path

import torch
import transformers

import reference

AUTO_CLASSES = {
    "feature-extraction": "AutoModel",
    "fill-mask": "AutoModelForMaskedLM",
    "text-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
    "multiple-choice": "AutoModelForMultipleChoice",
    "next-sentence-prediction": "AutoModelForNextSentencePrediction",
    "text-generation": "AutoModelForCausalLM",
    "pretraining": "AutoModelForPreTraining",
}
PAIRED_TASKS = ("question-answering", "next-sentence-prediction")

SENTENCES = ["The ferry leaves the old quay at noon, wind permitting.", "A heron waits."]
PAIRS = ["Where does the ferry leave?", "It leaves the old quay at noon.", "Who waits?", "A heron."]
QUESTION_AND_CHOICES = [
    "The tide is out.",
    "The boat lies on the mud.",
    "It rains.",
    "The heron fishes in the pool.",
]


def task_of(model):
    """The task whose auto class would have picked this class."""
    for task, name in AUTO_CLASSES.items():
        names = getattr(transformers, name)._model_mapping._model_mapping  # {model type: class name(s)}
        if type(model).__name__ == names.get(model.config.model_type):
            return task
    raise LookupError(f"{type(model).__name__}: belongs to no task of {', '.join(AUTO_CLASSES)}; give --task")


def load_model(source, task):
    """The class that config.json names, or the task's; (model, a function that loads the same in fp64)."""
    if task:
        cls = getattr(transformers, AUTO_CLASSES[task])
    else:
        named = transformers.AutoConfig.from_pretrained(source).architectures
        if not named or not hasattr(transformers, named[0]):
            raise LookupError(
                f"{source}: config.json names no class of transformers {named or ''}; give --task"
            )
        cls = getattr(transformers, named[0])
    options = {}
    try:
        model = reference.load(cls, source)
    except reference.MissingWeightsError as error:
        # A base model cut from one with another head has no pooler of its own.
        if not all(".pooler." in f".{name}" for name in error.names):
            raise
        options["add_pooling_layer"] = False
        model = reference.load(cls, source, **options)
    if getattr(model.config, "reorder_and_upcast_attn", False):
        options["reorder_and_upcast_attn"] = False  # the same arithmetic, which refuses to run in fp64
    return model, lambda: reference.load(type(model), source, torch.float64, **options)


def load_tokenizer(source, config):
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError, KeyError, TypeError):  # the library's ways of saying that there is none
        print(f"{source}: no tokenizer found, seeded ids are used", file=sys.stderr)
        return None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
        if config.pad_token_id is not None:
            tokenizer.pad_token = tokenizer.convert_ids_to_tokens(config.pad_token_id)
    return tokenizer


def longest(config):
    """Tokens a row may have. RoBERTa's positions start after the padding id."""
    limit = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 512
    return limit - 2 if config.model_type in ("roberta", "xlm-roberta", "camembert") else limit


def tokenized(tokenizer, task, texts, config):
    """{name: ids}, [batch, sequence], or [1, choices, sequence] for multiple choice."""
    layout = {"padding": True, "truncation": True, "max_length": longest(config), "return_tensors": "pt"}
    if task == "multiple-choice":
        question, *choices = texts or QUESTION_AND_CHOICES
        made = tokenizer([question] * len(choices), choices, **layout)
        return {name: ids.unsqueeze(0) for name, ids in made.items()}
    if task in PAIRED_TASKS:
        texts = texts or PAIRS
        if len(texts) % 2:
            raise ValueError(f"--text: {len(texts)} texts, but {task} takes them two by two")
        return dict(tokenizer(texts[::2], texts[1::2], **layout))
    if not texts:
        texts = SENTENCES
        if task == "fill-mask" and tokenizer.mask_token:
            texts = [texts[0].replace("old", tokenizer.mask_token), texts[1]]
    return dict(tokenizer(texts, **layout))


def seeded(task, config):
    """Ids without a tokenizer: rows of 12 and 8, padded on the right."""
    shape = (1, 2, 12) if task == "multiple-choice" else (2, 12)
    ids = torch.randint(5, config.vocab_size, shape, generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[..., 1, 8:] = 0
    return {"input_ids": torch.where(mask.bool(), ids, config.pad_token_id or 0), "attention_mask": mask}


def inputs_for(model, source, task, texts):
    config = model.config
    tokenizer = load_tokenizer(source, config)
    if tokenizer is None and texts:
        raise LookupError(f"{source}: --text was given, but the model has no tokenizer")
    made = tokenized(tokenizer, task, texts, config) if tokenizer else seeded(task, config)
    if config.model_type == "gpt2" and config.pad_token_id is None and task == "text-classification":
        # GPT-2's classifier finds the last word by the padding id, and without one takes a single row only.
        made = {name: ids[:1] for name, ids in made.items()}
    accepted = inspect.signature(model.forward).parameters
    return {name: ids for name, ids in made.items() if name in accepted}


def capture(source, output, task, texts):
    model, load_wide = load_model(source, task)
    task = task or task_of(model)
    inputs = inputs_for(model, source, task, texts)
    outputs = reference.run(model, inputs)
    noise = reference.noise(load_wide(), inputs, outputs)
    metadata = {
        "class": type(model).__name__,
        "task": task,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    metadata |= {f"noise.{name.removeprefix('outputs.')}": f"{value:.2e}" for name, value in noise.items()}
    reference.write(output, {f"inputs.{name}": ids for name, ids in inputs.items()} | outputs, metadata)
    for name, value in outputs.items():
        print(f"{name:28} {list(value.shape)!s:18} noise {noise[name]:.1e}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", metavar="MODEL", help="a folder or a repo id")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--task", choices=AUTO_CLASSES, help="default: that of the class which config.json names"
    )
    parser.add_argument(
        "--text",
        nargs="+",
        metavar="TEXT",
        default=[],
        help="rows of the batch; for question-answering"
        " and next-sentence-prediction two a row; for multiple-choice a question and its choices",
    )
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    torch.manual_seed(0)
    try:
        capture(options.model, options.output, options.task, options.text)
    except (LookupError, OSError, ValueError) as error:
        print(f"capture_reference: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
