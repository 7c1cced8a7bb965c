// What another user sees: one without the rights of the test's own, which may be root.
#pragma once
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/in_child.h"

namespace hf::test {

inline constexpr uid_t kNobody = 65534;

inline bool can_be_nobody() { return geteuid() == 0; }

// The exit code of f() run in a child, by nobody where the test may become that, else by the test's user.
template <class F>
int as_nobody(F&& f) {
  return in_child([&] {
    if (can_be_nobody() && (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
                            setresuid(kNobody, kNobody, kNobody) != 0))
      return 98;
    return f();
  });
}

}  // namespace hf::test
