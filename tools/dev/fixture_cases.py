"""The cases of make_fixtures.py: which class, which options of its configuration, which inputs.

Between them they vary what real checkpoints vary: activations, epsilons, embedding widths, head counts, tied
and untied output embeddings, the padding id, where the padding is, the number of labels, GPT-2's attention
scales.
"""

import zlib
from dataclasses import dataclass

import torch

SEED = 20240611
FIRST_WORD_ID = 5  # smaller ids are special tokens, padding among them


def generator(name):
    """A random generator that depends on the seed and the name alone."""
    made = torch.Generator()
    made.manual_seed((SEED * 1000003 + zlib.crc32(name.encode())) % 2**63)
    return made


@dataclass(frozen=True)
class Case:
    name: str
    task: str
    model_class: str  # a class of transformers
    config: dict
    inputs: dict
    storages: tuple = ()
    keep: tuple = ()  # parameters left as the library initialises them


# ----------------------------------------------------------------------------------------------------- inputs
# Attention masks are written as strings, a row each: 1 a word, 0 padding.

RIGHT = ("1" * 11, "1" * 7 + "0" * 4)
LEFT = ("1" * 11, "0" * 4 + "1" * 7)
MIDDLE = ("111100111", "110111011")
CHOICES = ("1111111", "1111110", "1111100", "1111000", "1111111", "1110000")  # [batch 2, choices 3] rows


