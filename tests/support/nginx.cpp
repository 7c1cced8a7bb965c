#include "support/nginx.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "support/loopback_address.h"

namespace hf::test {
namespace {

std::filesystem::path program() {
  for (const char* path : {"/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/local/nginx/sbin/nginx"})
    if (access(path, X_OK) == 0) return path;
  return "";
}

unsigned short free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  close(fd);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

bool listens(unsigned short port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool open = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return open;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool Nginx::is_there() { return !program().empty(); }

Nginx::Nginx(const std::vector<std::string>& servers) {
  const std::string root = dir_.path().string(), log = root + "/log";
  std::string text =
      "daemon off; master_process off; pid " + root + "/pid; error_log " + log +
      " error;\nevents { worker_connections 512; }\nhttp { access_log off; server_tokens off;\n";
  for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    text += std::string(kind) + "_temp_path " + root + "/" + kind + ";\n";
  for (std::string server : servers) {
    ports_.push_back(free_port());
    while (server.find("PORT") != std::string::npos)
      server.replace(server.find("PORT"), 4, std::to_string(ports_.back()));
    text += "server { " + server + " }\n";
  }
  std::ofstream(dir_ / "conf") << text << "}\n";

  std::vector<std::string> words = {program().string(), "-p", root, "-c", root + "/conf", "-e", log};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int failed = posix_spawn(&id_, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("nginx cannot be started");
  for (int tries = 0; tries < 200; ++tries) {
    int status = 0;
    if (waitpid(id_, &status, WNOHANG) == id_) {
      id_ = -1;
      throw std::runtime_error("nginx ended: " + text_of(log));
    }
    bool all = true;
    for (const unsigned short port : ports_) all = all && listens(port);
    if (all) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
  throw std::runtime_error("nginx does not listen: " + text_of(log));
}

Nginx::~Nginx() {
  kill(id_, SIGTERM);
  waitpid(id_, nullptr, 0);
}

}  // namespace hf::test
