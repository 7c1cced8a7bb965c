#!/usr/bin/env bash
# From a clone to a validated model: tools/quickstart.sh [REPO_ID]
#
# Installs the packages, builds the preset release, and then downloads a model into the cache, converts it to ONNX and
# validates what was written. Without REPO_ID the model is examples/tiny-bert, offered by a Hub on loopback, so no
# network is needed once the packages are there. With REPO_ID it comes from the Hub, or from HF_ENDPOINT, into the
# usual cache. Ends with 0 where the converted model gives what the original gives.
set -euo pipefail
cd "$(dirname "$0")/.."
case "$#:${1:-}" in
  0: | 1:[!-]*) repo=${1:-hfkit/tiny-bert} ;;
  *) echo "usage: tools/quickstart.sh [REPO_ID]" >&2; exit 2 ;;
esac
bin=build/release/bin
work=build/quickstart
onnx=$work/${repo##*/}-onnx
commands=()

# Shows a command, runs it and keeps it for the closing list.
run() {
  printf '\n$ %s\n' "$*"
  commands+=("$*")
  "$@"
}

echo "== packages"
tools/setup.sh --build-only
echo "== build"
mkdir -p "$work"
cmake --preset release >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build --preset release -j "$(nproc)" --target hfcache hfconvert hfvalidate loopback_hub -- --quiet

if [ $# -eq 0 ]; then
  echo "== a Hub on loopback that has $repo"
  rm -rf "$work/hub" "$work/home"
  mkdir -p "$work/hub/hfkit"
  cp -r examples/tiny-bert "$work/hub/hfkit/"
  unset HF_HUB_OFFLINE TRANSFORMERS_OFFLINE HF_HUB_CACHE HUGGINGFACE_HUB_CACHE TRANSFORMERS_CACHE HF_TOKEN
  exec 3< <(exec "$bin/loopback_hub" "$work/hub")
  hub=$!
  trap 'kill $hub 2>/dev/null || true' EXIT
  read -r -t 60 address <&3 || { echo "quickstart: the Hub on loopback did not start" >&2; exit 1; }
  export HF_ENDPOINT=$address HF_HOME=$work/home NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
  commands=("$bin/loopback_hub $work/hub &    # prints its address" "export HF_ENDPOINT=<its address> HF_HOME=$work/home")
fi

echo "== the model, in three steps"
run "$bin/hfcache" download "$repo" | tee "$work/snapshot"
commands+=("$bin/hfcache download $repo")  # a pipe's left side is a shell of its own
snapshot=$(tail -n 1 "$work/snapshot")
run "$bin/hfconvert" "$repo" --to onnx -o "$onnx" --overwrite
if [ -e "$snapshot/reference.safetensors" ]; then
  reference=$snapshot/reference.safetensors
else
  reference=$repo
fi
verdict=0
run "$bin/hfvalidate" compare "$onnx" --against "$reference" || verdict=$?

printf '\n== done in %d s\n' "$SECONDS"
echo "$repo lies in the cache at $snapshot,"
echo "as ONNX in $onnx, and was compared with $reference."
echo "The same by hand:"
printf '  %s\n' "${commands[@]}"
[ $verdict -eq 0 ] && echo "The converted model is validated." || echo "The converted model is NOT validated."
exit $verdict
