#include "base/hash.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/error.h"

namespace hf {
namespace {

// Found once: EVP_sha256() would be looked up among the providers again for every context. Kept for the life
// of the process, since a hasher may outlive static objects.
const EVP_MD* digest_of(HashKind kind) {
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  static const EVP_MD* const sha1 = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  return kind == HashKind::sha256 ? sha256 : sha1;
}

}  // namespace

struct Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Hasher::Hasher(HashKind kind, std::uint64_t size) : state_(std::make_unique<State>()) {
  const EVP_MD* digest = digest_of(kind);
  if (state_->context == nullptr || digest == nullptr ||
      EVP_DigestInit_ex2(state_->context, digest, nullptr) != 1)
    throw Error(ErrorKind::internal, "OpenSSL: no digest");
  if (kind == HashKind::git_sha1) {
    const std::string head = "blob " + std::to_string(size) + '\0';
    update(std::as_bytes(std::span(head)));
  }
}

Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1)
    throw Error(ErrorKind::internal, "OpenSSL: digest update failed");
}

std::string Hasher::hex() const {
  State copy;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (EVP_MD_CTX_copy_ex(copy.context, state_->context) != 1 ||
      EVP_DigestFinal_ex(copy.context, digest, &length) != 1)
    throw Error(ErrorKind::internal, "OpenSSL: digest failed");
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < length; ++i) out += {kHex[digest[i] >> 4], kHex[digest[i] & 15]};
  return out;
}

void update_all(std::span<Hasher* const> hashers, std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = 16 << 10;  // half of a small first-level cache
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(hashers.size() > 1 ? kPiece : bytes.size(), bytes.size()));
    for (Hasher* hasher : hashers) hasher->update(piece);
    bytes = bytes.subspan(piece.size());
  }
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Hasher hasher(HashKind::sha256, bytes.size());
  hasher.update(bytes);
  return hasher.hex();
}

}  // namespace hf
