// The remote side: a Hugging Face Hub, or whatever speaks its API at HF_ENDPOINT.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/http/client.h"
#include "cache/hub/answers.h"
#include "cache/hub/identity.h"
#include "cache/hub/repo.h"

namespace hf::cache {

class Hub {
 public:
  static constexpr std::size_t kMostNamedPaths = 50;  // of one paths-info request

  // `client` must outlive the Hub. The token is sent to the endpoint's origin only. Error{usage} for an
  // endpoint that is no http or https URL, or one with a user, a password or a query.
  Hub(Client& client, std::string endpoint, std::string token);

  // The commit that a branch, a tag or a commit stands for; of 40 hex digits without a request.
  // Error{not_found | denied | network | integrity}.
  std::string commit_of(const Repo& repo, std::string_view revision) const;

  // All files of a commit, sorted by path: one request a page.
  std::vector<TreeFile> tree(const Repo& repo, std::string_view commit) const;

  // Those of `paths` that are files of the revision, sorted by path: one request for up to kMostNamedPaths.
  std::vector<TreeFile> paths_info(const Repo& repo, std::string_view revision,
                                   const std::vector<std::string>& paths) const;

  // The request for a file, or for a range of its bytes.
  Request file_request(const Repo& repo, std::string_view commit, std::string_view path,
                       std::optional<ByteRange> range) const;

  // The Error of an answer that is not 2xx.
  Error refusal_of(const Response& response, std::string_view subject) const;

  // What the Hub wants its users to know (X-HF-Warning) is told here, once a topic. Answers to requests of
  // others are handed to note_warnings().
  void on_warning(std::function<void(std::string_view)> tell) { tell_ = std::move(tell); }
  void note_warnings(const Response& response) const;

  Client& client() const { return client_; }
  const std::string& endpoint() const { return endpoint_; }
  bool has_token() const { return !token_.empty(); }

 private:
  Response ask(const Request& request, std::string_view subject) const;
  std::string api_url(const Repo& repo) const;

  Client& client_;
  std::string endpoint_, token_;
  std::function<void(std::string_view)> tell_;
  mutable std::set<std::string> warned_;  // topics
};

}  // namespace hf::cache
