#!/usr/bin/env python3
"""What hfcache costs beside curl, aria2c and `hf download`, all in one run on loopback.

nginx imitates the Hub with fixed answers, its files in the page cache; downloads go to a folder in memory. Each part
runs its commands in turn, several times over, so that a busy minute of the machine falls on all alike; figures are
medians, CPU is user + system, memory the peak. Beside each ratio stands the goal. Parts (--only a,b):

  a  one large file                         e  listing 50 repositories of 200 files
  b  2,000 files of 20 KB                   f  verifying, against `openssl speed`
  c  the same, 80 ms of round trip away     g  one large file, each connection limited
  d  the same once more, nothing to do
"""

import argparse
import contextlib
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))

from costs import MIB, machine, measure, middle, write_section  # noqa: E402
from goals import Goal, cost_table, goal_table  # noqa: E402
from hub_clients import LoopbackHub, clean_environment  # noqa: E402
from made_caches import make_cache, write_blocks  # noqa: E402
from static_hub import StaticHub, free_port, nginx_program  # noqa: E402

TITLE = "## Downloading with hfcache"
SMALL_BYTES = 20_000
ROUND_TRIP_MS = 80


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.target = Path(tempfile.mkdtemp(prefix="cache_bench", dir=options.fast))
        self.environment = clean_environment(work / "home")
        self.costs, self.goals, self.notes = {}, [], []
        self.hf = {}  # version: program
        for python in filter(None, options.python):
            version = subprocess.run(
                [python, "-c", "import huggingface_hub as h; print(h.__version__)"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.strip()
            self.hf[version] = str(Path(python).parent / "hf")
            subprocess.run([self.hf[version], "download", "--help"], capture_output=True)  # compiles its bytecode

    # The commands.

    def hfcache(self, *words, cache=None):
        verb, *rest = words
        return [self.options.hfcache, verb, *rest, "--cache-dir", cache or self.target / "cache"]

    def hf_download(self, repo_id):
        return {
            f"hf {version}": [program, "download", repo_id, "--cache-dir", self.target / "cache"]
            for version, program in self.hf.items()
        }

    def clear(self, folder=None):
        folder = folder or self.target
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def run(self, part, commands, hub=None, before=None, repetitions=None):
        """Measures each command as often as asked; `before` makes its place ready."""
        environment = self.environment | ({"HF_ENDPOINT": hub.link_url} if hub else {})
        for repetition in range(repetitions or self.options.repetitions):
            for name, command in commands.items():
                (before or self.clear)()
                cost = measure(command, environment)
                self.costs.setdefault((part, name), []).append(cost)
                print(
                    f"{part} {repetition} {name:24} wall {cost.wall_seconds:7.2f} s  CPU {cost.cpu_seconds:7.2f} s  "
                    f"peak {cost.peak_bytes / MIB:6.1f} MiB",
                    file=sys.stderr,
                    flush=True,
                )
        self.clear()

    def of(self, part, name, field):
        return middle(self.costs[part, name], field)

    def wall(self, part, name="hfcache"):
        return self.of(part, name, "wall_seconds")

    def cpu(self, part, name="hfcache"):
        return self.of(part, name, "cpu_seconds")

    def goal(self, what, ours, theirs, unit="s"):
        self.goals.append(Goal(what, ours, theirs, unit))

    def hf_of_major(self, major):
        return next((f"hf {version}" for version in self.hf if version.startswith(f"{major}.")), None)

    # The parts.

    def large_file(self):
        root = self.work / "large"
        file = root / "model.safetensors"
        write_blocks(file, self.options.size_mb * MIB)
        with StaticHub(self.work / "hub-large", {"acme/large": root}) as hub:
            url = f"{hub.url}/acme/large/resolve/main/{file.name}"
            commands = (
                {"curl": ["curl", "-sS", "-o", self.target / "x", url]}
                | aria2c(url, self.target, (1, 8))
                | {
                    "openssl dgst -sha256": ["openssl", "dgst", "-sha256", file],
                    "hfcache": self.hfcache("download", "acme/large"),
                }
                | self.hf_download("acme/large")
            )
            self.run("a", commands, hub)
            disk = self.work / "disk"
            self.run(
                "a, to disk",
                {
                    "curl && sync -f": ["sh", "-c", f"curl -sS -o {disk}/x {url} && sync -f {disk}/x"],
                    "hfcache": self.hfcache("download", "acme/large", cache=disk / "cache"),
                },
                hub,
                before=lambda: self.clear(disk),
            )
            shutil.rmtree(disk)
        shutil.rmtree(root)
        size = f"{self.options.size_mb:,} MiB"
        self.goal(f"{size}: wall time, 1.1 × curl", self.wall("a"), 1.1 * self.wall("a", "curl"))
        self.goal(
            f"{size}: CPU, curl + openssl dgst",
            self.cpu("a"),
            self.cpu("a", "curl") + self.cpu("a", "openssl dgst -sha256"),
        )
        self.goal(f"{size}: memory, 48 MB", self.of("a", "hfcache", "peak_bytes") / 1e6, 48, "MB")
        self.goal(
            f"{size} to disk: wall time, 1.1 × (curl && sync -f)",
            self.wall("a, to disk"),
            1.1 * self.wall("a, to disk", "curl && sync -f"),
        )

    def small_hub(self, **options):
        root = self.work / "small"
        for i in range(self.options.files):
            write_blocks(root / f"{i:05}.bin", SMALL_BYTES, i)
        return StaticHub(self.work / f"hub-small-{len(os.listdir(self.work))}", {"acme/small": root}, **options)

    def small_files_from(self, base):
        """curl's list of them, whose destination is cleared before each run."""
        path = self.work / "urls"
        path.write_text(
            "".join(
                f'url="{base}/acme/small/resolve/main/{i:05}.bin"\noutput="{self.target}/{i}"\n'
                for i in range(self.options.files)
            )
        )
        return path

    def small_files(self):
        with self.small_hub() as hub:
            urls = self.small_files_from(hub.url)
            commands = {
                "curl -Z && sync -f": ["sh", "-c", f"curl -sS -Z --parallel-max 16 -K {urls} && sync -f {self.target}"],
                "hfcache": self.hfcache("download", "acme/small"),
            } | self.hf_download("acme/small")
            if shutil.which("aria2c"):
                listed = self.work / "aria2"
                listed.write_text(
                    "".join(f"{hub.url}/acme/small/resolve/main/{i:05}.bin\n" for i in range(self.options.files))
                )
                commands["aria2c -j16"] = [
                    "aria2c",
                    "-q",
                    "-j16",
                    "--file-allocation=none",
                    "-d",
                    self.target,
                    "-i",
                    listed,
                ]
            self.run("b", commands, hub)
        count = f"{self.options.files:,} files"
        self.goal(
            f"{count}: wall time, 1.5 × (curl -Z && sync -f)",
            self.wall("b"),
            1.5 * self.wall("b", "curl -Z && sync -f"),
        )
        if name := self.hf_of_major(2):
            self.goal(f"{count}: CPU, 1/20 of {name}", self.cpu("b"), self.cpu("b", name) / 20)

    def far_away(self):
        port = free_port()
        with self.small_hub(link_port=port) as hub, delaying_proxy(self.options, hub.port, port):
            urls = self.small_files_from(hub.link_url)
            self.run(
                "c",
                {
                    f"curl -Z, {n} connections": ["curl", "-sS", "-Z", "--parallel-max", str(n), "-K", urls]
                    for n in (16, 64)
                }
                | {"hfcache": self.hfcache("download", "acme/small")},
                hub,
            )
            self.run("c", self.hf_download("acme/small"), hub, repetitions=1)  # 20 to 50 s each
        self.goal(
            f"{self.options.files:,} files, {ROUND_TRIP_MS} ms away: wall time, 4 s",
            self.wall("c"),
            4 * self.options.files / 2000,
        )

    def nothing_to_do(self):
        with self.small_hub() as hub:
            for name, command in (
                {"hfcache": self.hfcache("download", "acme/small")} | self.hf_download("acme/small")
            ).items():
                self.clear()
                measure(command, self.environment | {"HF_ENDPOINT": hub.url})
                self.run_again(name, command, hub)
            self.clear()
        for name in self.hf_download(""):
            self.goal(
                f"{self.options.files:,} files, nothing to do: wall time, 1/20 of {name}",
                self.wall("d"),
                self.wall("d", name) / 20,
            )

    def run_again(self, name, command, hub):
        for repetition in range(self.options.repetitions):
            self.costs.setdefault(("d", name), []).append(measure(command, self.environment | {"HF_ENDPOINT": hub.url}))

    def listing(self):
        cache = self.target / "listed"
        make_cache(cache, 50, 200)
        commands = {"hfcache": self.hfcache("ls", cache=cache)}
        for version, program in self.hf.items():
            words = ["scan", "--dir"] if version.startswith("0.") else ["ls", "--cache-dir"]
            commands[f"hf {version}"] = [program, "cache", *words, cache]
        self.run("e", commands, before=lambda: None)
        for name in self.hf_download(""):
            self.goal(f"ls of 50 × 200 files: wall time, 1/20 of {name}", self.wall("e"), self.wall("e", name) / 20)

    def verifying(self):
        cache = self.target / "verified"
        size = min(self.options.size_mb, 2048) * MIB
        make_cache(cache, 1, 8, size // 8)
        self.run("f", {"hfcache verify": self.hfcache("verify", cache=cache)}, before=lambda: None)
        cores = len(os.sched_getaffinity(0))
        one, all_cores = self.openssl_speed(), self.openssl_speed("-elapsed", "-multi", str(cores))
        self.notes.append(
            f"`openssl speed -evp sha256`, blocks of 16 KiB: {one / 1e9:.2f} GB a CPU second, "
            f"{all_cores / 1e9:.2f} GB/s on "
            f"{cores} cores; `hfcache verify`: {size / self.wall('f', 'hfcache verify') / 1e9:.2f} GB/s on {cores}."
        )
        self.goal("verify: CPU, bytes / (0.95 × openssl speed)", self.cpu("f", "hfcache verify"), size / (0.95 * one))
        self.goal(
            f"verify: wall time, bytes / (0.95 × openssl speed on {cores} cores)",
            self.wall("f", "hfcache verify"),
            size / (0.95 * all_cores),
        )

    def openssl_speed(self, *words):
        """Bytes a second."""
        command = ["openssl", "speed", *words, "-seconds", "3", "-bytes", "16384", "-evp", "sha256"]
        printed = measure(command, self.environment).printed
        return float(re.findall(r"([\d.]+)k\s*$", printed, flags=re.M)[-1]) * 1000

    def limited_connections(self):
        rate = 10 * MIB  # by the Hub of the tests: nginx gives each request the bytes of a second beforehand
        root = self.work / "limited"
        write_blocks(root / "acme/limited/model.safetensors", min(self.options.size_mb, 800) * MIB)
        with LoopbackHub(self.options.hub, root, self.work / "limited.log", "--rate", str(rate)) as hub:
            hub.link_url = hub.url
            url = f"{hub.url}/acme/limited/resolve/main/model.safetensors"
            measure(["curl", "-sS", "-o", os.devnull, "-r", "0-0", url], self.environment)  # it hashes the file first
            size = (root / "acme/limited/model.safetensors").stat().st_size
            ranges = [f"{first}-{min(first + size // 8, size) - 1}" for first in range(0, size, size // 8)]
            eighths = " & ".join(f"curl -sS -o {os.devnull} -r {one} {url}" for one in ranges) + " & wait"
            programs = {"8 × curl": ["sh", "-c", eighths]} | aria2c(url, self.target, (8,))
            self.run("g", programs | {"hfcache": self.hfcache("download", "acme/limited")}, hub)
        self.goal(
            "8 connections of 10 MiB/s each: wall time, that of 8 × curl / 0.9",
            self.wall("g"),
            self.wall("g", "8 × curl") / 0.9,
        )
        shutil.rmtree(root)

    def report(self):
        yield TITLE
        yield ""
        yield f"{machine()}; {datetime.date.today().isoformat()}; load {os.getloadavg()[0]:.1f} at the end."
        options = self.options
        yield f"`tests/bench/cache_bench.py --hfcache hfcache --size-mb {options.size_mb} --files {options.files}"
        yield f"--repetitions {options.repetitions}`, parts {options.only}:"
        yield "nginx on loopback, its files in the page cache, to a folder in memory. Medians; CPU is user + system."
        yield ""
        yield from goal_table(self.goals)
        yield ""
        yield from cost_table(self.costs)
        for note in self.notes:
            yield ""
            yield note
        yield ""


PARTS = {
    "a": Bench.large_file,
    "b": Bench.small_files,
    "c": Bench.far_away,
    "d": Bench.nothing_to_do,
    "e": Bench.listing,
    "f": Bench.verifying,
    "g": Bench.limited_connections,
}


def aria2c(url, folder, connections):
    if not shutil.which("aria2c"):
        print("left out: aria2c is not installed", file=sys.stderr)
        return {}
    return {
        f"aria2c -x{n}": [
            "aria2c",
            "-q",
            f"-x{n}",
            f"-s{n}",
            "-k1M",
            "--file-allocation=none",
            "-d",
            folder,
            "-o",
            "x",
            url,
        ]
        for n in connections
    }


@contextlib.contextmanager
def delaying_proxy(options, to, port):
    process = subprocess.Popen(
        [options.delaying_proxy, "--to", str(to), "--port", str(port), "--rtt-ms", str(ROUND_TRIP_MS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    try:
        yield
    finally:
        process.stdin.close()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hfcache", type=Path, required=True, metavar="PROGRAM")
    parser.add_argument("--delaying-proxy", type=Path, metavar="PROGRAM", help="beside hfcache unless given")
    parser.add_argument("--hub", type=Path, metavar="LOOPBACK_HUB", help="beside hfcache unless given")
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="INTERPRETER",
        help="with a huggingface_hub to compare with; may be repeated",
    )
    parser.add_argument("--only", default=",".join(PARTS), metavar="PARTS", help="a,b,… (%(default)s)")
    parser.add_argument(
        "--size-mb", type=int, default=4096, metavar="N", help="of the large file, in MiB (%(default)s)"
    )
    parser.add_argument("--files", type=int, default=2000, metavar="N", help="of 20 KB (%(default)s)")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="(%(default)s)")
    parser.add_argument("--fast", type=Path, default="/dev/shm", metavar="DIR", help="in memory (%(default)s)")
    parser.add_argument("--work", type=Path, metavar="DIR", help="on a disk, for the server's files; they are removed")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also as a section of this file of figures")
    options = parser.parse_args()
    options.hfcache = options.hfcache.resolve()
    options.delaying_proxy = (options.delaying_proxy or options.hfcache.with_name("delaying_proxy")).resolve()
    options.hub = (options.hub or options.hfcache.with_name("loopback_hub")).resolve()
    if nginx_program() is None:
        raise SystemExit("nginx is not installed")
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.work) as work:
        bench = Bench(options, Path(work))
        try:
            for part in options.only.split(","):
                PARTS[part](bench)
        finally:
            shutil.rmtree(bench.target, ignore_errors=True)
        text = "\n".join(bench.report())
    print(text)
    if options.write:
        write_section(options.write, TITLE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
