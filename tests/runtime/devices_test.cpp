#include <doctest/doctest.h>

#include "runtime/device.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::runtime;
using hf::test::error_of;

TEST_CASE("devices open by kind and number") {
  CHECK(open_device("cpu")->name() == "cpu");
  CHECK(open_device("cpu:0")->name() == "cpu");
  CHECK(open_device("cpu:3")->name() == "cpu:3");
}

TEST_CASE("a name that is no device is refused with those that are") {
  for (const char* name : {"", "gpu", "cpu:", "cpu:x", "cpu:-1", "cpu:1x", "CPU", "cpu:99999999999"}) {
    CAPTURE(name);
    const auto caught = error_of([&] { open_device(name); });
    CHECK(caught == ErrorKind::usage);
    CHECK(caught.says("cpu[:number] or cuda[:number]"));
  }
}

TEST_CASE("a CPU device counts what it gave and refuses more than its cap") {
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 1000});
  CHECK(device->memory().cap_bytes == 1000);
  void* first = device->allocate(600);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  const auto caught = error_of([&] { device->allocate(401); });
  CHECK(caught == ErrorKind::out_of_memory);
  CHECK(caught.says("401"));
  CHECK(caught.says("600 of 1000"));
  void* second = device->allocate(400);
  CHECK(device->memory().used_bytes == 1000);
  device->free(first, 600);
  device->free(second, 400);
  CHECK(device->memory().used_bytes == 0);
  CHECK(device->memory().peak_bytes == 1000);
  void* nothing = device->allocate(0);
  CHECK(nothing != nullptr);
  device->free(nothing, 0);
  device->free(nullptr, 0);
}

TEST_CASE("without a cap a CPU device has the machine's memory") {
  CHECK(open_device("cpu")->memory().cap_bytes > 1u << 20);
}

TEST_CASE("a source is no device's to run") {
  const auto device = open_device("cpu", {.threads = 1, .cap_bytes = 0});
  Node node{Input{"x"}, {}, {{DType::f32, {1}}}, "", -1};
  float value = 0;
  CHECK(error_of([&] { device->run(node, {}, {&value, DType::f32, {1}}); }) == ErrorKind::internal);
}
