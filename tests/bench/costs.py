"""What a command costs, and how figures are written down."""

import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True)
class Cost:
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    printed: str = ""


def measure(command, environment, cwd=None):
    """The cost of one run, its children included.

    A process is charged the memory of the one that started it. GNU time, where it is installed, stands between and
    tells the peak, so that Python's own size does not count.
    """
    command = [str(word) for word in command]
    between = shutil.which("time")
    if between:
        command = [between, "-q", "-f", "\npeak %M KiB", *command]
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        start = time.monotonic()
        process = subprocess.Popen(command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)  # wait4 has reaped it
        out.seek(0)
        err.seek(0)
        printed, said = out.read(), err.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)[:300]} exited with {process.returncode}: {said.strip()[-2000:]}")
    peak = re.findall(r"^peak (\d+) KiB$", said, flags=re.M)
    peak_kib = int(peak[-1]) if peak else usage.ru_maxrss
    return Cost(usage.ru_utime + usage.ru_stime, wall, peak_kib * 1024, printed)


def middle(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def machine():
    """The processor, cores and memory, as the kernel names them."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    cores = len(os.sched_getaffinity(0))
    processor = model[1] if model else platform.machine()
    return f"{processor}, {cores} cores, {memory:.0f} GiB, Linux {platform.release()}"


def write_section(path, title, text):
    """Replaces the section called so in a file of figures, or appends it. `text` begins with the title."""
    old = path.read_text() if path.exists() else "# Figures\n"
    others = re.sub(rf"{re.escape(title)}\n.*?(?=\n## |\Z)", "", old, flags=re.DOTALL)
    path.write_text(re.sub(r"\n{3,}", "\n\n", others).rstrip() + "\n\n" + text)
