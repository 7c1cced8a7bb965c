#include "support/delivery.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace hf::test {
namespace {

using K = FaultKind;

std::string little_endian(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::uint32_t crc32(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0);
      table[i] = value;
    }
    return table;
  }();
  std::uint32_t crc = ~0u;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 255];
  return ~crc;
}

// RFC 1952, of blocks that are stored as they are.
std::string gzipped(std::string_view bytes) {
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string_view left = bytes;
  do {
    const std::size_t size = std::min<std::size_t>(left.size(), 0xffff);
    out += size == left.size() ? '\1' : '\0';
    out += little_endian(static_cast<std::uint32_t>(size), 2);
    out += little_endian(~static_cast<std::uint32_t>(size), 2);
    out += left.substr(0, size);
    left.remove_prefix(size);
  } while (!left.empty());
  return out + little_endian(crc32(bytes), 4) + little_endian(static_cast<std::uint32_t>(bytes.size()), 4);
}

std::string chunk_head(std::size_t bytes) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%zx\r\n", bytes);
  return text.data();
}

}  // namespace

std::initializer_list<FaultKind> Delivery::kinds() {
  static constexpr std::initializer_list<FaultKind> kKinds = {
      K::refused,         K::silent,         K::drop_before_head,
      K::no_http,         K::drop_in_head,   K::stall_in_head,
      K::header_flood,    K::endless_header, K::informational,
      K::chunked,         K::cut_chunked,    K::bad_chunk,
      K::close_delimited, K::cut_at_close,   K::gzip,
      K::length_short,    K::length_long,    K::garbage_after,
      K::endless_body,    K::drop,           K::close,
      K::stall,           K::slow,           K::trickle};
  return kKinds;
}

bool Delivery::is_any(std::initializer_list<FaultKind> kinds) const {
  return std::any_of(kinds.begin(), kinds.end(), [&](FaultKind kind) { return is(kind); });
}

void Delivery::send(int status, HttpReply::Fields fields, std::string_view body, bool has_body) {
  if (fail_before_head()) return;
  std::string encoded;
  if (is(K::gzip)) {
    encoded = gzipped(body);
    body = encoded;
    fields.emplace_back("Content-Encoding", "gzip");
  }
  if (!send_head(status, std::move(fields), body.size()) || !has_body) return;
  if (!send_body(body)) return;
  if (is(K::endless_body)) send_for_ever();
  if (is(K::garbage_after)) reply_.write("no answer to anything\r\n\r\n");
  if (is_any(
          {K::close_delimited, K::cut_at_close, K::length_long, K::length_short, K::close, K::garbage_after}))
    reply_.close();
  if (is_any({K::drop, K::cut_chunked, K::bad_chunk})) reply_.reset();
  if (is(K::stall)) reply_.wait_until_gone();
}

bool Delivery::fail_before_head() {
  if (is(K::refused)) reply_.refuse_for(static_cast<unsigned>(at()));
  if (is(K::silent)) reply_.wait_until_gone();
  if (is(K::drop_before_head)) reply_.reset();
  if (is(K::no_http) && reply_.write("SSH-2.0-OpenSSH_9.2\r\n")) reply_.close();
  return is_any({K::refused, K::silent, K::drop_before_head, K::no_http});
}

bool Delivery::send_head(int status, HttpReply::Fields fields, std::uint64_t length) {
  const bool old = is_any({K::close_delimited, K::cut_at_close});
  if (is_any({K::chunked, K::cut_chunked, K::bad_chunk, K::endless_body}))
    fields.emplace_back("Transfer-Encoding", "chunked");
  else if (is(K::length_short))
    fields.emplace_back("Content-Length", std::to_string(length - std::min(at(), length)));
  else if (is(K::length_long))
    fields.emplace_back("Content-Length", std::to_string(length + at()));
  else if (!old)
    fields.emplace_back("Content-Length", std::to_string(length));
  const std::string text = head_text(old ? "1.0" : "1.1", status, fields);
  const std::string first = text.substr(0, text.find("\r\n") + 2);
  if (is(K::header_flood) && reply_.write(first))
    while (reply_.write("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
  if (is(K::endless_header) && reply_.write(first + "X-Filler: "))
    while (reply_.write(std::string(1000, 'x'))) {
    }
  if (is(K::informational) &&
      !reply_.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"))
    return false;
  return !reply_.is_broken() && send_head_text(text);
}

bool Delivery::send_head_text(const std::string& text) {
  if (!is_any({K::drop_in_head, K::stall_in_head})) return reply_.write(text);
  if (!reply_.write(text.substr(0, std::min<std::size_t>(at(), text.size() - 1)))) return false;
  if (is(K::drop_in_head))
    reply_.reset();
  else
    reply_.wait_until_gone();
  return false;
}

std::size_t Delivery::step() const {
  if (is(K::slow)) return std::max<std::size_t>(at() / 50, 1);
  return 64u << 10;
}

bool Delivery::send_body(std::string_view body) {
  const bool in_chunks = is_any({K::chunked, K::cut_chunked, K::bad_chunk, K::endless_body});
  const bool is_cut = is_any({K::drop, K::close, K::stall, K::cut_chunked, K::bad_chunk});
  const std::size_t end =
      is_cut ? std::min<std::uint64_t>(at(), body.size())
             : body.size() - (is(K::cut_at_close) ? std::min<std::uint64_t>(at(), body.size()) : 0);
  for (std::size_t from = 0; from < end;) {
    const std::size_t most = is(K::trickle) && from < at() ? 1 : step();
    const std::string_view piece = body.substr(from, std::min(most, end - from));
    if (in_chunks && !reply_.write(chunk_head(piece.size()))) return false;
    if (!send_piece(piece) || (in_chunks && !reply_.write("\r\n"))) return false;
    from += piece.size();
    if (is(K::slow) && !reply_.pause(20)) return false;
  }
  if (is(K::bad_chunk)) return reply_.write("no number\r\n");
  return !is(K::chunked) || reply_.write("0\r\n\r\n");
}

bool Delivery::send_piece(std::string_view piece) {
  if (!reply_.write(piece)) return false;
  sent_(piece.size());
  return true;
}

void Delivery::send_for_ever() {
  const std::string piece(64 << 10, ' ');
  while (reply_.write(chunk_head(piece.size())) && send_piece(piece) && reply_.write("\r\n")) {
  }
}

}  // namespace hf::test
