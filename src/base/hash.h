// Content hashes as the Hub names its files by: sha256 for LFS files, git's blob sha1 for the others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace hf {

enum class HashKind { sha256, git_sha1 };

class Hasher {
 public:
  // `size` is the content's length in bytes; git_sha1 hashes it first ("blob <size>\0"), sha256 ignores it.
  Hasher(HashKind kind, std::uint64_t size);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void update(std::span<const std::byte> bytes);
  std::string hex() const;  // of all bytes so far, lower case; may be called repeatedly

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same bytes into each of `hashers`, in pieces that stay in the processor's cache: one pass over the
// memory for several hashes.
void update_all(std::span<Hasher* const> hashers, std::span<const std::byte> bytes);

std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace hf
