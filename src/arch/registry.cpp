// The table of architectures: one row each.
#include <algorithm>

#include "arch/arch.h"
#include "arch/heads.h"
#include "base/error.h"
#include "base/escape.h"

namespace hf {

void albert(Builder, const Config&, const Request&);
void bert(Builder, const Config&, const Request&);
void distilbert(Builder, const Config&, const Request&);
void electra(Builder, const Config&, const Request&);
void gpt2(Builder, const Config&, const Request&);
void roberta(Builder, const Config&, const Request&);
void xlm_roberta(Builder, const Config&, const Request&);

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
    {"albert", "Albert", "albert", "ALBERT encoders", albert, kElectraHeads},
    {"bert", "Bert", "bert", "BERT encoders", bert, kBertHeads},
    {"camembert", "Camembert", "roberta", "CamemBERT encoders", xlm_roberta, kEncoderHeads},
    {"distilbert", "DistilBert", "distilbert", "DistilBERT encoders", distilbert, kEncoderHeads},
    {"electra", "Electra", "electra", "ELECTRA discriminators and generators", electra, kElectraHeads},
    {"gpt2", "GPT2", "transformer", "GPT-2 decoders, without cache", gpt2, kGpt2Heads},
    {"roberta", "Roberta", "roberta", "RoBERTa encoders", roberta, kEncoderHeads},
    {"xlm-roberta", "XLMRoberta", "roberta", "XLM-RoBERTa encoders", xlm_roberta, kEncoderHeads},
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

// The three names among `known` that are most like `wanted`.
std::string nearest(std::string_view wanted, const std::vector<std::string>& known) {
  std::vector<std::pair<std::size_t, std::string>> all;
  all.reserve(known.size());
  for (const std::string& name : known) all.emplace_back(distance(wanted.substr(0, 100), name), name);
  std::sort(all.begin(), all.end());
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i)
    out += (i > 0 ? ", " : "") + all[i].second;
  return out;
}

[[noreturn]] void refuse_class(const Config& config, const std::string& name) {
  std::vector<std::string> known;
  for (const Architecture& a : kArchitectures)
    for (const std::string_view head : a.heads) known.push_back(class_name(a, head));
  throw Error(ErrorKind::unsupported, config.subject() + ": class " + in_quotes(name) +
                                          " is not supported; the nearest are " + nearest(name, known));
}

[[noreturn]] void refuse_type(const Config& config, const std::string& type) {
  std::vector<std::string> known;
  for (const Architecture& a : kArchitectures) known.emplace_back(a.model_type);
  throw Error(ErrorKind::unsupported, config.subject() + ": model type " + in_quotes(type) +
                                          " is not supported; the nearest are " + nearest(type, known));
}

bool has_head(const Architecture& a, std::string_view head) {
  return std::find(a.heads.begin(), a.heads.end(), head) != a.heads.end();
}

Choice with_task(const Config& config, const Architecture& a, std::string_view task) {
  for (const Head& head : kHeads)
    if (head.task == task && has_head(a, head.name))
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
  const Architecture* row = nullptr;  // of the type, else of the class
  std::string_view head;
  for (const Architecture& a : kArchitectures)
    if (a.model_type == type) row = &a;
  for (const Architecture& a : kArchitectures)
    for (const std::string_view h : a.heads)
      if (!classes.empty() && classes[0] == class_name(a, h)) {
        head = h;
        if (row == nullptr && type.empty()) row = &a;
      }
  if (classes.empty() && type.empty())
    throw Error(ErrorKind::integrity,
                config.subject() + ": has neither \"architectures\" nor \"model_type\"");
  // A type that is not known decides even where the class is: Megatron-BERT's files name BertForMaskedLM.
  if (row == nullptr && (classes.empty() || !head.empty())) refuse_type(config, type);
  if (row == nullptr) refuse_class(config, classes[0]);
  if (!task.empty()) return with_task(config, *row, task);
  if (classes.empty()) return with_task(config, *row, "feature-extraction");
  // Where type and class disagree transformers' AutoModel follows the type; so do we, with the class's head.
  if (head.empty() || !has_head(*row, head)) refuse_class(config, classes[0]);
  return {row, {std::string(task_of(head)), std::string(head), false}};
}

}  // namespace hf
