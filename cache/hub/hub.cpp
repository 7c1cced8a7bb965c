#include "cache/hub/hub.h"

#include "base/escape.h"
#include "cache/http/url.h"

namespace hf::cache {
namespace {

constexpr std::size_t kMostPages = 10'000;
constexpr std::size_t kMostFiles = 2'000'000;

std::string subject_of(const Repo& repo, std::string_view revision) {
  return std::string(name_of(repo.type)) + " " + escaped(repo.id) + ", revision " + escaped(revision);
}

}  // namespace

Hub::Hub(Client& client, std::string endpoint, std::string token)
    : client_(client), endpoint_(std::move(endpoint)), token_(std::move(token)) {
  if (endpoint_.find_first_of("?#") != std::string::npos)
    throw Error(ErrorKind::usage,
                "endpoint " + in_quotes(endpoint_) + ": has a query, https://host is expected");
  try {
    origin_of(endpoint_);
  } catch (const Error&) {
    throw Error(ErrorKind::usage,
                "endpoint " + in_quotes(endpoint_) + ": https://host or http://host is expected");
  }
}

std::string Hub::api_url(const Repo& repo) const {
  return endpoint_ + "/api/" + std::string(name_of(repo.type)) + "s/" + percent_encoded(repo.id, true);
}

Response Hub::ask(const std::string& url, std::string_view subject) const {
  Response response = client_.send({.url = url, .bearer = token_});
  if (!response.ok()) throw refusal_of(response, subject);
  return response;
}

Error Hub::refusal_of(const Response& response, std::string_view subject) const {
  return refusal(response.status(), response.find("x-error-code").value_or(""),
                 response.find("x-error-message").value_or(""), subject, !token_.empty());
}

std::string Hub::commit_of(const Repo& repo, std::string_view revision) const {
  check_repo(repo);
  check_revision(revision);
  const std::string subject = subject_of(repo, revision);
  const Response info = ask(api_url(repo) + "/revision/" + percent_encoded(revision, false), subject);
  std::string commit = parse_commit(info.body, subject);
  if (is_commit(revision) && commit != revision)
    throw Error(ErrorKind::integrity, subject + ": the server answers with commit " + commit);
  return commit;
}

std::vector<TreeFile> Hub::tree(const Repo& repo, std::string_view commit) const {
  const std::string subject = subject_of(repo, commit) + ", list of files";
  std::string url = api_url(repo) + "/tree/" + percent_encoded(commit, false) + "?recursive=true";
  const std::string home = origin_of(url);
  std::vector<TreeFile> files;
  for (std::size_t page = 0; page < kMostPages; ++page) {
    const Response answer = ask(url, subject);
    for (TreeFile& file : parse_tree_page(answer.body, subject)) files.push_back(std::move(file));
    if (files.size() > kMostFiles) break;
    const auto link = answer.find("link");
    const auto next = link ? next_link(*link) : std::nullopt;
    if (!next) {
      check_tree(files, subject);
      return files;
    }
    url = resolve_url(url, *next);
    if (origin_of(url) != home)
      throw Error(ErrorKind::integrity, subject + ": the next page is on another host, " + shown_url(url));
  }
  throw Error(ErrorKind::integrity, subject + ": does not end");
}

Request Hub::file_request(const Repo& repo, std::string_view commit, std::string_view path,
                          std::optional<ByteRange> range) const {
  const std::string prefix =
      repo.type == RepoType::model ? "/" : "/" + std::string(name_of(repo.type)) + "s/";
  return {.url = endpoint_ + prefix + percent_encoded(repo.id, true) + "/resolve/" +
                 percent_encoded(commit, false) + "/" + percent_encoded(path, true),
          .bearer = token_,
          .range = range};
}

}  // namespace hf::cache
