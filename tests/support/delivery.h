// How an answer travels: whole, or with something wrong on the way.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "support/fault.h"
#include "support/http_server.h"

namespace hf::test {

class Delivery {
 public:
  // The faults that are done here; all others are in what the answer says.
  static std::initializer_list<FaultKind> kinds();

  // `fault` is one of these kinds, or nullptr; `sent` is told of each piece of the body.
  Delivery(HttpReply& reply, const Fault* fault, std::function<void(std::size_t)> sent)
      : reply_(reply), fault_(fault), sent_(std::move(sent)) {}

  void send(int status, HttpReply::Fields fields, std::string_view body, bool has_body);

 private:
  bool is(FaultKind kind) const { return fault_ != nullptr && fault_->kind == kind; }
  bool is_any(std::initializer_list<FaultKind> kinds) const;
  std::uint64_t at() const { return fault_ == nullptr ? 0 : fault_->at; }

  bool fail_before_head();
  bool send_head(int status, HttpReply::Fields fields, std::uint64_t length);
  bool send_head_text(const std::string& text);
  bool send_body(std::string_view body);
  bool send_piece(std::string_view piece);
  void send_for_ever();
  std::size_t step() const;

  HttpReply& reply_;
  const Fault* fault_;
  std::function<void(std::size_t)> sent_;
};

}  // namespace hf::test
