// What converters and the runtime take: a model as graphs over a checkpoint, written by one function an
// architecture.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/config.h"
#include "graph/builder.h"

namespace hf {

// What is asked of an architecture function.
struct Request {
  std::string task;          // "feature-extraction", "fill-mask", …; optimum's names
  std::string head;          // what the class name has after its architecture: "ForMaskedLM", "Model"
  bool all_outputs = false;  // also the outputs that optimum drops (pooler_output)
};

struct Part {
  std::string name;  // "model"; later "encoder_model", "decoder_with_past_model", …
  Graph graph;
};

struct Model {
  std::vector<Part> parts;
  std::shared_ptr<const Checkpoint> checkpoint;  // names repaired
  Config config;
  std::string model_type, class_name, task;
};

// One row an architecture: registry.cpp.
struct Architecture {
  std::string_view model_type;    // config.json's
  std::string_view class_prefix;  // "Bert" in BertForMaskedLM
  std::string_view base_prefix;   // what the base model's names begin with inside a model with a head: "bert"
  std::string_view help;
  // Writes the graph, from the inputs to the outputs, for a head that `heads` lists.
  void (*build)(Builder, const Config&, const Request&);
  std::span<const std::string_view> heads;
};

std::span<const Architecture> architectures();

// The task of a head ("ForMaskedLM" -> "fill-mask"), and the heads of one, first the usual.
std::string_view task_of(std::string_view head);

// A row and a head for a config: by config.architectures, else by model_type and `task`. A task that is not
// empty must fit: a base model's checkpoint may be asked for another task only where its weights are there.
// Throws Error{unsupported} naming the class and the nearest supported ones.
struct Choice {
  const Architecture* architecture = nullptr;
  Request request;
};
Choice choose(const Config& config, std::string_view task);

// Opens a model folder: config.json, weights, graph; checks that each weight is there and has its shape.
// Missing ones are listed all at once: Error{integrity}.
struct LoadOptions {
  std::string task;  // empty: from config.architectures
  bool all_outputs = false;
};
Model load_model(const std::filesystem::path& folder, const LoadOptions& options = {});
// The same from parts that are at hand (tests).
Model make_model(const Config& config, std::shared_ptr<const Checkpoint> checkpoint,
                 const LoadOptions& options);

// The graph alone, no checkpoint needed.
Graph build_graph(const Config& config, const LoadOptions& options);

// Checkpoint tensors that the model's graphs do not use, without the buffers that every reader ignores.
std::vector<std::string> unexpected_names(const Model& model);

}  // namespace hf
