#!/usr/bin/env python3
"""What a download shows, recorded with tmux: progress_recording.py --hfcache H --hub LOOPBACK_HUB [--keep FILE]

A slow download on terminals of several widths: bytes advance, no line is longer than the terminal, nothing is left
over at the end but the path. Without a terminal, with --quiet and with HF_HUB_DISABLE_PROGRESS_BARS there is nothing
to see; NO_COLOR leaves colours out; every line of --json parses. --keep writes all recorded screens to a file.
"""

import argparse
import json
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from hub_clients import Checks, Hfcache, LoopbackHub, clean_environment, put

RATE = 500_000  # bytes a second of each connection
FILES = {
    "model.safetensors": 1_500_000,
    "config.json": 2,
    "a folder with a rather long name/and a file with another one.bin": 600_000,
}
# An amount, or how much of the whole: what moves while bytes arrive.
AMOUNT = re.compile(r"\d+(?:\.\d+)? ?(?:%|[kKMG]i?B|B)\b|\d+%")
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Terminal:
    """A terminal of tmux on a server of its own."""

    def __init__(self, folder, width, height=12):
        self.width, self.height = width, height
        self.command = ["tmux", "-S", str(folder / f"tmux-{width}-{time.monotonic_ns()}"), "-f", "/dev/null"]

    def tmux(self, *words):
        return subprocess.run([*self.command, *map(str, words)], check=True, capture_output=True, text=True).stdout

    def record(self, command, environment, seconds=60):
        """The screens one after another, until the command has ended."""
        ended = "== ended with "
        assignments = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        words = shlex.join(map(str, command))
        line = f"env -i TERM=screen-256color {assignments} {words}; echo '{ended}'$?; exec sleep 60"
        self.tmux("new-session", "-d", "-x", self.width, "-y", self.height, "sh", "-c", line)
        try:
            screens = []
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                screen = self.tmux("capture-pane", "-p", "-e", "-J")  # what the terminal broke is joined again
                if not screens or screens[-1] != screen:
                    screens.append(screen)
                if ended in screen:
                    return screens
                time.sleep(0.05)
            raise RuntimeError(f"no end after {seconds} s: {screens[-1:]}")
        finally:
            self.tmux("kill-server")


def lines_of(screen):
    return [line.rstrip() for line in COLOUR.sub("", screen).splitlines() if line.strip()]


class Recording:
    def __init__(self, options, work, url):
        self.options, self.work, self.check = options, work, Checks()
        self.environment = {
            k: v
            for k, v in clean_environment(work / "home").items()
            if k.startswith(("HF_", "HOME", "PATH", "LANG", "LC_"))
        } | {"HF_ENDPOINT": url, "LANG": "C.UTF-8"}
        del self.environment["HF_HUB_DISABLE_PROGRESS_BARS"]
        self.count = 0

    def command(self, *words):
        self.count += 1
        return [self.options.hfcache, "download", "acme/slow", "--cache-dir", self.work / f"cache-{self.count}", *words]

    def snapshot(self):
        return next((self.work / f"cache-{self.count}").glob("models--acme--slow/snapshots/*"))

    def show(self, what, width, *words, **variables):
        screens = Terminal(self.work, width).record(self.command(*words), self.environment | variables)
        if self.options.keep:
            with open(self.options.keep, "a") as file:
                for number, screen in enumerate(screens):
                    file.write(f"== {what}, {width} columns, screen {number}\n{COLOUR.sub('', screen).rstrip()}\n")
        path, last = str(self.snapshot()), lines_of(screens[-1])
        self.check(
            f"{what}, {width} columns: the path is shown and all went well",
            path in last and "== ended with 0" in last,
            screens[-1],
        )
        return screens, path

    def show_progress(self, width, **variables):
        screens, path = self.show("a terminal", width, **variables)
        seen = [line for screen in screens[:-1] for line in lines_of(screen)]
        amounts = {tuple(AMOUNT.findall(line)) for line in seen}
        self.check(f"a terminal, {width} columns: amounts advance", len(amounts - {()}) >= 5, str(sorted(amounts)[:5]))
        piled = max(sum("acme/slow" in line for line in lines_of(screen)) for screen in screens)
        self.check(
            f"a terminal, {width} columns: lines are drawn over, not one below the other",
            piled <= 1,
            f"{piled} of them",
        )
        wide = [line for line in seen if len(line) > width and line != path]
        self.check(f"a terminal, {width} columns: no line is wider", not wide, str(wide[:2]))
        left = [line for line in lines_of(screens[-1]) if AMOUNT.search(line) and " left" in line]
        self.check(f"a terminal, {width} columns: no half-done progress is left at the end", not left, str(left))
        return screens

    def show_nothing(self, what, *words, **variables):
        screens, path = self.show(what, 100, *words, **variables)
        text = [line for screen in screens for line in lines_of(screen) if "ended with" not in line]
        shown = [line for line in text if line != path]
        self.check(f"{what}: nothing but the path is shown", not shown, str(shown[:3]))

    def pipe(self):
        hfcache = Hfcache(self.options.hfcache, self.environment)
        done = hfcache.run(*self.command()[1:])
        self.check(
            "without a terminal: the path and nothing else",
            (done.returncode, done.stdout, done.stderr) == (0, f"{self.snapshot()}\n", ""),
            str(done),
        )
        done = hfcache.run(*self.command("--json")[1:])
        try:
            parsed = (
                [json.loads(line) for line in done.stdout.splitlines()]
                if "\n{" in done.stdout
                else json.loads(done.stdout)
            )
        except ValueError as error:
            parsed = None
            self.check("--json: it parses", False, f"{error}: {done.stdout[:300]}")
        self.check(
            "--json: there is something, and nothing on standard error", bool(parsed) and not done.stderr, str(done)
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hfcache", type=pathlib.Path, required=True)
    parser.add_argument("--hub", required=True)
    parser.add_argument("--keep", type=pathlib.Path, help="where the recorded screens are written to")
    options = parser.parse_args()
    options.hfcache = options.hfcache.resolve()
    if shutil.which("tmux") is None:
        print("test skipped: tmux is not installed")
        return 77
    if options.keep:
        options.keep.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for path, size in FILES.items():
            put(work / "root/acme/slow" / path, random.Random(path).randbytes(size))
        with LoopbackHub(options.hub, work / "root", work / "requests", "--rate", str(RATE)) as hub:
            recording = Recording(options, work, hub.url)
            coloured = recording.show_progress(100)
            recording.show_progress(45)
            plain = recording.show_progress(70, NO_COLOR="1")
            recording.check("NO_COLOR: no colours", not any(COLOUR.search(screen) for screen in plain))
            print(f"colours without it: {'yes' if any(COLOUR.search(screen) for screen in coloured) else 'none'}")
            recording.show_nothing("--quiet", "--quiet")
            recording.show_nothing("HF_HUB_DISABLE_PROGRESS_BARS", HF_HUB_DISABLE_PROGRESS_BARS="1")
            recording.pipe()
    return recording.check.end()


if __name__ == "__main__":
    sys.exit(main())
