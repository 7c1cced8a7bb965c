// A stack of its own that runs until it hands the processor back: ucontext, with AddressSanitizer and
// ThreadSanitizer told of each change of stack.
#pragma once
#include <ucontext.h>

#include <cstddef>
#include <memory>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace hf::emulator {

class Fiber {
 public:
  // `body(argument)` must never return: it ends with a last leave().
  Fiber(void (*body)(void*), void* argument)
      : stack_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)), body_(body), argument_(argument) {
    getcontext(&inside_);
    inside_.uc_stack.ss_sp = stack_.get();
    inside_.uc_stack.ss_size = kStackBytes;
    inside_.uc_link = nullptr;
    makecontext(&inside_, &Fiber::begin, 0);
#ifdef __SANITIZE_THREAD__
    tsan_inside_ = __tsan_create_fiber(0);
#endif
  }
  // May be destroyed at any leave(): what lives on its stack is not destroyed, only its memory goes.
  ~Fiber() {
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(tsan_inside_);
#endif
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Called from outside: runs the fiber until its next leave().
  void enter() {
    entering_ = this;
#ifdef __SANITIZE_ADDRESS__
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, stack_.get(), kStackBytes);
#endif
#ifdef __SANITIZE_THREAD__
    tsan_outside_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_inside_, 0);
#endif
    swapcontext(&outside_, &inside_);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

  // Called on the fiber: goes back to who entered it.
  void leave() {
#ifdef __SANITIZE_ADDRESS__
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, outside_stack_, outside_bytes_);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(tsan_outside_, 0);
#endif
    swapcontext(&inside_, &outside_);
    arrived(
#ifdef __SANITIZE_ADDRESS__
        fake_stack
#else
        nullptr
#endif
    );
  }

 private:
  static constexpr std::size_t kStackBytes = 256 << 10;

  static void begin() {
    Fiber* self = entering_;
    self->arrived(nullptr);
    self->body_(self->argument_);
  }
  void arrived([[maybe_unused]] void* fake_stack) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake_stack, &outside_stack_, &outside_bytes_);
#endif
  }

  static inline thread_local Fiber* entering_ = nullptr;
  std::unique_ptr<std::byte[]> stack_;
  void (*body_)(void*);
  void* argument_;
  ucontext_t inside_, outside_;
#ifdef __SANITIZE_ADDRESS__
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
#endif
#ifdef __SANITIZE_THREAD__
  void* tsan_inside_ = nullptr;
  void* tsan_outside_ = nullptr;
#endif
};

}  // namespace hf::emulator
