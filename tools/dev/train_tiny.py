#!/usr/bin/env python3
"""Train the small masked language model of examples/tiny-bert.

A BertForMaskedLM of about a million parameters and its WordPiece tokenizer, trained on sentences of
tiny_corpus.py in a few minutes on a processor. Writes config.json, model.safetensors, the tokenizer's files
and the model card, README.md, with the accuracy reached.

Training is seeded: with the tokenizer that lies in --out, the same versions on the same kind of processor
give the same weights. The tokenizer's own training breaks ties at random, so one that is there is kept;
remove tokenizer.json to have a new one.
"""

import argparse
import json
import os
import random
import sys
import textwrap
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import tiny_corpus

SEED = 7
TRAINING_SENTENCES = 40_000
HELD_OUT_SENTENCES = 1_000
MAX_TOKENS = 48
MAX_POSITIONS = 128
MASKED_SHARE = 0.15
CARD_WIDTH = 110
IGNORED = -100  # the label that transformers' loss leaves out
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PROBES = [
    "the carpenter cuts planks with a [MASK] .",
    "the otter lives in the river bank and eats [MASK] .",
    "a young goose is called a [MASK] .",
    "the schooner carries [MASK] from Northaven to Marrick .",
    "Amberford lies by a [MASK] .",
    "hot is the opposite of [MASK] .",
    "three and four make [MASK] .",
]


def make_texts(rng):
    """(training, held out): sentences that differ, the second never seen in training."""
    training = [tiny_corpus.sentence(rng) for _ in range(TRAINING_SENTENCES)]
    seen = set(training)
    held_out = []
    while len(held_out) < HELD_OUT_SENTENCES:
        candidate = tiny_corpus.sentence(rng)
        if candidate not in seen:
            held_out.append(candidate)
    training += 20 * tiny_corpus.prose_sentences()
    rng.shuffle(training)
    return training, held_out


def tokenizer_for(texts, folder, vocabulary):
    """The one in `folder`, else one trained on the texts."""
    if (folder / "tokenizer.json").exists():
        return transformers.BertTokenizerFast.from_pretrained(folder)
    return train_tokenizer(texts, vocabulary)


