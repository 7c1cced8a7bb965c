#include "tools/hfcache/token_input.h"

#include <termios.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "base/escape.h"
#include "cache/hub/credentials.h"
#include "tools/program/standard_input.h"

namespace hf::cache {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;

// What is typed is not shown while this lives.
class NoEcho {
 public:
  NoEcho() {
    tcgetattr(STDIN_FILENO, &before_);
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~NoEcho() {
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    std::fputc('\n', stderr);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;

 private:
  termios before_{};
};

std::string not_empty(std::string token, const std::string& subject) {
  if (token.empty()) throw Error(ErrorKind::usage, subject + ": holds no token");
  return token;
}

}  // namespace

Argument token_file_row(std::optional<std::filesystem::path>& file) {
  return option("--token-file", "FILE", file,
                "File with the token, \"-\" for standard input; instead of HF_TOKEN and the stored login")
      .completed_as(Completes::file);
}

std::string token_for(const Environment& environment, const std::optional<std::filesystem::path>& file) {
  if (!file) return token(environment, std::nullopt);
  if (*file == "-")
    return not_empty(cleaned_token(read_standard_input(kMostBytes), "standard input"), "standard input");
  std::error_code failed;
  if (std::filesystem::is_directory(*file, failed))
    throw Error(ErrorKind::usage, "--token-file: " + in_quotes(file->string(), 4096) + " is a folder");
  return not_empty(token(environment, file), shown(*file));
}

std::string typed_token() {
  if (isatty(STDIN_FILENO) == 0)
    throw Error(ErrorKind::usage,
                "standard input: is no terminal to ask for a token, --token-file - takes it from there");
  std::string text;
  {
    const NoEcho hidden;  // first: what is typed at the sight of the question must not be seen, nor lost
    std::fputs("Token (it is not shown): ", stderr);
    text = read_standard_input(kMostBytes, Until::line_end);
  }
  return not_empty(cleaned_token(std::move(text), "the token"), "the terminal");
}

}  // namespace hf::cache
