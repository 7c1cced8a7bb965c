// One request to the Hub on loopback, and its answer.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/fault_hub.h"
#include "support/hub_address.h"

namespace hf::test {

class FaultHub::Exchange {
 public:
  Exchange(FaultHub& hub, HttpRequest request, HttpReply& reply, LoggedRequest& log)
      : hub_(hub), request_(std::move(request)), reply_(reply), log_(log) {}

  void run(bool away);

 private:
  using Fields = HttpReply::Fields;

  const Fault* take(std::initializer_list<FaultKind> kinds) {
    return hub_.take_fault(request_.target, kinds);
  }

  // Each answers itself where it says yes (or no, of may_see).
  bool is_refused();
  void answer_whoami();
  bool is_sent_elsewhere(bool away);
  bool may_see(const Address& address);

  void redirect(int status, const std::string& location, Fields fields = {});
  void refuse(int status, const std::string& code, const std::string& message, Fields fields = {});
  void send(int status, Fields fields, std::string_view body, const Fault* fault);
  void answer_page_to_log_in();

  // hub_api.cpp
  void answer_json(const nlohmann::json& value, Fields fields = {});
  void answer_text(std::string text, Fields fields);
  void answer_api(const Address& address, const HubRevision& revision);
  void answer_refs(const Address& address);
  void answer_paths_info(const HubRevision& revision);
  void answer_tree(const Address& address, const HubRevision& revision);
  std::vector<nlohmann::json> entries_of(const Address& address, const HubRevision& revision);
  nlohmann::json entry_of(const std::string& path, const HubFile& file) const;
  void spoil(std::vector<nlohmann::json>& entries);
  Fields link_to_next(std::size_t cursor, std::size_t entries);

  // hub_files.cpp
  void answer_file(const Address& address, const HubRevision& revision, bool here);
  bool redirect_file(const HubFile& file, const Fields& fields, const std::string& etag, bool here);
  void answer_storage();
  void send_file(std::string_view content, Fields fields, const Fault* fault);
  std::optional<std::string> spoiled(std::string_view content);
  std::string etag_line(const std::string& etag);  // empty: none is sent
  std::optional<ByteRange> range_for(std::uint64_t size, const Fields& fields);
  std::string place_of(const HubFile& file) const;

  FaultHub& hub_;
  HttpRequest request_;
  HttpReply& reply_;
  LoggedRequest& log_;
  bool has_hopped_ = false;  // at the end of a chain of redirects, which is not begun again
};

}  // namespace hf::test
