// An output folder that is filled aside and gets its files at the end.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace hf {

// Files are made in a hidden folder inside `folder` (so that they are on its file system) and moved into
// place by publish(). Without it nothing is left but what was there before; `folder` itself goes where this
// made it.
class Staging {
 public:
  enum class Existing { refused, replaced };
  // Throws Error{usage} where `folder` is not a folder, or holds something and that is refused.
  Staging(std::filesystem::path folder, Existing existing);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const std::filesystem::path& path() const { return staged_; }

  // Moves the named files (paths below the folder) into place, in that order, after `outdated` are gone: so a
  // set is never mixed with an older one. Each step is durable before the next.
  void publish(const std::vector<std::string>& files, const std::vector<std::string>& outdated);

 private:
  std::filesystem::path folder_, staged_;
  bool made_ = false, published_ = false;
};

}  // namespace hf
