// Tensor parallelism by propagation: weights say how they are cut, and each other value follows.
//
// A value on one rank is whole (the same on all), a slice of one axis, or partial (to be summed over the
// ranks). Column parallel weights (split by outputs) turn whole into slice, row parallel ones (by inputs)
// slice into partial; a partial is reduced once, where it is first needed whole. Megatron-LM's scheme
// (Shoeybi et al. 2019), found from the graph.
#include <algorithm>

#include "base/error.h"
#include "base/escape.h"
#include "graph/graph.h"

namespace hf {
namespace {

struct Place {
  enum Kind { whole, slice, partial } kind = whole;
  int axis = 0;  // of a slice
};

class Sharder {
 public:
  Sharder(const Graph& graph, int rank, int ranks) : graph_(graph), rank_(rank), ranks_(ranks) {}

  Graph run() {
    local_.resize(graph_.nodes.size());
    place_.resize(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      now_ = i;
      try {
        std::visit([&](const auto& op) { follow(op); }, node().op);
      } catch (const Error& error) {
        const std::string where = node().path.empty() ? "" : escaped(node().path) + ": ";
        throw Error(ErrorKind::usage,
                    "tensor parallel over " + std::to_string(ranks_) + ": " + where + error.what());
      }
    }
    for (const Value v : graph_.inputs) out_.inputs.push_back(local(v));
    for (const Named& n : graph_.outputs) out_.outputs.push_back({n.name, gathered(n.value)});
    for (const Named& n : graph_.observed) out_.observed.push_back({n.name, gathered(n.value)});
    for (State s : graph_.states) {
      if (s.past.present()) s.past = local(s.past);
      reduce(s.present);
      s.present = local(s.present);
      out_.states.push_back(std::move(s));
    }
    return std::move(out_);
  }

 private:
  const Node& node() const { return graph_.nodes[now_]; }
  Value in(std::size_t i) const { return i < node().inputs.size() ? node().inputs[i] : Value{}; }
  Place& place(Value v) { return place_[static_cast<std::size_t>(v.node)]; }
  Value& local(Value v) { return local_[static_cast<std::size_t>(v.node)]; }
  int rank_of(Value v) const { return static_cast<int>(graph_.shape(v).size()); }

  [[noreturn]] static void refuse(const std::string& what) { throw Error(ErrorKind::usage, what); }

  // The node as it is, over the local inputs; what it gives lies at `p`.
  void keep(Place p) {
    std::vector<Value> inputs;
    for (const Value v : node().inputs) inputs.push_back(v.present() ? local(v) : v);
    local_[now_] = out_.add(node().op, std::move(inputs), node().path, node().layer);
    place_[now_] = p;
  }

  // Sums a partial value; from then on it is whole for every user.
  void reduce(Value v) {
    if (!v.present() || place(v).kind != Place::partial) return;
    const Node& made = graph_.at(v);
    local(v) = out_.add(AllReduce{}, {local(v)}, made.path, made.layer);
    place(v) = {};
  }

  void need_whole(Value v) {
    if (!v.present()) return;
    reduce(v);
    if (place(v).kind == Place::slice)
      refuse("input is needed whole but is cut along axis " + std::to_string(place(v).axis));
  }

  Value gathered(Value v) {
    reduce(v);
    if (place(v).kind == Place::whole) return local(v);
    const TensorType& type = graph_.type(v);
    const Node& made = graph_.at(v);
    out_.nodes.push_back({AllGather{place(v).axis}, {local(v)}, {type}, made.path, made.layer});
    return {static_cast<int>(out_.nodes.size()) - 1, 0};
  }

  // ---- sources
  void follow(const Input&) {
    out_.nodes.push_back(node());
    local_[now_] = {static_cast<int>(out_.nodes.size()) - 1, 0};
  }
  void follow(const Constant&) { keep({}); }
  void follow(const Size&) { keep({}); }
  void follow(const Range&) { keep({}); }

  void follow(const Weight& w) {
    TensorType type = node().outputs[0];
    Weight mine = w;
    if (w.split.kind != Split::none) {
      const int axis = w.split.kind == Split::outputs ? 0 : 1;
      if (axis >= static_cast<int>(type.shape.size()))
        refuse("weight " + in_quotes(w.ref.name) + " has shape " + to_string(type.shape) +
               ", which has no inputs to split by");
      Dim& size = type.shape[static_cast<std::size_t>(axis)];
      const std::int64_t part = part_of(w, size.number());
      mine.ref.view = narrowed(mine.ref.view, axis, rank_ * part, (rank_ + 1) * part);
      size = part;
      place_[now_] = {Place::slice, axis};
    }
    out_.nodes.push_back({mine, {}, {type}, node().path, node().layer});
    local_[now_] = {static_cast<int>(out_.nodes.size()) - 1, 0};
  }

  // What one rank has of `total` outputs or inputs: whole units.
  std::int64_t part_of(const Weight& w, std::int64_t total) const {
    const std::string name = "weight " + in_quotes(w.ref.name);
    const std::string side = w.split.kind == Split::outputs ? " outputs" : " inputs";
    if (w.split.unit < 1 || total % w.split.unit != 0)
      refuse(name + " has " + std::to_string(total) + side + ", which are not whole units of " +
             std::to_string(w.split.unit));
    const std::int64_t units = total / w.split.unit;
    if (units % ranks_ != 0)
      refuse(name + " has " + std::to_string(units) + (w.split.unit > 1 ? " heads" : side) +
             ", which do not divide by " + std::to_string(ranks_));
    return total / ranks_;
  }

