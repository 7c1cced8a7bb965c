// A case that cannot run here says why and returns: if (no_gpu) return skip("no GPU"). ctest lists it as
// skipped.
#pragma once
#include <cstdio>

namespace hf::test {

inline void skip(const char* why) { std::printf("test skipped: %s\n", why); }

}  // namespace hf::test
