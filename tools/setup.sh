#!/usr/bin/env bash
# Installs the packages that building and testing need, on Debian 12 or what has the same packages. Does nothing where
# all are there.
#
#   tools/setup.sh               everything
#   tools/setup.sh --build-only  without what only tests need
set -euo pipefail

build=(
  g++ cmake ninja-build ccache
  libssl-dev nlohmann-json3-dev libcli11-dev
  libcurl4-openssl-dev                                # cache/http
  libonnx-dev libprotobuf-dev protobuf-compiler       # converters/onnx
  libdnnl-dev ocl-icd-opencl-dev                      # runtime/cpu; oneDNN's CMake files look for OpenCL
  ca-certificates python3
)
tests=(
  doctest-dev python3-venv
  dpkg-dev file                                       # the .deb package and its dependencies
  groff-base                                          # the manual pages, checked
  nginx-light openssl tmux                            # TLS and HTTP/2 to download from; a recorded terminal
  util-linux
)
# Whose absence only leaves checks out: fuzzing, layout, lint, and in benchmarks a rival and exact peaks.
wanted=(clang libclang-rt-dev clang-format clang-tidy aria2 time)

case "${1:-}" in
  "") packages=("${build[@]}" "${tests[@]}") ;;
  --build-only) packages=("${build[@]}") wanted=() ;;
  *) echo "usage: tools/setup.sh [--build-only]" >&2; exit 2 ;;
esac

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
missing() {
  local package
  for package in "$@"; do installed "$package" || echo "$package"; done
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: this system has no apt; install what corresponds to: ${packages[*]}" >&2
  exit 1
fi

mapfile -t needed < <(missing "${packages[@]}")
mapfile -t extra < <(missing "${wanted[@]}")
[ ${#needed[@]} -gt 0 ] || [ ${#extra[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: neither root nor sudo; have these installed: ${needed[*]} ${extra[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)

echo "setup: installing ${needed[*]} ${extra[*]}"
"${apt[@]}" update </dev/null
for package in "${extra[@]}"; do
  if apt-cache show "$package" >/dev/null 2>&1; then needed+=("$package"); else echo "setup: no package $package"; fi
done
[ ${#needed[@]} -eq 0 ] || "${apt[@]}" install -y --no-install-recommends "${needed[@]}" </dev/null >/dev/null
