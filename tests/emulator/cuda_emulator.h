// CUDA's words for a plain C++ compiler: include this before a .cuh file and its kernels run on the CPU,
// checked as block_machine.h says. Blocks run one after another, in launch(), which throws where a kernel
// goes wrong.
//
//   hf::emulator::seed(7);                        // another order of threads
//   launch({blocks, threads}, nullptr, kernel<float>, x, y, n);
//
// Covered is what our kernels use: one-dimensional grids and blocks, static and dynamic shared memory,
// __syncthreads, __syncwarp, __shfl_{xor,up,down}_sync, atomicAdd, atomicMax, atomicExch, atomicCAS.
#pragma once
#include <cmath>
#include <source_location>
#include <type_traits>

#include "emulator/block_machine.h"
#include "runtime/cuda/geometry.h"
#include "runtime/cuda/kernels.h"
#include "tensor/half.h"

#define HF_KERNEL
#define HF_DEVICE
#define HF_BOTH
#define HF_SHARED(T, name, n)                                             \
  const ::hf::emulator::Shared<T> name = ::hf::emulator::shared_array<T>( \
      []() -> const void* {                                               \
        static char declaration = 0;                                      \
        return &declaration;                                              \
      }(),                                                                \
      n)
#define HF_DYNAMIC_SHARED(T, name) const ::hf::emulator::Shared<T> name = ::hf::emulator::dynamic_shared<T>()

namespace hf::emulator {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
struct LaunchState {
  Index block, blocks, threads;
  std::size_t dynamic_bytes = 0;
  std::uint64_t seed = 1;
  std::uint64_t launches = 0;
};
inline LaunchState& launch_state() {
  static thread_local LaunchState state;
  return state;
}
inline void seed(std::uint64_t value) { launch_state().seed = value; }

inline BlockMachine& machine() {
  if (BlockMachine::running() == nullptr) throw Error("a device function called outside a kernel");
  return *BlockMachine::running();
}

// An element of shared memory: converts to T when read, notes each access.
template <class T>
class SharedElement {
 public:
  SharedElement(T* value, Cell* cell, std::size_t index) : value_(value), cell_(cell), index_(index) {}
  operator T() const {  // NOLINT: stands for a T
    machine().check_read(*cell_, index_);
    return *value_;
  }
  const SharedElement& operator=(T value) const {
    machine().check_write(*cell_, index_);
    *value_ = value;
    return *this;
  }
  const SharedElement& operator=(const SharedElement& other) const { return *this = static_cast<T>(other); }
  const SharedElement& operator+=(T value) const {
    return *this = static_cast<T>(static_cast<T>(*this) + value);
  }

 private:
  T* value_;
  Cell* cell_;
  std::size_t index_;
};

template <class T>
class Shared {
 public:
  explicit Shared(SharedArray& array) : array_(&array) {}
  SharedElement<T> operator[](std::size_t index) const {
    if (index >= array_->cells.size())
      throw Error("thread " + std::to_string(machine().current().rank) + " touches shared element " +
                  std::to_string(index) + " of " + std::to_string(array_->cells.size()));
    return {reinterpret_cast<T*>(array_->bytes.data()) + index, &array_->cells[index], index};
  }

 private:
  SharedArray* array_;
};

template <class T>
Shared<T> shared_array(const void* declaration, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  return Shared<T>(machine().shared(declaration, count, sizeof(T)));
}
template <class T>
Shared<T> dynamic_shared() {
  return shared_array<T>(&launch_state(), launch_state().dynamic_bytes / sizeof(T));
}

template <class T, class Source>
T shuffled(unsigned mask, T value, std::source_location where, Source source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = machine().exchange(mask, bits, where, source);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// What the driver refuses, refused here as well: compute capability 7.5's limits.
inline void check_launch(unsigned blocks, unsigned threads, std::size_t shared_bytes) {
  if (blocks == 0 || blocks > 0x7fffffffu) throw Error("launch: " + std::to_string(blocks) + " blocks");
  if (threads == 0 || threads > 1024) throw Error("launch: " + std::to_string(threads) + " threads a block");
  if (shared_bytes > 48 * 1024)
    throw Error("launch: " + std::to_string(shared_bytes) + " bytes of shared memory");
}

inline void run_grid(unsigned blocks, unsigned threads, std::size_t shared_bytes,
                     std::function<void()> kernel) {
  check_launch(blocks, threads, shared_bytes);
  LaunchState& state = launch_state();
  BlockMachine block_machine(threads, state.seed + state.launches++, std::move(kernel));
  struct Running {
    explicit Running(BlockMachine* machine) { BlockMachine::running() = machine; }
    ~Running() { BlockMachine::running() = nullptr; }
  } running(&block_machine);
  state.blocks.x = blocks;
  state.threads.x = threads;
  state.dynamic_bytes = shared_bytes;
  for (unsigned block = 0; block < blocks; ++block) {
    state.block.x = block;
    block_machine.run_block();
  }
}

inline Index thread_index() { return {machine().current().rank, 0, 0}; }

}  // namespace hf::emulator

#define threadIdx (::hf::emulator::thread_index())
#define blockIdx (::hf::emulator::launch_state().block)
#define blockDim (::hf::emulator::launch_state().threads)
#define gridDim (::hf::emulator::launch_state().blocks)

inline void __syncthreads(std::source_location where = std::source_location::current()) {
  hf::emulator::machine().wait_at_barrier(where);
}
inline void __syncwarp(unsigned mask = 0xffffffffu,
                       std::source_location where = std::source_location::current()) {
  hf::emulator::shuffled(mask, 0, where, [](unsigned lane) { return lane; });
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes,
                  std::source_location where = std::source_location::current()) {
  return hf::emulator::shuffled(mask, value, where,
                                [lanes](unsigned lane) { return lane ^ static_cast<unsigned>(lanes); });
}
// A lane with none that far below or above gets its own value back.
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes,
                 std::source_location where = std::source_location::current()) {
  return hf::emulator::shuffled(mask, value, where,
                                [lanes](unsigned lane) { return lane >= lanes ? lane - lanes : lane; });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes,
                   std::source_location where = std::source_location::current()) {
  return hf::emulator::shuffled(mask, value, where, [lanes](unsigned lane) {
    return lane + lanes < hf::emulator::kWarp ? lane + lanes : lane;
  });
}

// One CPU thread runs all: plain operations are atomic.
template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  *at = static_cast<T>(old + value);
  return old;
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  *at = old < value ? value : old;
  return old;
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  *at = value;
  return old;
}
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}

namespace hf::runtime::cuda {

// Runs at once: a stream is nothing here.
template <class... P>
void launch(Geometry g, Stream, void (*kernel)(P...), std::type_identity_t<P>... arguments) {
  emulator::run_grid(g.blocks, g.threads, g.shared_bytes, [=] { kernel(arguments...); });
}

inline float float_of_half(std::uint16_t bits) { return f16_to_f32(bits); }
inline std::uint16_t half_of_float(float value) { return f32_to_f16(value); }

}  // namespace hf::runtime::cuda
