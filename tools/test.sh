#!/usr/bin/env bash
# Sets up, builds and tests everything: tools/test.sh
#
# Three builds: ci (warnings are errors; CUDA where it is installed) runs the whole suite; asan runs the tests of the
# rooms that read foreign bytes; fuzz runs each fuzz target for a few seconds from its kept corpus, where clang is
# there. Exit code 0 means that all of it passed. tools/dev/check_all has what takes longer.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
jobs=$(nproc)
failed=()
step() { printf '\n== %s (after %d s)\n' "$*" $((SECONDS - started)); }

step "packages"
tools/setup.sh
[ -d /usr/local/cuda/bin ] && PATH=$PATH:/usr/local/cuda/bin

environments=(hub1 hub2 olah)  # besides that of tests/requirements.txt
mkdir -p build
set -m  # a process group of its own, which an early end takes along
{  # downloads while the compiler works
  for name in "" "${environments[@]}"; do
    env=build/python_env${name:+-$name}
    tools/dev/python_env $name >"$env.path" 2>"$env.log" &
  done
  wait  # a path that is missing is what tells of a failure
} &
python_env=$!
set +m
trap '[ -z "$(jobs -rp)" ] || kill -- -$python_env' EXIT

step "build ci"
cmake --preset ci >build/configure-ci.log || { cat build/configure-ci.log; exit 1; }
grep "CUDA devices" build/configure-ci.log
grep -q "CUDA devices: ON" build/configure-ci.log || echo "CUDA is left out: it needs nvcc and cuBLAS"
cmake --build --preset ci -j "$jobs" -- --quiet

step "build and test asan: the rooms that read foreign bytes"
cmake --preset asan >build/configure-asan.log || { cat build/configure-asan.log; exit 1; }
cmake --build --preset asan -j "$jobs" --target foreign_bytes -- --quiet
ctest --preset asan -j "$jobs" -L '^(base|checkpoint|cache|converters|fuzz)$' --output-on-failure --progress ||
  failed+=("asan")

if command -v clang++ >/dev/null && echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++ -x c++ -fsanitize=fuzzer - -o build/fuzzer-probe 2>/dev/null; then
  step "build and run fuzz targets"
  cmake --preset fuzz >build/configure-fuzz.log || { cat build/configure-fuzz.log; exit 1; }
  cmake --build --preset fuzz -j "$jobs" --target fuzz -- --quiet
  ctest --preset fuzz -j "$jobs" -L '^fuzz$' --output-on-failure --progress || failed+=("fuzz")
else
  echo "fuzz targets are only replayed: no clang with libFuzzer"
fi

step "Python environments"
wait $python_env
trap - EXIT
interpreters=()
for name in "" "${environments[@]}"; do
  env=build/python_env${name:+-$name}
  if [ -s "$env.path" ]; then
    variable=HF_PYTHON${name:+_$name}
    interpreters+=("-D${variable^^}=$(cat "$env.path")")
  else
    cat "$env.log"
    failed+=("Python environment ${name:-of tests/requirements.txt}")
  fi
done
cmake --preset ci "${interpreters[@]}" >build/configure-ci.log

step "whole suite"
ctest --preset ci -j "$jobs" --output-on-failure 2>&1 | tee build/ctest.log || failed+=("suite")

python3 tools/dev/skipped_tests.py build/ci
for name in "${failed[@]}"; do echo "FAILED: $name"; done
printf 'all in %d s\n' $((SECONDS - started))
grep 'tests passed' build/ctest.log | tail -n 1
[ ${#failed[@]} -eq 0 ]
