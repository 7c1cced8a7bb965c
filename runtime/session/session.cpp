#include "runtime/session/session.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/progress.h"
#include "runtime/parallel/communicator.h"
#include "runtime/session/inputs.h"
#include "runtime/session/layout.h"
#include "runtime/session/plan.h"
#include "runtime/session/weights.h"

namespace hf::runtime {
namespace {

// Plans kept by shape: a validator has one, a server as many as its buckets.
constexpr std::size_t kPlans = 8;

Graph prepared(const Graph& graph, const Checkpoint* checkpoint, Device& device, bool observe) {
  if (!graph.states.empty())
    throw Error(ErrorKind::unsupported, "session: a graph with key/value states cannot be run yet");
  Graph wanted = graph;
  if (!observe) wanted.observed.clear();
  wanted = decompose(pruned(wanted), [&](const Op& op) { return device.fuses(op); });
  return checkpoint == nullptr ? wanted : with_stored_layout(wanted, *checkpoint, device);
}

// A tensor's bytes on the host and back, around what only the host can do.
std::vector<std::byte> downloaded(Device& device, const DeviceTensor& tensor) {
  std::vector<std::byte> bytes(tensor.bytes());
  device.download(bytes, tensor.data);
  return bytes;
}

}  // namespace

struct Session::State {
  Device& device;
  SessionOptions options;
  Graph graph;
  Weights weights;
  std::vector<std::unique_ptr<Plan>> plans;  // the latest first
  std::optional<DeviceBuffer> arena;
  MemoryReport report;

  State(const Graph& g, std::shared_ptr<const Checkpoint> checkpoint, Device& d, SessionOptions o)
      : device(d),
        options(o),
        graph(prepared(g, checkpoint.get(), d, o.observe)),
        weights(d, std::move(checkpoint)) {
    weights.load(graph);
    report.weight_bytes = weights.bytes();
    report.mapped_bytes = weights.mapped_bytes();
  }

  Plan& plan_for(const Symbols& symbols) {
    const auto at =
        std::find_if(plans.begin(), plans.end(), [&](const auto& p) { return p->symbols() == symbols; });
    if (at != plans.end()) {
      std::rotate(plans.begin(), at, at + 1);
    } else {
      if (plans.size() == kPlans) plans.pop_back();
      plans.insert(plans.begin(), std::make_unique<Plan>(graph, symbols, device, weights));
    }
    Plan& plan = *plans.front();
    if (!arena || arena->bytes() < plan.arena_bytes()) {
      arena.reset();  // first, so that the two are never held together
      arena.emplace(device, plan.arena_bytes());
    }
    plan.place(arena->data());
    report.planned_bytes = std::max(report.planned_bytes, plan.arena_bytes());
    report.unplanned_bytes = std::max(report.unplanned_bytes, plan.unplanned_bytes());
    return plan;
  }

  Communicator& ranks(const Plan::Step& step) const {
    if (options.communicator == nullptr)
      throw Error(ErrorKind::usage, step.node->path + ": " + std::string(name_of(step.node->op)) +
                                        " needs the other ranks, and the session was given none");
    return *options.communicator;
  }

  void all_reduce(const Plan::Step& step) {
    std::vector<std::byte> bytes = downloaded(device, step.inputs[0]);
    ranks(step).all_reduce(bytes, step.output.dtype);
    device.upload(step.output.data, bytes);
  }

  // The ranks' slices come one after the other; along an inner axis they are interleaved row by row.
  void all_gather(const Plan::Step& step, int axis) {
    const std::vector<std::byte> mine = downloaded(device, step.inputs[0]);
    std::vector<std::byte> all(step.output.bytes()), ordered(all.size());
    ranks(step).all_gather(mine, all);
    const auto count = static_cast<std::size_t>(ranks(step).ranks());
    const std::span<const std::int64_t> shape(step.inputs[0].shape);
    const auto rows = static_cast<std::size_t>(elements(shape.first(static_cast<std::size_t>(axis))));
    const std::size_t row_bytes = rows == 0 ? 0 : mine.size() / rows;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t rank = 0; rank < count; ++rank)
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size() + row * row_bytes),
                    row_bytes,
                    ordered.begin() + static_cast<std::ptrdiff_t>((row * count + rank) * row_bytes));
    device.upload(step.output.data, ordered);
  }

  void run(const Plan::Step& step) {
    if (std::holds_alternative<AllReduce>(step.node->op)) return all_reduce(step);
    if (const auto* gather = std::get_if<AllGather>(&step.node->op)) return all_gather(step, gather->axis);
    device.run(*step.node, step.inputs, step.output);
  }

  NamedTensors download(const Plan& plan, const std::vector<Named>& values) {
    NamedTensors out;
    for (const Named& n : values) {
      const DeviceTensor& from = plan.value(n.value);
      Tensor tensor(from.dtype, from.shape);
      device.download(tensor.bytes(), from.data);
      out.push_back({n.name, std::move(tensor)});
    }
    return out;
  }
};

Session::Session(const Graph& graph, std::shared_ptr<const Checkpoint> checkpoint, Device& device,
                 SessionOptions options)
    : state_(std::make_unique<State>(graph, std::move(checkpoint), device, options)) {}
Session::~Session() = default;

const Graph& Session::graph() const { return state_->graph; }
MemoryReport Session::memory() const { return state_->report; }

Results Session::step(const Inputs& inputs) {
  State& s = *state_;
  const ResolvedInputs resolved = resolve_inputs(s.graph, inputs);
  Plan& plan = s.plan_for(resolved.symbols);
  for (std::size_t i = 0; i < resolved.values.size(); ++i)
    s.device.upload(plan.value(plan.graph().inputs[i]).data, resolved.values[i].bytes);
  for (const Plan::Step& step : plan.steps()) {
    check_interrupted();
    s.run(step);
  }
  s.device.synchronize();
  Results results{s.download(plan, plan.graph().outputs), s.download(plan, plan.graph().observed)};
  const std::uint64_t peak = s.device.memory().peak_bytes;
  s.report.measured_bytes = peak - std::min(peak, s.weights.allocated_bytes());
  return results;
}

}  // namespace hf::runtime
