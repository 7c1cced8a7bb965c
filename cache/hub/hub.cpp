#include "cache/hub/hub.h"

#include <algorithm>
#include <iterator>

#include "base/escape.h"
#include "cache/http/url.h"

namespace hf::cache {
namespace {

constexpr std::size_t kMostPages = 10'000;
constexpr std::size_t kMostFiles = 2'000'000;
constexpr std::size_t kMostTopics = 20;

std::string subject_of(const Repo& repo, std::string_view revision) {
  return std::string(name_of(repo.type)) + " " + escaped(repo.id) + ", revision " + escaped(revision);
}

}  // namespace

Hub::Hub(Client& client, std::string endpoint, std::string token)
    : client_(client), endpoint_(std::move(endpoint)), token_(std::move(token)) {
  const std::string subject = "endpoint " + in_quotes(shown_url(endpoint_));
  if (endpoint_.find_first_of("?#") != std::string::npos)
    throw Error(ErrorKind::usage, subject + ": has a query, https://host is expected");
  try {
    origin_of(endpoint_);
  } catch (const Error&) {
    throw Error(ErrorKind::usage, subject + ": https://host or http://host is expected");
  }
  if (has_user(endpoint_))
    throw Error(ErrorKind::usage,
                subject + ": has a user name, a token (HF_TOKEN) is expected to say who asks");
}

std::string Hub::api_url(const Repo& repo) const {
  return endpoint_ + "/api/" + std::string(name_of(repo.type)) + "s/" + percent_encoded(repo.id, true);
}

Response Hub::ask(const Request& request, std::string_view subject) const {
  Response response = client_.send(request);
  note_warnings(response);
  if (!response.ok()) throw refusal_of(response, subject);
  return response;
}

Error Hub::refusal_of(const Response& response, std::string_view subject) const {
  const std::string body = parse_error_text(response.body);
  return refusal({.status = response.status(),
                  .code = response.find("x-error-code").value_or(""),
                  .message = response.find("x-error-message").value_or(body),
                  .requested_wait = response.requested_wait()},
                 subject);
}

// "topic; message", or a message alone, which is its own topic.
void Hub::note_warnings(const Response& response) const {
  const auto warning = tell_ ? response.find("x-hf-warning") : std::nullopt;
  if (!warning || warning->empty()) return;
  const std::size_t mark = warning->find(';');
  const std::string topic(warning->substr(0, mark));
  std::string_view text = mark == std::string_view::npos ? *warning : warning->substr(mark + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (warned_.size() < kMostTopics && warned_.insert(topic).second) tell_(escaped(text, 1000));
}

std::string Hub::commit_of(const Repo& repo, std::string_view revision) const {
  check_repo(repo);
  check_revision(revision);
  if (is_commit(revision)) return std::string(revision);
  const std::string subject = subject_of(repo, revision);
  const Response info = ask(
      {.url = api_url(repo) + "/revision/" + percent_encoded(revision, false), .bearer = token_}, subject);
  return parse_commit(info.body, subject);
}

std::vector<TreeFile> Hub::tree(const Repo& repo, std::string_view commit) const {
  check_repo(repo);
  const std::string subject = subject_of(repo, commit) + ", list of files";
  std::string url = api_url(repo) + "/tree/" + percent_encoded(commit, false) + "?recursive=true";
  const std::string home = origin_of(url);
  std::vector<TreeFile> files;
  std::set<std::string> seen;
  while (seen.size() < kMostPages && files.size() <= kMostFiles) {
    if (!seen.insert(url).second)
      throw Error(ErrorKind::integrity, subject + ": the next page is one that came before");
    const Response answer = ask({.url = url, .bearer = token_}, subject);
    std::vector<TreeFile> page = parse_tree_page(answer.body, subject);
    files.insert(files.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
    const auto link = answer.hops.back().headers.find("link");
    const auto next = link ? next_link(*link) : std::nullopt;
    if (!next) {
      check_tree(files, subject);
      return files;
    }
    url = resolve_url(answer.last_url(), *next);
    if (origin_of(url) != home)
      throw Error(ErrorKind::integrity, subject + ": the next page is on another host, " + shown_url(url));
  }
  throw Error(ErrorKind::integrity, subject + ": does not end");
}

std::vector<TreeFile> Hub::paths_info(const Repo& repo, std::string_view revision,
                                      const std::vector<std::string>& paths) const {
  check_repo(repo);
  check_revision(revision);
  const std::string subject = subject_of(repo, revision) + ", named files";
  Request request{.url = api_url(repo) + "/paths-info/" + percent_encoded(revision, false),
                  .method = Method::post,
                  .bearer = token_};
  std::vector<TreeFile> files;
  for (std::size_t first = 0; first < paths.size(); first += kMostNamedPaths) {
    const std::size_t last = std::min(first + kMostNamedPaths, paths.size());
    request.form.clear();
    for (std::size_t i = first; i < last; ++i)
      request.form += (i > first ? "&paths=" : "paths=") + percent_encoded(paths[i], false);
    std::vector<TreeFile> page = parse_tree_page(ask(request, subject).body, subject);
    files.insert(files.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
  }
  for (const TreeFile& file : files)
    if (std::find(paths.begin(), paths.end(), file.path) == paths.end())
      throw Error(ErrorKind::integrity,
                  subject + ": the server tells of " + in_quotes(file.path) + ", which was not asked for");
  check_tree(files, subject);
  return files;
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
