#include "cache/http/lanes.h"

#include <algorithm>

#include "cache/http/url.h"

namespace hf::cache {
namespace {

constexpr std::size_t kFirstConnections = 8;
constexpr unsigned kMostHttp2Failures = 3;
constexpr std::size_t kMostSpellings = 1000;

std::string_view front_of(std::string_view url) {
  const std::size_t authority = url.find("//");
  if (authority == std::string_view::npos) return url;
  return url.substr(0, url.find_first_of("/?#", authority + 2));
}

}  // namespace

Origin::Origin(std::string name, const ClientOptions& options)
    : name_(std::move(name)),
      single_(Window(kFirstConnections, options.most_connections, true), false),
      shared_(Window(options.most_streams, options.most_streams, false), true),
      shares_(name_.starts_with("https:")) {}

std::size_t Origin::limit(const Lane& lane) const {
  return lane.shared && !is_known_ ? 1 : lane.window.size();
}

void Origin::forget(const Exchange& exchange) {
  for (Lane* lane : {&single_, &shared_}) std::erase(lane->queue, &exchange);
}

void Origin::saw_version(bool http2) {
  is_known_ = true;
  if (http2)
    http2_failures_ = 0;
  else
    stop_sharing();
}

void Origin::saw_http2_failure() {
  if (++http2_failures_ >= kMostHttp2Failures) stop_sharing();
}

void Origin::stop_sharing() {
  shares_ = false;
  single_.queue.insert(single_.queue.end(), shared_.queue.begin(), shared_.queue.end());
  shared_.queue.clear();
}

Origin& Origins::of(std::string_view url) {
  const std::string front(front_of(url));
  if (const auto known = by_front_.find(front); known != by_front_.end()) return *known->second;
  const std::string name = origin_of(url);
  const auto same = std::find_if(origins_.begin(), origins_.end(),
                                 [&](const auto& origin) { return origin->name() == name; });
  Origin& origin =
      same != origins_.end() ? **same : *origins_.emplace_back(std::make_unique<Origin>(name, options_));
  if (by_front_.size() < kMostSpellings) by_front_.emplace(front, &origin);
  return origin;
}

}  // namespace hf::cache
