// The rows of the table of heads: what a class name has after its architecture, and optimum's name of the
// task.
#pragma once
#include <string_view>

namespace hf {

struct Head {
  std::string_view name, task;
};
// In the order in which a task's usual head comes first.
inline constexpr Head kHeads[] = {
    {"Model", "feature-extraction"},
    {"ForMaskedLM", "fill-mask"},
    {"LMHeadModel", "text-generation"},
    {"ForSequenceClassification", "text-classification"},
    {"ForTokenClassification", "token-classification"},
    {"ForQuestionAnswering", "question-answering"},
    {"ForNextSentencePrediction", "next-sentence-prediction"},
    {"ForMultipleChoice", "multiple-choice"},
    {"ForPreTraining", "pretraining"},
};

}  // namespace hf
