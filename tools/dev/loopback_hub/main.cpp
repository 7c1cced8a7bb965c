// A Hub on loopback over a folder of repositories, for trying the programs without a network:
//
//   loopback_hub ROOT [--port P] [--log FILE] [--until-eof]
//
// Prints its address on the first line of standard output and serves until SIGTERM or SIGINT, or until
// standard input closes.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/escape.h"
#include "support/fault_hub.h"
#include "tools/program/program.h"

namespace {

// Signals arrive through a descriptor, so that one poll() waits for all that can end the program.
int signal_descriptor() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) throw hf::system_error("signals", errno);
  const int fd = signalfd(-1, &signals, SFD_CLOEXEC);
  if (fd < 0) throw hf::system_error("signals", errno);
  return fd;
}

void wait_for_end(int signals, bool until_eof) {
  pollfd fds[2] = {{signals, POLLIN, 0}, {until_eof ? STDIN_FILENO : -1, POLLIN, 0}};
  while (true) {
    if (poll(fds, 2, -1) < 0) continue;
    char ignored[4096];
    if (fds[0].revents != 0) return;
    if (fds[1].revents != 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return;
  }
}

// Appends "<method> <target> <range>" to a file for each request, before it is answered.
class RequestLog {
 public:
  explicit RequestLog(const std::string& path) : file_(path, std::ios::app) {
    if (!file_) throw hf::system_error(path, errno);
  }

  void add(const hf::test::HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    file_ << request.method << ' ' << request.target << ' ' << request.header("range") << std::endl;
  }

 private:
  std::mutex mutex_;
  std::ofstream file_;
};

int run(int argc, char** argv) {
  CLI::App app{"A Hub on loopback over a folder of repositories: ROOT/<org>/<name>/<files>, revision main.",
               "loopback_hub"};
  app.footer(
      "Example:\n  loopback_hub models &\n  HF_ENDPOINT=http://127.0.0.1:8080 hfcache download org/name");
  std::string root, log_path;
  hf::test::HubOptions options;
  bool until_eof = false;
  app.add_option("ROOT", root, "Folder of the repositories")->required()->check(CLI::ExistingDirectory);
  app.add_option("--port", options.port, "Port on 127.0.0.1; 0: a free one")->capture_default_str();
  app.add_option("--lfs-threshold", options.lfs_threshold, "Files of more bytes are LFS files")
      ->capture_default_str();
  app.add_option("--log", log_path, "File that each request is written to, a line each");
  app.add_flag("--until-eof", until_eof, "End when standard input closes");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : hf::exit_code(hf::ErrorKind::usage);
  }
  const int signals = signal_descriptor();  // before the threads, which inherit the mask
  std::optional<RequestLog> log;
  if (!log_path.empty()) {
    log.emplace(log_path);
    options.watch = [&log](const hf::test::HttpRequest& request, bool) { log->add(request); };
  }
  const hf::test::FaultHub hub(root, options);
  hf::print_out(hub.url() + "\n");
  std::fflush(stdout);
  wait_for_end(signals, until_eof);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return hf::run_program("loopback_hub", [&] { return run(argc, argv); });
}
