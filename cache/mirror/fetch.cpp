#include "cache/mirror/fetch.h"

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "cache/http/url.h"

namespace hf::cache {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void OriginPauses::set(const std::string& url, milliseconds wait) {
  auto& until = until_[origin_of(url)];
  until = std::max(until, steady_clock::now() + wait);
}

milliseconds OriginPauses::left(const std::string& url) const {
  if (until_.empty()) return milliseconds(0);
  const auto found = until_.find(origin_of(url));
  if (found == until_.end()) return milliseconds(0);
  const auto left = std::chrono::ceil<milliseconds>(found->second - steady_clock::now());
  return std::max(left, milliseconds(0));
}

void Fetch::later(milliseconds wait, std::function<void()> work) {
  context_.hub.client().after(wait, [alive = std::weak_ptr(alive_), work = std::move(work)] {
    if (alive.lock()) work();
  });
}

void Fetch::finish_verified(VerifiedFile file) {
  auto shared = std::make_shared<VerifiedFile>(std::move(file));
  later(milliseconds(0), [this, shared] { context_.site.verified(*this, std::move(*shared)); });
}

void Fetch::finish_failed(const Error& error) {
  later(milliseconds(0), [this, error] { context_.site.failed(*this, error); });
}

std::optional<milliseconds> Fetch::wait_after(const Response& response, const std::string& why,
                                              bool progress) {
  if (!backoff_) backoff_.emplace(context_.hub.client().options().retry);
  if (progress) backoff_->reset();
  const auto wait = backoff_->next(response);
  if (!wait) {
    const std::string before = subject() + ": ";  // a refusal by the Hub begins with it already
    finish_failed(Error(ErrorKind::network, (why.starts_with(before) ? "" : before) + why));
    return std::nullopt;
  }
  if (response.status() == 429) context_.pauses.set(response.last_url(), *wait);
  context_.events.retrying(&file_, *wait, why);
  return wait;
}

std::string Fetch::subject() const { return escaped(file_.path, 1000); }

void Fetch::note_answer(const Response& response) {
  context_.hub.note_warnings(response);
  if (!response.hops.empty()) context_.report.redirects += response.hops.size() - 1;
}

}  // namespace hf::cache
