// One of our programs as a child process, for tests of exit codes, signals and kills.
#pragma once
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hf::test {

struct Ended {
  int code = 0;  // of exit; 128 + the signal where one killed it
  std::string out, err;
};

class Child {
 public:
  // `name` lies in the build's bin folder, unless it is a path. Only `variables`, PATH and no_proxy=127.0.0.1
  // are in its environment.
  Child(const std::string& name, const std::vector<std::string>& arguments,
        const std::map<std::string, std::string>& variables = {});
  ~Child();  // kills it where it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool is_running();
  pid_t id() const { return id_; }  // -1 once it has ended
  void send(int signal) const;
  std::string out_so_far() const;
  Ended wait();

 private:
  std::filesystem::path out_, err_;
  pid_t id_ = -1;
  int status_ = 0;
};

Ended run(const std::string& name, const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& variables = {});

}  // namespace hf::test
