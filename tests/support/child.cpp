#include "support/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace hf::test {
namespace {

std::filesystem::path new_file() {
  std::string name = (std::filesystem::temp_directory_path() / "hf-child-XXXXXX").string();
  const int fd = mkstemp(name.data());
  if (fd < 0) throw std::runtime_error("no temporary file: " + name);
  close(fd);
  return name;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Child::Child(const std::string& name, const std::vector<std::string>& arguments,
             const std::map<std::string, std::string>& variables)
    : out_(new_file()), err_(new_file()) {
  const std::string program =
      name.find('/') == std::string::npos ? std::string(HF_PROGRAM_DIR) + "/" + name : name;
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "no_proxy=127.0.0.1"};
  for (const auto& [key, value] : variables) environment.push_back(key + "=" + value);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), O_WRONLY | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), O_WRONLY | O_TRUNC, 0600);
  const int failed = posix_spawn(&id_, program.c_str(), &actions, nullptr, pointers(words).data(),
                                 pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + program);
}

Child::~Child() {
  if (is_running()) {
    send(SIGKILL);
    waitpid(id_, &status_, 0);
  }
  std::filesystem::remove(out_);
  std::filesystem::remove(err_);
}

bool Child::is_running() {
  if (id_ < 0) return false;
  if (waitpid(id_, &status_, WNOHANG) == 0) return true;
  id_ = -1;
  return false;
}

void Child::send(int signal) const {
  if (id_ > 0) kill(id_, signal);
}

std::string Child::out_so_far() const { return text_of(out_); }

Ended Child::wait() {
  if (id_ > 0) waitpid(id_, &status_, 0);
  id_ = -1;
  const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  return {code, text_of(out_), text_of(err_)};
}

Ended run(const std::string& name, const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& variables) {
  return Child(name, arguments, variables).wait();
}

}  // namespace hf::test
