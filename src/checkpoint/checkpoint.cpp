#include "checkpoint/checkpoint.h"

#include "base/error.h"
#include "base/escape.h"

namespace hf {

std::string find_name(const Checkpoint& checkpoint, const TensorRef& ref) {
  if (checkpoint.has(ref.name)) return ref.name;
  for (const std::string& alias : ref.aliases)
    if (checkpoint.has(alias)) return alias;
  return {};
}

Tensor load(const Checkpoint& checkpoint, const TensorRef& ref, DType dtype) {
  const std::string name = find_name(checkpoint, ref);
  if (name.empty())
    throw Error(ErrorKind::not_found,
                checkpoint.subject() + ": tensor " + in_quotes(ref.name) + " is not there");
  const TensorView stored = checkpoint.view(name);
  return with_context(checkpoint.subject() + ": tensor " + in_quotes(name),
                      [&] { return materialize(stored, ref.view, dtype); });
}

void TensorMap::add(std::string name, Tensor tensor) {
  tensors_.insert_or_assign(std::move(name), std::move(tensor));
}

std::vector<std::string> TensorMap::names() const {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : tensors_) out.push_back(name);
  return out;
}

bool TensorMap::has(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }

TensorView TensorMap::view(std::string_view name) const {
  const auto at = tensors_.find(name);
  if (at == tensors_.end())
    throw Error(ErrorKind::not_found, subject() + ": tensor " + in_quotes(name) + " is not there");
  return at->second.view();
}

TensorInfo TensorMap::info(std::string_view name) const {
  const TensorView v = view(name);
  return {v.dtype, v.shape};
}

}  // namespace hf
