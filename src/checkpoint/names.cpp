// The names of old and wrapped files, as today's transformers would spell them.
#include <map>
#include <set>

#include "base/error.h"
#include "base/escape.h"
#include "checkpoint/checkpoint.h"

namespace hf {
namespace {

struct Rename {
  std::string_view old_end, new_end;
};

// transformers' _fix_state_dict_key_on_load: only below "LayerNorm.", since ConvNeXt and DINO have a gamma of
// their own.
constexpr Rename kRenames[] = {
    {"LayerNorm.gamma", "LayerNorm.weight"},
    {"LayerNorm.beta", "LayerNorm.bias"},
};

constexpr std::string_view kWrappers[] = {"module.", "_orig_mod."};  // DataParallel, torch.compile

std::string repaired(std::string_view name) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view wrapper : kWrappers) {
      if (!name.starts_with(wrapper)) continue;
      name.remove_prefix(wrapper.size());
      again = true;
    }
  }
  for (const Rename& r : kRenames)
    if (name.ends_with(r.old_end))
      return std::string(name.substr(0, name.size() - r.old_end.size())) + std::string(r.new_end);
  return std::string(name);
}

class RepairedNames : public Checkpoint {
 public:
  RepairedNames(std::shared_ptr<const Checkpoint> inner, std::string_view base_prefix)
      : inner_(std::move(inner)) {
    if (!base_prefix.empty()) prefix_ = std::string(base_prefix) + ".";
    for (std::string& name : inner_->names()) {
      const auto [at, fresh] = stored_.emplace(repaired(name), name);
      if (!fresh)
        throw Error(ErrorKind::integrity, inner_->subject() + ": tensors " + in_quotes(at->second) + " and " +
                                              in_quotes(name) + " are the same parameter");
    }
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, stored] : stored_) out.push_back(name);
    return out;
  }
  bool has(std::string_view name) const override { return find(name) != nullptr; }
  TensorInfo info(std::string_view name) const override { return inner_->info(stored(name)); }
  TensorView view(std::string_view name) const override { return inner_->view(stored(name)); }
  void release(std::string_view name) const override { inner_->release(stored(name)); }
  std::string subject() const override { return inner_->subject(); }

 private:
  // The stored name: as asked, without the base model's prefix, or with it.
  const std::string* find(std::string_view name) const {
    if (const auto at = stored_.find(name); at != stored_.end()) return &at->second;
    if (prefix_.empty()) return nullptr;
    const bool prefixed = name.starts_with(prefix_);
    const std::string other =
        prefixed ? std::string(name.substr(prefix_.size())) : prefix_ + std::string(name);
    const auto at = stored_.find(other);
    return at == stored_.end() ? nullptr : &at->second;
  }
  const std::string& stored(std::string_view name) const {
    if (const std::string* found = find(name)) return *found;
    throw Error(ErrorKind::not_found, inner_->subject() + ": tensor " + in_quotes(name) + " is not there");
  }

  std::shared_ptr<const Checkpoint> inner_;
  std::string prefix_;
  std::map<std::string, std::string, std::less<>> stored_;  // repaired name -> name in the file
};

}  // namespace

std::shared_ptr<const Checkpoint> with_repaired_names(std::shared_ptr<const Checkpoint> inner,
                                                      std::string_view base_prefix) {
  return std::make_shared<RepairedNames>(std::move(inner), base_prefix);
}

}  // namespace hf
