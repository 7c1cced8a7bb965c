// How the Hub on loopback answers requests for files.
#include <optional>

#include "base/file.h"
#include "base/hash.h"
#include "cache/http/url.h"
#include "support/delivery.h"
#include "support/hub_exchange.h"

namespace hf::test {
namespace {

using K = FaultKind;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string without_scheme(const std::string& url) { return url.substr(url.find("//") + 2); }

std::string hash_of(HashKind kind, std::string_view content) {
  Hasher hasher(kind, content.size());
  hasher.update(std::as_bytes(std::span(content)));
  return hasher.hex();
}

std::string value_of(const HttpReply::Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields)
    if (key == name) return value;
  return "";
}

}  // namespace

std::string FaultHub::Exchange::place_of(const HubFile& file) const {
  return cache::percent_encoded(file.source.string(), false);
}

void FaultHub::Exchange::answer_file(const Address& address, const HubRevision& revision, bool here) {
  const auto found = revision.files.find(address.path);
  if (found == revision.files.end())
    return refuse(404, "EntryNotFound", "Entry not found", {{"X-Repo-Commit", revision.commit}});
  const HubFile& file = found->second;
  std::string etag = file.etag();
  if (take({K::wrong_etag})) etag[0] = etag[0] == 'f' ? '0' : 'f';
  std::string commit = revision.commit;
  if (take({K::other_commit})) commit[0] = commit[0] == 'f' ? '0' : 'f';
  Fields fields = {{"Accept-Ranges", "bytes"}};
  if (!take({K::no_commit})) fields.emplace_back("X-Repo-Commit", commit);
  if (!file.xet_hash.empty()) fields.emplace_back("X-Xet-Hash", file.xet_hash);
  if (redirect_file(file, fields, etag, here)) return;
  if (take({K::html_page})) return answer_page_to_log_in();

  const MappedFile mapped(file.source);
  std::string_view content(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
  std::string other;
  if (take({K::changed_file})) {
    other = content;
    for (char& c : other) c = static_cast<char>(c ^ 0x55);
    content = other;
    etag = hash_of(file.is_lfs() ? HashKind::sha256 : HashKind::git_sha1, content);
  }
  if (const std::string line = etag_line(etag); !line.empty()) {
    fields.emplace_back("ETag", line);
    if (file.is_lfs()) fields.emplace_back("X-Linked-Etag", line);
  }
  if (file.is_lfs()) fields.emplace_back("X-Linked-Size", std::to_string(file.size));
  send_file(content, std::move(fields), take(Delivery::kinds()));
}

std::string FaultHub::Exchange::etag_line(const std::string& etag) {
  const Fault* fault = take({K::no_etag, K::weak_etag, K::bare_etag});
  if (fault == nullptr) return "\"" + etag + "\"";
  if (fault->kind == K::no_etag) return "";
  return fault->kind == K::bare_etag ? etag : "W/\"" + etag + "\"";
}

bool FaultHub::Exchange::redirect_file(const HubFile& file, const Fields& fields, const std::string& etag,
                                       bool here) {
  const bool as_the_hub = hub_.options_.redirects && !has_hopped_;
  if (!here && (take({K::redirect_here}) || (as_the_hub && !file.is_lfs()))) {
    redirect(307, "/api/resolve-cache" + request_.path + "?etag=%22" + etag + "%22", fields);
    return true;
  }
  Fields linked = fields;
  linked.emplace_back("X-Linked-Etag", "\"" + etag + "\"");
  linked.emplace_back("X-Linked-Size", std::to_string(file.size));
  const std::string place = place_of(file), away = hub_.other_origin();
  if (const Fault* fault = has_hopped_ ? nullptr : take({K::redirect_to})) {
    std::string location = replaced(fault->header, "{file}", place + "?signature=valid");
    location = replaced(std::move(location), "{away}", without_scheme(away));
    redirect(302, replaced(std::move(location), "{here}", without_scheme(hub_.url())), linked);
    return true;
  }
  const Fault* fault = take({K::redirect_away, K::expired_link, K::expiring_link});
  if (fault == nullptr && !(as_the_hub && file.is_lfs())) return false;
  std::string signature = "valid";
  if (fault != nullptr && fault->kind == K::expired_link) signature = "old";
  if (fault != nullptr && fault->kind == K::expiring_link) signature = hub_.new_link(fault->at);
  redirect(302, away + "/" + place + "?signature=" + signature, linked);
  return true;
}

// The other origin: objects by the path of their source, for whoever has a signature.
void FaultHub::Exchange::answer_storage() {
  const std::string place = percent_decoded(request_.path.substr(1));
  const std::string signature = request_.query.contains("signature") ? request_.query.at("signature") : "";
  if (hub_.spend_link(signature, 0) == 0) return send(403, {}, "Request has expired", nullptr);
  const MappedFile mapped(place);
  const std::string_view content(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
  std::string etag = hash_of(HashKind::sha256, place).substr(0, 32);
  if (take({K::changed_storage})) etag += "-" + std::to_string(hub_.draw());
  const Fields fields = {{"Accept-Ranges", "bytes"}, {"ETag", "\"" + etag + "-1\""}};
  const auto range = range_for(content.size(), fields);
  const std::uint64_t wanted = range ? range->last - std::min(range->first, range->last) + 1 : content.size();
  const std::uint64_t given = hub_.spend_link(signature, wanted);
  const Fault expiry{.kind = K::drop, .at = given};
  send_file(content, fields, given < wanted ? &expiry : take(Delivery::kinds()));
}

std::optional<ByteRange> FaultHub::Exchange::range_for(std::uint64_t size, const Fields& fields) {
  const std::string condition = request_.header("if-range");
  if (!condition.empty() && condition != value_of(fields, "ETag")) return std::nullopt;
  return parse_range(log_.range, size);
}

void FaultHub::Exchange::send_file(std::string_view content, Fields fields, const Fault* fault) {
  const std::optional<std::string> other = spoiled(content);
  if (other) content = *other;
  const std::uint64_t size = content.size();
  fields.emplace_back("Content-Type", "application/octet-stream");
  auto range = range_for(size, fields);
  if (range && take({K::ignored_range})) range.reset();
  if (range && range->first >= size) {
    fields.emplace_back("Content-Range", "bytes */" + std::to_string(size));
    return send(416, std::move(fields), "", nullptr);
  }
  if (!range) return send(200, std::move(fields), content, fault);
  if (take({K::wrong_range})) range->first = range->first == 0 ? 1 : range->first - 1;
  const std::uint64_t total = size + (take({K::wrong_total}) ? 1 : 0);
  if (!take({K::no_content_range}))
    fields.emplace_back("Content-Range", "bytes " + std::to_string(range->first) + "-" +
                                             std::to_string(range->last) + "/" + std::to_string(total));
  send(206, std::move(fields), content.substr(range->first, range->last - range->first + 1), fault);
}

// What is sent instead of the content, where a fault of it is due.
std::optional<std::string> FaultHub::Exchange::spoiled(std::string_view content) {
  if (request_.method == "HEAD") return std::nullopt;
  const Fault* fault = take({K::short_file, K::long_file, K::wrong_content, K::wrong_first, K::wrong_middle,
                             K::other_bytes, K::wrong_last});
  if (fault == nullptr) return std::nullopt;
  std::string out(content);
  if (fault->kind == K::short_file) out.resize(out.size() - std::min<std::uint64_t>(fault->at, out.size()));
  if (fault->kind == K::long_file) out.append(fault->at, '\0');
  if (fault->kind == K::short_file || fault->kind == K::long_file || out.empty()) return out;
  if (fault->kind == K::other_bytes) {
    for (char& c : out) c = static_cast<char>(c ^ 0x55);
    return out;
  }
  std::size_t place = 0;
  if (fault->kind == K::wrong_content) place = hub_.draw() % out.size();
  if (fault->kind == K::wrong_middle) place = out.size() / 2;
  if (fault->kind == K::wrong_last) place = out.size() - 1;
  out[place] ^= 1;
  return out;
}

}  // namespace hf::test
