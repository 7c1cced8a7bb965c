#include <algorithm>
#include <map>
#include <set>

#include "arch/arch.h"
#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

// What readers of Hugging Face's files ignore: buffers that transformers makes itself, counters.
constexpr std::string_view kIgnoredEnds[] = {"position_ids",        "token_type_ids",
                                             ".attn.bias",          ".attn.masked_bias",
                                             "num_batches_tracked", "rotary_emb.inv_freq"};

constexpr std::size_t kListed = 10;  // names that a message shows

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(kListed, names.size()); ++i)
    out += (i > 0 ? ", " : "") + in_quotes(names[i]);
  if (names.size() > kListed) out += " and " + std::to_string(names.size() - kListed) + " more";
  return out;
}

template <class F>
void for_each_weight(const Graph& graph, F&& f) {
  for (const Node& node : graph.nodes)
    if (const auto* weight = std::get_if<Weight>(&node.op)) f(*weight, node);
}

std::string wrong_shape(const Checkpoint& checkpoint, const std::string& name, const Weight& weight,
                        const Node& node) {
  const Sizes stored = checkpoint.info(name).shape;
  const std::string expected = to_string(node.outputs[0].shape);
  try {
    const Sizes got = shape_of(weight.ref.view, stored);
    if (to_shape(got) == node.outputs[0].shape) return {};
    return "tensor " + in_quotes(name) + " has shape " + to_string(stored) +
           (weight.ref.view.is_identity() ? "" : ", a part of it " + to_string(got)) + ", " + expected +
           " is expected";
  } catch (const Error&) {
    return "tensor " + in_quotes(name) + " has shape " + to_string(stored) + ", which has no part of shape " +
           expected;
  }
}

// How far the model's views reach into one stored tensor, axis by axis.
struct Reach {
  Sizes stored, used;

  void add(const View& view) {
    used.resize(stored.size(), 0);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const auto range = std::find_if(view.ranges.begin(), view.ranges.end(),
                                      [&](const AxisRange& r) { return r.axis == static_cast<int>(i); });
      used[i] = std::max(used[i], range == view.ranges.end() ? stored[i] : range->end);
    }
  }
};

// Parts of a fused tensor each fit one that is too long: it must be used to its end.
class Reaches {
 public:
  void add(const Checkpoint& checkpoint, const std::string& name, const View& view) {
    Reach& reach = reaches_[name];
    reach.stored = view.reshape.empty() ? checkpoint.info(name).shape : view.reshape;
    reach.add(view);
  }
  void list_short(std::vector<std::string>& wrong) const {
    for (const auto& [name, reach] : reaches_)
      if (reach.used != reach.stored)
        wrong.push_back("tensor " + in_quotes(name) + " has shape " + to_string(reach.stored) + ", " +
                        to_string(reach.used) + " is expected");
  }

 private:
  std::map<std::string, Reach> reaches_;
};

void check_weights(const Graph& graph, const Checkpoint& checkpoint) {
  std::vector<std::string> missing, wrong;
  std::set<std::string> seen;
  Reaches reaches;
  for_each_weight(graph, [&](const Weight& weight, const Node& node) {
    const std::string name = find_name(checkpoint, weight.ref);
    if (name.empty()) {
      if (seen.insert(weight.ref.name).second) missing.push_back(weight.ref.name);
      return;
    }
    std::string what = wrong_shape(checkpoint, name, weight, node);
    if (what.empty()) return reaches.add(checkpoint, name, weight.ref.view);
    if (seen.insert(what).second) wrong.push_back(std::move(what));
  });
  if (wrong.empty()) reaches.list_short(wrong);
  if (!missing.empty())
    throw Error(ErrorKind::integrity, checkpoint.subject() + ": " + std::to_string(missing.size()) +
                                          " weights are missing: " + listed(missing));
  if (wrong.empty()) return;
  throw Error(ErrorKind::integrity,
              checkpoint.subject() + ": " + wrong[0] +
                  (wrong.size() == 1 ? "" : "; " + std::to_string(wrong.size() - 1) + " more do not fit"));
}

}  // namespace

namespace {

struct Refused {
  std::string_view field, why;
};
// What would change the forward pass of any class and is not written yet: said by name, never passed over.
constexpr Refused kRefused[] = {
    {"quantization_config", "quantized weights are not read"},
    {"pruned_heads", "layers with heads cut away are not built"},
    {"add_cross_attention", "a model that attends to an encoder's states is not built"},
};

void refuse_options(const Config& config) {
  for (const Refused& refused : kRefused)
    if (config.holds(refused.field))
      throw Error(ErrorKind::unsupported, config.subject() + ": " + in_quotes(refused.field) +
                                              " is not supported: " + std::string(refused.why));
}

Graph build_checked(const Choice& choice, const Config& config) {
  refuse_options(config);
  Graph graph;
  choice.architecture->build(Builder(graph), config, choice.request);
  graph = pruned(graph);
  check(graph);
  return graph;
}

}  // namespace

Graph build_graph(const Config& config, const LoadOptions& options) {
  Choice choice = choose(config, options.task);
  choice.request.all_outputs = options.all_outputs;
  return build_checked(choice, config);
}

Model make_model(const Config& config, std::shared_ptr<const Checkpoint> checkpoint,
                 const LoadOptions& options) {
  Choice choice = choose(config, options.task);
  choice.request.all_outputs = options.all_outputs;
  const Architecture& a = *choice.architecture;
  Model model{{},
              with_repaired_names(std::move(checkpoint), a.base_prefix),
              config,
              std::string(a.model_type),
              std::string(a.class_prefix) + choice.request.head,
              choice.request.task};
  model.parts.push_back({"model", build_checked(choice, config)});
  check_weights(model.parts[0].graph, *model.checkpoint);
  return model;
}

Model load_model(const std::filesystem::path& folder, const LoadOptions& options) {
  const Config config = Config::load(folder);
  choose(config, options.task);  // what is not supported is said before weights are looked for
  refuse_options(config);
  return make_model(config, open_folder(folder), options);
}

std::vector<std::string> unexpected_names(const Model& model) {
  std::set<std::string> used;
  for (const Part& part : model.parts)
    for_each_weight(part.graph, [&](const Weight& weight, const Node&) {
      used.insert(weight.ref.name);
      used.insert(weight.ref.aliases.begin(), weight.ref.aliases.end());
    });
  // A used name may be stored with or without the base model's prefix.
  const auto same = [&](const std::string& name) {
    const std::size_t dot = name.find('.');
    if (used.contains(name) || (dot != std::string::npos && used.contains(name.substr(dot + 1)))) return true;
    return std::any_of(used.begin(), used.end(), [&](const std::string& u) {
      return u.size() > name.size() && u.ends_with(name) && u[u.size() - name.size() - 1] == '.' &&
             u.find('.') == u.size() - name.size() - 1;
    });
  };
  std::vector<std::string> out;
  for (const std::string& name : model.checkpoint->names()) {
    const bool ignored = std::any_of(std::begin(kIgnoredEnds), std::end(kIgnoredEnds),
                                     [&](std::string_view end) { return name.ends_with(end); });
    if (!ignored && !same(name)) out.push_back(name);
  }
  return out;
}

}  // namespace hf