  // ---- what cuts and sums
  void follow(const Linear&) {
    const Place weight = place(in(1));
    const int last = rank_of(in(0)) - 1;
    if (weight.kind == Place::whole) {
      need_whole(in(0));
      need_whole(in(2));
      return keep({});
    }
    if (weight.axis == 0) {  // column parallel
      need_whole(in(0));
      if (in(2).present() && place(in(2)).kind != Place::slice)
        refuse("the weight is split by outputs, its bias is not");
      return keep({Place::slice, last});
    }
    reduce(in(0));
    if (place(in(0)).kind != Place::slice || place(in(0)).axis != last)
      refuse("the weight is split by inputs, but its input is whole");
    if (in(2).present()) refuse("the bias of a weight split by inputs must join after the sum");
    keep({Place::partial});
  }

  void follow(const Attention&) {
    const Place q = place(in(0));
    const bool cut = q.kind == Place::slice;
    if (cut && q.axis != 2)
      refuse("q is cut along axis " + std::to_string(q.axis) + ", heads lie along axis 2");
    for (const std::size_t i : {0u, 1u, 2u}) {
      reduce(in(i));
      const Place p = place(in(i));
      if ((p.kind == Place::slice) != cut || (cut && i > 0 && p.axis != 1))
        refuse("q, k and v are cut differently");
    }
    need_whole(in(3));
    need_whole(in(4));
    for (const std::size_t i : {3u, 4u})
      if (cut && in(i).present() && !(heads_of(in(i)) == Dim(1)))
        refuse(std::string("the ") + (i == 3 ? "bias" : "mask") + " differs by head but is whole");
    keep(q);
  }
  Dim heads_of(Value v) const {
    const Shape& s = graph_.shape(v);
    return s.size() < 3 ? Dim(1) : s[s.size() - 3];
  }

  void follow(const MatMul&) {
    reduce(in(0));
    reduce(in(1));
    if (place(in(0)).kind == Place::whole && place(in(1)).kind == Place::slice &&
        place(in(1)).axis == rank_of(in(1)) - 1)
      return keep({Place::slice, static_cast<int>(node().outputs[0].shape.size()) - 1});
    all_whole();
  }

  // ---- element by element
  void follow(const Unary&) { follow_elements(); }
  void follow(const Cast&) { follow_elements(); }
  void follow(const Gelu&) { follow_elements(); }
  void follow(const Binary&) { follow_elements(); }
  void follow(const Compare&) { follow_elements(); }
  void follow(const Where&) { follow_elements(); }

  void follow_elements() {
    const int rank = static_cast<int>(node().outputs[0].shape.size());
    int cut = -1;  // counted from the end, as broadcasting does
    for (const Value v : node().inputs) {
      reduce(v);
      if (place(v).kind != Place::slice) continue;
      const int from_end = rank_of(v) - place(v).axis;
      if (cut >= 0 && cut != from_end) refuse("inputs are cut along different axes");
      cut = from_end;
    }
    if (cut < 0) return keep({});
    for (const Value v : node().inputs) {
      const bool stretched =
          rank_of(v) < cut || graph_.shape(v)[static_cast<std::size_t>(rank_of(v) - cut)] == Dim(1);
      if (place(v).kind == Place::whole && !stretched) refuse("one input is cut, the other is whole");
    }
    keep({Place::slice, rank - cut});
  }

  // ---- what moves axes
  void follow(const Transpose& t) {
    reduce(in(0));
    Place p = place(in(0));
    if (p.kind == Place::slice)
      p.axis = static_cast<int>(std::find(t.permutation.begin(), t.permutation.end(), p.axis) -
                                t.permutation.begin());
    keep(p);
  }

  void follow(const Reshape& r) {
    reduce(in(0));
    const Place p = place(in(0));
    if (p.kind == Place::whole) return keep({});
    const auto open = std::find(r.to.begin(), r.to.end(), Dim(-1));
    const auto axis = static_cast<std::size_t>(p.axis);
    const Shape& from = graph_.shape(in(0));
    const bool same_before =
        axis < r.to.size() && std::equal(from.begin(), from.begin() + p.axis, r.to.begin());
    if (open == r.to.end() || open - r.to.begin() != p.axis || !same_before)
      refuse("the axis that is cut, " + std::to_string(p.axis) + " of " + to_string(from) +
             ", is not left open in " + to_string(r.to));
    keep(p);
  }

  void follow(const Softmax& s) { along(s.axis); }
  void follow(const CumSum& c) { along(c.axis); }
  void follow(const Slice& s) { along(s.axis); }
  // An op along one axis: a slice of another passes through.
  void along(int axis) {
    reduce(in(0));
    const Place p = place(in(0));
    if (p.kind == Place::slice && p.axis == axis)
      refuse("works along axis " + std::to_string(axis) + ", which is cut");
    keep(p);
  }

  template <class T>
  void follow(const T&) {
    all_whole();
  }
  void all_whole() {
    for (const Value v : node().inputs) need_whole(v);
    keep({});
  }

  const Graph& graph_;
  const int rank_, ranks_;
  std::size_t now_ = 0;
  Graph out_;
  std::vector<Value> local_;
  std::vector<Place> place_;
};

}  // namespace

Graph shard(const Graph& graph, int rank, int ranks) {
  if (ranks < 1 || rank < 0 || rank >= ranks)
    throw Error(ErrorKind::usage,
                "tensor parallel: rank " + std::to_string(rank) + " of " + std::to_string(ranks));
  return Sharder(graph, rank, ranks).run();
}

}  // namespace hf
