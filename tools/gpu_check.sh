#!/usr/bin/env bash
# Builds everything CUDA for the GPU of this machine and checks it there: tools/gpu_check.sh [--build-only]
#
#   1. build      preset cuda for this GPU's architecture: the tests of label gpu, and hfvalidate
#   2. tests      each kernel, each fixture and the device itself, against the CPU and transformers' results
#   3. model      hfvalidate compare on examples/tiny-bert, on the GPU
#   4. sanitizer  compute-sanitizer's memcheck, racecheck and synccheck over the kernels, where it is installed
#
# All of it ends within 8 minutes. Exit code 0: all passed; 1: something failed; 77: no GPU here, nothing was done.
# The packages are those of tools/setup.sh; CMAKE_PREFIX_PATH finds them elsewhere. --build-only needs no GPU: it stops
# after the first step, with code for CMAKE_CUDA_ARCHITECTURES' defaults.
set -uo pipefail
cd "$(dirname "$0")/.."
limit=480
build=build/cuda
[ -d /usr/local/cuda/bin ] && PATH=$PATH:/usr/local/cuda/bin
summary=()
failed=0

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }
passed() { summary+=("ok        $*"); }
left_out() { summary+=("left out  $*"); }
fail() {
  summary+=("FAILED    $*")
  failed=1
}
within() {  # the command, ended when the time is up
  local left=$((limit - SECONDS))
  ((left > 0)) || { echo "no time left"; return 124; }
  timeout --kill-after=5 "$left" "$@"
}
finish() {
  step "summary"
  printf '%s\n' "${summary[@]}"
  printf 'all in %d s\n' "$SECONDS"
  exit "$failed"
}

architectures=native
if [ "${1:-}" = --build-only ]; then
  architectures=""
elif [ $# -gt 0 ]; then
  echo "usage: tools/gpu_check.sh [--build-only]" >&2
  exit 2
elif [ ! -e /dev/nvidiactl ] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "no NVIDIA GPU on this machine: nothing was checked"
  exit 77
else
  nvidia-smi --query-gpu=name,compute_cap,driver_version,memory.total --format=csv,noheader 2>/dev/null
fi

step "build"
mkdir -p "$build"
if within cmake --preset cuda -DHF_TESTS=ON ${architectures:+-DCMAKE_CUDA_ARCHITECTURES=$architectures} >"$build/configure.log" 2>&1 &&
    within cmake --build "$build" -j "$(nproc)" --target gpu_test hfvalidate >"$build/build.log" 2>&1; then
  passed "build ($SECONDS s)"
else
  tail -n 30 "$build/configure.log" "$build/build.log" 2>/dev/null
  fail "build: see $build/configure.log and build.log"
  finish
fi
[ -n "$architectures" ] || finish

step "tests"
within ctest --test-dir "$build" -L '^gpu$' --output-on-failure 2>&1 | tee "$build/gpu_tests.log"
tests_code=${PIPESTATUS[0]}
# One case is for machines without a GPU and is skipped here.
skipped=$(grep -c '\*\*\*Skipped' "$build/gpu_tests.log")
if [ "$tests_code" -ne 0 ]; then
  fail "tests: see $build/gpu_tests.log"
elif [ "$skipped" -ne 1 ]; then
  fail "tests: $skipped cases were skipped, expected 1"
else
  passed "tests: $(grep 'tests passed' "$build/gpu_tests.log")"
fi

step "model"
if within "$build/bin/hfvalidate" compare examples/tiny-bert --against examples/tiny-bert/reference.safetensors --layers \
    --device cuda; then
  passed "model: examples/tiny-bert"
else
  fail "model: examples/tiny-bert"
fi

sanitize() {  # tool, options: memcheck's report ends with a summary, or the tool could not run here
  local log="$build/sanitizer_$1.log"
  within compute-sanitizer --tool "$@" --error-exitcode 9 "$build/bin/gpu_test" -tc='each op*' >"$log" 2>&1
  local code=$?
  if [ "$code" -eq 0 ] && grep -q 'SUMMARY' "$log"; then
    passed "sanitizer $1: $(grep SUMMARY "$log" | tail -n 1)"
  elif grep -q 'SUMMARY: [1-9]' "$log" || [ "$code" -eq 9 ]; then
    tail -n 40 "$log"
    fail "sanitizer $1: see $log"
  else
    left_out "sanitizer $1: $(tail -n 1 "$log")"
  fi
}
step "sanitizer"
if command -v compute-sanitizer >/dev/null; then
  sanitize memcheck --leak-check full
  sanitize racecheck
  sanitize synccheck
else
  left_out "sanitizer: compute-sanitizer is not installed"
fi
finish
