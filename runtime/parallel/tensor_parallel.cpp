#include "runtime/parallel/tensor_parallel.h"

#include "runtime/parallel/thread_ranks.h"

namespace hf::runtime {

std::vector<RankResult> run_tensor_parallel(const Graph& graph, std::shared_ptr<const Checkpoint> checkpoint,
                                            int ranks, const Inputs& inputs, const DeviceOptions& options,
                                            bool observe) {
  std::vector<Graph> graphs;  // all before the first thread: a size that does not divide is the caller's
  for (int rank = 0; rank < ranks; ++rank) graphs.push_back(shard(graph, rank, ranks));
  std::vector<RankResult> out(graphs.size());
  run_ranks(ranks, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const std::unique_ptr<Device> device = open_device("cpu:" + std::to_string(rank), options);
    Session session(graphs[rank], checkpoint, *device, {observe, &communicator});
    out[rank] = {session.step(inputs), session.memory()};
  });
  return out;
}

}  // namespace hf::runtime
