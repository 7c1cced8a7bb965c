// The table of architectures: one row each.
#include <algorithm>

#include "arch/arch.h"
#include "arch/heads.h"
#include "base/error.h"
#include "base/escape.h"

namespace hf {

void bert(Builder, const Config&, const Request&);
void distilbert(Builder, const Config&, const Request&);
void electra(Builder, const Config&, const Request&);
void gpt2(Builder, const Config&, const Request&);
void roberta(Builder, const Config&, const Request&);

namespace {

constexpr std::string_view kBertHeads[] = {"Model",
                                           "ForMaskedLM",
                                           "ForPreTraining",
                                           "ForNextSentencePrediction",
                                           "ForSequenceClassification",
                                           "ForTokenClassification",
                                           "ForQuestionAnswering",
                                           "ForMultipleChoice"};
constexpr std::string_view kEncoderHeads[] = {"Model",
                                              "ForMaskedLM",
                                              "ForSequenceClassification",
                                              "ForTokenClassification",
                                              "ForQuestionAnswering",
                                              "ForMultipleChoice"};
constexpr std::string_view kElectraHeads[] = {"Model",
                                              "ForMaskedLM",
                                              "ForPreTraining",
                                              "ForSequenceClassification",
                                              "ForTokenClassification",
                                              "ForQuestionAnswering",
                                              "ForMultipleChoice"};
constexpr std::string_view kGpt2Heads[] = {"LMHeadModel", "Model", "ForSequenceClassification",
                                           "ForTokenClassification", "ForQuestionAnswering"};

constexpr Architecture kArchitectures[] = {
    {"bert", "Bert", "bert", "BERT encoders", bert, kBertHeads},
    {"camembert", "Camembert", "roberta", "CamemBERT encoders", roberta, kEncoderHeads},
    {"distilbert", "DistilBert", "distilbert", "DistilBERT encoders", distilbert, kEncoderHeads},
    {"electra", "Electra", "electra", "ELECTRA discriminators and generators", electra, kElectraHeads},
    {"gpt2", "GPT2", "transformer", "GPT-2 decoders, without cache", gpt2, kGpt2Heads},
    {"roberta", "Roberta", "roberta", "RoBERTa encoders", roberta, kEncoderHeads},
    {"xlm-roberta", "XLMRoberta", "roberta", "XLM-RoBERTa encoders", roberta, kEncoderHeads},
};

std::string class_name(const Architecture& a, std::string_view head) {
  return std::string(a.class_prefix) + std::string(head);
}

// Levenshtein's distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t kept = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, kept});
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view wanted) {
  std::vector<std::pair<std::size_t, std::string>> all;
  for (const Architecture& a : kArchitectures)
    for (const std::string_view head : a.heads)
      all.emplace_back(distance(wanted.substr(0, 100), class_name(a, head)), class_name(a, head));
  std::sort(all.begin(), all.end());
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i)
    out += (i > 0 ? ", " : "") + all[i].second;
  return out;
}

Choice with_task(const Config& config, const Architecture& a, std::string_view task) {
  for (const Head& head : kHeads)
    if (head.task == task && std::find(a.heads.begin(), a.heads.end(), head.name) != a.heads.end())
      return {&a, {std::string(task), std::string(head.name), false}};
  std::string tasks;
  for (const std::string_view head : a.heads)
    tasks += (tasks.empty() ? "" : ", ") + std::string(task_of(head));
  throw Error(ErrorKind::unsupported, config.subject() + ": " + std::string(a.model_type) + " has no task " +
                                          in_quotes(task) + ", one of " + tasks + " is expected");
}

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

std::string_view task_of(std::string_view head) {
  for (const Head& row : kHeads)
    if (row.name == head) return row.task;
  return {};
}

Choice choose(const Config& config, std::string_view task) {
  const std::vector<std::string> classes = config.texts("architectures");
  const std::string type = config.text("model_type", "");
  if (!classes.empty()) {
    for (const Architecture& a : kArchitectures)
      for (const std::string_view head : a.heads)
        if (classes[0] == class_name(a, head))
          return task.empty() ? Choice{&a, {std::string(task_of(head)), std::string(head), false}}
                              : with_task(config, a, task);
  }
  for (const Architecture& a : kArchitectures)
    if (a.model_type == type && (classes.empty() || !task.empty()))
      return with_task(config, a, task.empty() ? "feature-extraction" : task);
  const std::string wanted = classes.empty() ? type : classes[0];
  if (wanted.empty())
    throw Error(ErrorKind::integrity,
                config.subject() + ": has neither \"architectures\" nor \"model_type\"");
  throw Error(ErrorKind::unsupported, config.subject() + ": " + (classes.empty() ? "model type " : "class ") +
                                          in_quotes(wanted) + " is not supported; the nearest are " +
                                          nearest(wanted));
}

}  // namespace hf