def train_tokenizer(texts, vocabulary):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=SPECIAL, min_frequency=1, show_progress=False
    )
    tokenizer.train_from_iterator(sorted(set(texts)), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return transformers.BertTokenizerFast(tokenizer_object=tokenizer, model_max_length=MAX_POSITIONS)


def encode(tokenizer, texts):
    """A third of the texts alone, the others two a row: {input_ids, attention_mask, token_type_ids}, each
    [rows, tokens]."""
    alone, paired = texts[: len(texts) // 3], texts[len(texts) // 3 :]
    layout = {"padding": "max_length", "truncation": True, "max_length": MAX_TOKENS, "return_tensors": "pt"}
    single = tokenizer(alone, **layout)
    double = tokenizer(paired[: len(paired) // 2], paired[len(paired) // 2 :][: len(paired) // 2], **layout)
    return {name: torch.cat([single[name], double[name]]) for name in single}


def mask_tokens(ids, special_ids, mask_id, vocabulary, generator):
    """BERT's corruption: of 15 % of the words 80 % become [MASK], 10 % another word, 10 % stay.
    Returns (ids, labels)."""
    words = ~torch.isin(ids, special_ids)
    chosen = (torch.rand(ids.shape, generator=generator) < MASKED_SHARE) & words
    labels = torch.where(chosen, ids, IGNORED)
    fate = torch.rand(ids.shape, generator=generator)
    strangers = torch.randint(len(SPECIAL), vocabulary, ids.shape, generator=generator)
    corrupted = torch.where(chosen & (fate < 0.8), mask_id, ids)
    corrupted = torch.where(chosen & (fate >= 0.9), strangers, corrupted)
    return corrupted, labels


def batch_of(encoded, rows, tokenizer, generator):
    """One batch, cut to its longest row, with the labels of its masked words."""
    length = int(encoded["attention_mask"][rows].sum(-1).max())
    batch = {name: value[rows, :length] for name, value in encoded.items()}
    special = torch.tensor(tokenizer.all_special_ids)
    batch["input_ids"], labels = mask_tokens(
        batch["input_ids"], special, tokenizer.mask_token_id, len(tokenizer), generator
    )
    return batch, labels


def train(model, tokenizer, encoded, steps, batch_size, peak_rate):
    generator = torch.Generator().manual_seed(SEED)
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak_rate, weight_decay=0.01, betas=(0.9, 0.98))
    warm = max(1, steps // 10)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, warm, steps)
    rows = len(encoded["input_ids"])
    model.train()
    start = time.monotonic()
    for step in range(steps):
        chosen = torch.randint(rows, (batch_size,), generator=generator)
        batch, labels = batch_of(encoded, chosen, tokenizer, generator)
        loss = model(**batch, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 100 == 0 or step == steps - 1:
            print(f"step {step:5}  loss {loss.item():.3f}  {time.monotonic() - start:.0f} s", flush=True)
    model.eval()


def accuracy(model, tokenizer, encoded):
    """(share of masked words that the model names, share that naming always the commonest word would get)."""
    generator = torch.Generator().manual_seed(SEED + 1)
    hits, truths = 0, []
    with torch.no_grad():
        for rows in torch.arange(len(encoded["input_ids"])).split(100):
            batch, labels = batch_of(encoded, rows, tokenizer, generator)
            at = labels != IGNORED
            hits += (model(**batch).logits[at].argmax(-1) == labels[at]).sum().item()
            truths.append(labels[at])
    truths = torch.cat(truths)
    return hits / len(truths), truths.bincount().max().item() / len(truths)


def answers(model, tokenizer):
    """The likeliest word at each probe's mask, with its probability."""
    found = []
    for text in PROBES:
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            logits = model(**inputs).logits[inputs["input_ids"] == tokenizer.mask_token_id][0]
        probability, word = logits.softmax(-1).max(-1)
        found.append((text, tokenizer.decode(word), probability.item()))
    return found


CARD = """---
license: apache-2.0
language: en
library_name: transformers
pipeline_tag: fill-mask
---

# tiny-bert

A BERT small enough to live in a source tree: {parameters:,} parameters, {layers} layers of width {width},
{tokens:,} WordPiece tokens. It knows a made-up harbour town, its trades, tools, animals and ships, and
nothing else. It is there to be downloaded, converted and validated in seconds; it is of no other use.

**How it was made.** `tools/dev/train_tiny.py` (seed {seed}; {steps:,} steps of {batch_size} rows with AdamW
on a processor) on sentences that `tools/dev/tiny_corpus.py` builds from tables of facts, and a few paragraphs
of prose. All of the text was written for this project; no other data was used.

**What it reached.** Of the words masked as in BERT's training (15 %, four in five shown as [MASK]) in
{held_out:,} held-out sentences it names {reached:.1%}. Always naming the commonest word would give
{chance:.1%}. Many of the others cannot be known: which day it was, or who saw the otter.

| sentence | its answer | probability |
|---|---|---|
{answers}

**Files.** `reference.safetensors` holds transformers' outputs for a padded batch of such sentences, in fp32
with eager attention, as written by `tools/dev/capture_reference.py`: what `hfvalidate compare` checks a
conversion against.

**Licence.** Apache-2.0, weights and text.
"""


def card(model, tokenizer, results, options):
    """The model card: CARD filled in, its paragraphs wrapped anew."""
    reached, chance, found = results
    rows = "\n".join(f"| {text} | {word} | {probability:.0%} |" for text, word, probability in found)
    text = CARD.format(
        parameters=model.num_parameters(),
        layers=model.config.num_hidden_layers,
        width=model.config.hidden_size,
        tokens=len(tokenizer),
        seed=SEED,
        steps=options.steps,
        batch_size=options.batch_size,
        held_out=HELD_OUT_SENTENCES,
        reached=reached,
        chance=chance,
        answers=rows,
    )
    blocks = text.split("\n\n")
    wrapped = [b if b.startswith(("---", "|")) else textwrap.fill(b, CARD_WIDTH) for b in blocks]
    return "\n\n".join(wrapped).rstrip() + "\n"


def main():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=root / "examples/tiny-bert", metavar="DIR")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch-size", type=int, default=48)
    parser.add_argument("--learning-rate", type=float, default=2e-3, help="at its peak")
    parser.add_argument(
        "--vocabulary", type=int, default=2048, help="at most this many tokens, in a new tokenizer"
    )
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    training, held_out = make_texts(rng)
    tokenizer = tokenizer_for(training, options.out, options.vocabulary)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=384,
        max_position_embeddings=MAX_POSITIONS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = transformers.BertForMaskedLM(config)
    print(f"{model.num_parameters():,} parameters, {len(tokenizer):,} tokens", flush=True)
    train(
        model,
        tokenizer,
        encode(tokenizer, training),
        options.steps,
        options.batch_size,
        options.learning_rate,
    )
    reached, chance = accuracy(model, tokenizer, encode(tokenizer, held_out))
    found = answers(model, tokenizer)
    print(json.dumps({"masked_accuracy": reached, "commonest_word": chance, "probes": found}, indent=1))

    # As in published checkpoints: dropout is a default of training, and plays no part in inference.
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.1
    model.save_pretrained(options.out, safe_serialization=True)
    (options.out / "model.safetensors").chmod(0o644)
    if not (options.out / "tokenizer.json").exists():
        tokenizer.save_pretrained(options.out)
    results = (reached, chance, found)
    (options.out / "README.md").write_text(card(model, tokenizer, results, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