def words(name, vocabulary, rows=RIGHT, pad=0, types=False):
    """Ids (seeded by `name`), mask and, where `types`, token types of which the second half is 1."""
    mask = torch.tensor([[int(bit) for bit in row] for row in rows])
    ids = torch.randint(FIRST_WORD_ID, vocabulary, mask.shape, generator=generator("ids:" + name))
    made = {"input_ids": torch.where(mask.bool(), ids, pad), "attention_mask": mask}
    if types:
        halves = torch.zeros_like(mask)
        halves[:, mask.shape[1] // 2 :] = 1
        made["token_type_ids"] = halves * mask
    return made


def choices(name, vocabulary, pad=0, types=False):
    """Multiple choice: [batch 2, choices 3, sequence 7]."""
    return {key: value.view(2, 3, -1) for key, value in words(name, vocabulary, CHOICES, pad, types).items()}


def mask_against_ids(name, vocabulary, pad):
    """Padding ids that are attended to and words that are not. RoBERTa counts positions by ids, not by the
    mask."""
    made = words(name, vocabulary, RIGHT, pad)
    made["input_ids"][0, 4:6] = pad
    made["input_ids"][1, 8] = FIRST_WORD_ID
    made["attention_mask"][0, 2] = 0
    return made


# ---------------------------------------------------------------- the first cases: three layers, wider shapes

BERT = {
    "vocab_size": 131,
    "hidden_size": 36,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 74,
    "max_position_embeddings": 70,
    "type_vocab_size": 2,
}
ROBERTA = BERT | {
    "vocab_size": 203,
    "type_vocab_size": 1,
    "max_position_embeddings": 72,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "layer_norm_eps": 1e-5,
}
DISTILBERT = {
    "vocab_size": 131,
    "dim": 36,
    "n_layers": 3,
    "n_heads": 3,
    "hidden_dim": 74,
    "max_position_embeddings": 70,
}
ELECTRA = BERT | {"embedding_size": 20}
GPT2 = {
    "vocab_size": 157,
    "n_positions": 48,
    "n_embd": 40,
    "n_layer": 3,
    "n_head": 5,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

# --------------------------------------------------- the later cases: two layers and few words, to stay small

SMALL_BERT = {
    "vocab_size": 61,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 40,
    "max_position_embeddings": 30,
    "type_vocab_size": 2,
}
SMALL_ALBERT = SMALL_BERT | {"embedding_size": 12, "num_hidden_layers": 4}
SMALL_ROBERTA = SMALL_BERT | {
    "type_vocab_size": 1,
    "max_position_embeddings": 34,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "layer_norm_eps": 1e-5,
}
SMALL_DISTILBERT = {
    "vocab_size": 61,
    "dim": 24,
    "n_layers": 2,
    "n_heads": 2,
    "hidden_dim": 40,
    "max_position_embeddings": 30,
}
SMALL_ELECTRA = SMALL_BERT | {"embedding_size": 14}
SMALL_GPT2 = {
    "vocab_size": 61,
    "n_positions": 30,
    "n_embd": 24,
    "n_layer": 2,
    "n_head": 3,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

EMBED = "feature-extraction"
FILL = "fill-mask"
CLASSIFY = "text-classification"
TAG = "token-classification"
ANSWER = "question-answering"
CHOOSE = "multiple-choice"
NEXT = "next-sentence-prediction"
PRETRAIN = "pretraining"
GENERATE = "text-generation"

FIRST_CASES = [
    Case("bert-base", EMBED, "BertModel", BERT, words("bert", 131, types=True)),
    Case("bert-qa", ANSWER, "BertForQuestionAnswering", BERT, words("bertqa", 131, types=True)),
    Case(
        "bert-seqcls",
        CLASSIFY,
        "BertForSequenceClassification",
        BERT | {"num_labels": 5, "hidden_act": "gelu_new"},
        words("bertsc", 131, types=True),
        storages=("safetensors-sharded", "fp16"),
    ),
    Case("bert-nsp", NEXT, "BertForNextSentencePrediction", BERT, words("bertnsp", 131, types=True)),
    Case(
        "bert-tokcls",
        TAG,
        "BertForTokenClassification",
        BERT | {"num_labels": 7, "hidden_act": "relu"},
        words("berttc", 131, types=True),
    ),
    Case("bert-mlm", FILL, "BertForMaskedLM", BERT, words("bertmlm", 131, types=True)),
    Case("bert-pretraining", PRETRAIN, "BertForPreTraining", BERT, words("bertpt", 131, types=True)),
    Case("roberta-mlm", FILL, "RobertaForMaskedLM", ROBERTA, words("rob", 203, pad=1)),
    Case(
        "roberta-seqcls",
        CLASSIFY,
        "RobertaForSequenceClassification",
        ROBERTA | {"num_labels": 3},
        words("robsc", 203, pad=1),
    ),
    Case(
        "xlm-roberta-tokcls",
        TAG,
        "XLMRobertaForTokenClassification",
        ROBERTA | {"num_labels": 9},
        words("xlmr", 203, pad=1),
    ),
    Case("xlm-roberta-mlm", FILL, "XLMRobertaForMaskedLM", ROBERTA, words("xlmrmlm", 203, pad=1)),
    Case(
        "distilbert-seqcls",
        CLASSIFY,
        "DistilBertForSequenceClassification",
        DISTILBERT | {"num_labels": 2},
        words("dbsc", 131),
    ),
    Case("distilbert-mlm", FILL, "DistilBertForMaskedLM", DISTILBERT, words("dbmlm", 131)),
    Case("electra-discriminator", PRETRAIN, "ElectraForPreTraining", ELECTRA, words("elec", 131, types=True)),
    Case("electra-mlm", FILL, "ElectraForMaskedLM", ELECTRA, words("elecmlm", 131, types=True)),
    # Lengths are such that no query, padded or not, has all its keys masked: such rows differ by
    # implementation.
    Case("gpt2-lm", GENERATE, "GPT2LMHeadModel", GPT2, words("gpt2", 157), storages=("safetensors-sharded",)),
]


def small(name, task, model_class, base, inputs=words, keep=(), input_options=None, **options):
    """A small case whose inputs are seeded by its own name."""
    pad = base.get("pad_token_id", 0) if "pad_token_id" not in options else options["pad_token_id"]
    typed = base.get("type_vocab_size", 0) > 1 and model_class.startswith(("Albert", "Bert", "Electra"))
    input_options = dict(input_options or {}) | ({"types": True} if typed else {})
    made = inputs(name, base["vocab_size"], pad=pad, **input_options)
    return Case(name, task, model_class, base | options, made, keep=keep)


def small_bert_cases():
    base = SMALL_BERT
    yield small("bert-mc", CHOOSE, "BertForMultipleChoice", base, choices, layer_norm_eps=1e-3)
    yield small(
        "bert-mlm-untied", FILL, "BertForMaskedLM", base, tie_word_embeddings=False, hidden_act="relu"
    )
    yield small(
        "bert-seqcls-regression",
        CLASSIFY,
        "BertForSequenceClassification",
        base,
        input_options={"rows": LEFT},
        num_labels=1,
        problem_type="regression",
        classifier_dropout=0.3,
        num_attention_heads=4,
        pad_token_id=3,
    )


def small_roberta_cases():
    base = SMALL_ROBERTA
    left, middle = {"rows": LEFT}, {"rows": MIDDLE}
    yield small("roberta-base", EMBED, "RobertaModel", base, input_options=left, layer_norm_eps=1e-3)
    yield small("roberta-tokcls", TAG, "RobertaForTokenClassification", base, mask_against_ids, num_labels=5)
    yield small(
        "roberta-qa",
        ANSWER,
        "RobertaForQuestionAnswering",
        base,
        input_options=middle,
        hidden_act="gelu_new",
        pad_token_id=0,
        bos_token_id=1,
    )
    yield small("roberta-mc", CHOOSE, "RobertaForMultipleChoice", base, choices, hidden_act="relu")
    yield small("xlm-roberta-base", EMBED, "XLMRobertaModel", base, input_options=middle, pad_token_id=3)
    yield small(
        "xlm-roberta-seqcls",
        CLASSIFY,
        "XLMRobertaForSequenceClassification",
        base,
        input_options=left,
        num_labels=4,
        classifier_dropout=0.2,
    )
    yield small("xlm-roberta-qa", ANSWER, "XLMRobertaForQuestionAnswering", base, num_attention_heads=3)
    yield small("xlm-roberta-mc", CHOOSE, "XLMRobertaForMultipleChoice", base, choices, pad_token_id=2)
    yield small("camembert-base", EMBED, "CamembertModel", base)
    yield small("camembert-mlm", FILL, "CamembertForMaskedLM", base, tie_word_embeddings=False)
    yield small(
        "camembert-seqcls",
        CLASSIFY,
        "CamembertForSequenceClassification",
        base,
        num_labels=6,
        problem_type="multi_label_classification",
    )
    tag = "CamembertForTokenClassification"
    yield small("camembert-tokcls", TAG, tag, base, input_options=middle, num_labels=3, layer_norm_eps=1e-12)
    yield small("camembert-qa", ANSWER, "CamembertForQuestionAnswering", base, hidden_act="relu")
    yield small("camembert-mc", CHOOSE, "CamembertForMultipleChoice", base, choices)


def small_distilbert_cases():
    base = SMALL_DISTILBERT
    yield small(
        "distilbert-base",
        EMBED,
        "DistilBertModel",
        base,
        keep=("position_embeddings",),
        sinusoidal_pos_embds=True,
        activation="relu",
    )
    yield small(
        "distilbert-mlm-untied",
        FILL,
        "DistilBertForMaskedLM",
        base,
        tie_word_embeddings=False,
        pad_token_id=2,
    )
    yield small(
        "distilbert-tokcls",
        TAG,
        "DistilBertForTokenClassification",
        base,
        input_options={"rows": LEFT},
        num_labels=5,
        activation="gelu_new",
    )
    yield small("distilbert-qa", ANSWER, "DistilBertForQuestionAnswering", base, n_heads=4)
    yield small("distilbert-mc", CHOOSE, "DistilBertForMultipleChoice", base, choices)


def small_albert_cases():
    base = SMALL_ALBERT
    two_groups = base | {"num_hidden_groups": 2, "inner_group_num": 2}
    yield small("albert-base", EMBED, "AlbertModel", base)
    yield small("albert-mlm", FILL, "AlbertForMaskedLM", two_groups)
    yield small("albert-pretraining", PRETRAIN, "AlbertForPreTraining", base, hidden_act="gelu")
    yield small(
        "albert-seqcls", CLASSIFY, "AlbertForSequenceClassification", two_groups, num_labels=3, hidden_act="relu"
    )
    yield small("albert-tokcls", TAG, "AlbertForTokenClassification", base, num_labels=5, layer_norm_eps=1e-3)
    yield small("albert-qa", ANSWER, "AlbertForQuestionAnswering", base, num_attention_heads=3)
    yield small("albert-mc", CHOOSE, "AlbertForMultipleChoice", base, choices)


def small_electra_cases():
    base = SMALL_ELECTRA
    same_width = base | {"embedding_size": 24}
    yield small("electra-base", EMBED, "ElectraModel", base, hidden_act="gelu_new")
    yield small("electra-mlm-untied", FILL, "ElectraForMaskedLM", same_width, tie_word_embeddings=False)
    yield small(
        "electra-seqcls",
        CLASSIFY,
        "ElectraForSequenceClassification",
        same_width,
        num_labels=4,
        hidden_act="relu",
        classifier_dropout=0.1,
    )
    yield small(
        "electra-tokcls",
        TAG,
        "ElectraForTokenClassification",
        base,
        input_options={"rows": MIDDLE},
        num_labels=6,
        layer_norm_eps=1e-3,
    )
    yield small("electra-qa", ANSWER, "ElectraForQuestionAnswering", same_width, num_attention_heads=3)
    choose = "ElectraForMultipleChoice"
    yield small("electra-mc", CHOOSE, choose, base, choices)
    yield small("electra-mc-mean", CHOOSE, choose, base, choices, summary_type="mean", summary_use_proj=False)
    yield small(
        "electra-mc-last", CHOOSE, choose, base, choices, summary_type="last", summary_activation="tanh"
    )


def small_gpt2_cases():
    base = SMALL_GPT2
    yield small("gpt2-base", EMBED, "GPT2Model", base, n_inner=52, layer_norm_epsilon=1e-3)
    yield small(
        "gpt2-lm-untied",
        GENERATE,
        "GPT2LMHeadModel",
        base,
        tie_word_embeddings=False,
        scale_attn_weights=False,
    )
    yield small(
        "gpt2-seqcls",
        CLASSIFY,
        "GPT2ForSequenceClassification",
        base,
        input_options={"rows": ("1" * 11, "11101110000")},
        num_labels=4,
        pad_token_id=3,
        activation_function="relu",
    )
    yield small(
        "gpt2-tokcls",
        TAG,
        "GPT2ForTokenClassification",
        base,
        num_labels=5,
        scale_attn_by_inverse_layer_idx=True,
        activation_function="gelu",
    )
    yield small("gpt2-qa", ANSWER, "GPT2ForQuestionAnswering", base, reorder_and_upcast_attn=True)


CASES = [
    *FIRST_CASES,
    *small_bert_cases(),
    *small_roberta_cases(),
    *small_distilbert_cases(),
    *small_albert_cases(),
    *small_electra_cases(),
    *small_gpt2_cases(),
]
