// What must not touch the test's own process: limits, signals, states that stay.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

namespace hf::test {

// The exit code of f() in a process of its own: 99 where it throws, minus the signal where one ends it.
template <class F>
int in_child(F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    int code = 99;
    try {
      code = f();
    } catch (...) {
    }
    _exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace hf::test
