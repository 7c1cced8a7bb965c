// The remote side: a Hugging Face Hub, or whatever speaks its API at HF_ENDPOINT.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/http/client.h"
#include "cache/hub/answers.h"
#include "cache/hub/repo.h"

namespace hf::cache {

class Hub {
 public:
  // `client` must outlive the Hub. The token is sent to the endpoint's origin only.
  Hub(Client& client, std::string endpoint, std::string token);

  // The commit that a branch, a tag or a commit stands for. Error{not_found | denied | network | integrity}.
  std::string commit_of(const Repo& repo, std::string_view revision) const;

  // All files of a commit, sorted by path: one request a page.
  std::vector<TreeFile> tree(const Repo& repo, std::string_view commit) const;

  // The request for a file, or for a range of its bytes.
  Request file_request(const Repo& repo, std::string_view commit, std::string_view path,
                       std::optional<ByteRange> range) const;

  // The Error of an answer to such a request.
  Error refusal_of(const Response& response, std::string_view subject) const;

  Client& client() const { return client_; }
  const std::string& endpoint() const { return endpoint_; }

 private:
  Response ask(const std::string& url, std::string_view subject) const;
  std::string api_url(const Repo& repo) const;

  Client& client_;
  std::string endpoint_, token_;
};

}  // namespace hf::cache
