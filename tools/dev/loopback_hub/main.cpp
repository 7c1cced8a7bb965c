// A Hub on loopback over a folder of repositories, for trying the programs without a network:
//
//   loopback_hub ROOT [--port P] [--fault NAME]… [--until-eof]
//
// Prints its address on the first line of standard output and serves until SIGTERM or SIGINT, or until
// standard input closes.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

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

struct Options {
  std::string root, log;
  hf::test::HubOptions hub;
  std::vector<std::string> faults, gates;
  bool until_eof = false, list_faults = false;
};

void add_flags(CLI::App& app, Options& options) {
  hf::test::HubOptions& hub = options.hub;
  app.add_option("ROOT", options.root, "Folder of the repositories")->check(CLI::ExistingDirectory);
  app.add_option("--port", hub.port, "Port on 127.0.0.1; 0: a free one")->capture_default_str();
  app.add_option("--lfs-threshold", hub.lfs_threshold, "Files of more bytes are LFS files")
      ->capture_default_str();
  app.add_option("--page-size", hub.page_size, "Entries of a page of a tree")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--redirects", hub.redirects, "LFS files on another origin, others at a relative address");
  app.add_flag("--xet-hashes", hub.xet_hashes, "Tell xet hashes of LFS files in trees");
  app.add_option("--delay", hub.delay_ms, "Milliseconds before each answer")->capture_default_str();
  app.add_option("--rate", hub.bytes_per_second, "Bytes a second of each connection; 0: no limit")
      ->capture_default_str();
  app.add_option("--fault", options.faults,
                 "NAME[,target=PART][,times=N][,at=N][,status=N][,header=Name: value]; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--gate", options.gates, "REPO_ID=TOKEN: opens with that token only; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--seed", hub.seed, "Of what faults draw")->capture_default_str();
  app.add_option("--log", options.log, "File that gets a line of JSON for each request");
  app.add_flag("--faults", options.list_faults, "List the faults and end");
  app.add_flag("--until-eof", options.until_eof, "End when standard input closes");
}

// Tokens are not written: only whether one came along.
std::string log_line(const hf::test::LoggedRequest& request) {
  const nlohmann::json line = {{"method", request.method},
                               {"target", request.target},
                               {"away", request.away},
                               {"status", request.status},
                               {"body_bytes", request.body_bytes},
                               {"range", request.range},
                               {"user_agent", request.user_agent},
                               {"with_token", !request.authorization.empty()}};
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void list_faults() {
  std::vector<std::vector<std::string>> rows;
  for (const hf::test::FaultRow& row : hf::test::fault_rows())
    rows.push_back({std::string(row.name), std::string(row.what)});
  hf::print_out(hf::format_table({{"FAULT"}, {"WHAT"}}, rows));
}

void order_all(hf::test::FaultHub& hub, const Options& options) {
  for (const std::string& fault : options.faults) hub.order(hf::test::parse_fault(fault));
  for (const std::string& gate : options.gates) {
    const std::size_t equals = gate.find('=');
    if (equals == std::string::npos)
      throw hf::Error(hf::ErrorKind::usage, "--gate " + hf::in_quotes(gate) + ": REPO_ID=TOKEN is expected");
    hub.gate(gate.substr(0, equals), gate.substr(equals + 1));
  }
}

int serve(Options& options) {
  const int signals = signal_descriptor();  // before the threads, which inherit the mask
  std::ofstream log;
  if (!options.log.empty()) {
    log.open(options.log, std::ios::binary);
    if (!log) throw hf::Error(hf::ErrorKind::io, hf::escaped(options.log, 4096) + ": cannot be written");
    options.hub.answered = [&log](const auto& request) { log << log_line(request) << std::flush; };
  }
  hf::test::FaultHub hub(options.root, options.hub);
  order_all(hub, options);
  hf::print_out(hub.url() + "\n");
  std::fflush(stdout);
  wait_for_end(signals, options.until_eof);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app{"A Hub on loopback over a folder of repositories: ROOT/<org>/<name>/<files>, revision main.",
               "loopback_hub"};
  app.footer(
      "Examples:\n"
      "  loopback_hub models --port 8080 &\n"
      "  HF_ENDPOINT=http://127.0.0.1:8080 hfcache download org/name\n"
      "  loopback_hub models --fault drop,target=.safetensors,times=-1,at=1000000 --fault 429-seconds");
  Options options;
  add_flags(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : hf::exit_code(hf::ErrorKind::usage);
  }
  if (options.list_faults) {
    list_faults();
    return 0;
  }
  if (options.root.empty())
    throw hf::Error(hf::ErrorKind::usage, "ROOT: is missing, the folder of the repositories is expected");
  return serve(options);
}

}  // namespace

int main(int argc, char** argv) {
  return hf::run_program("loopback_hub", [&] { return run(argc, argv); });
}
