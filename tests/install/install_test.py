#!/usr/bin/env python3
"""What is installed works for others.

    install_test.py stranger CMAKE BUILD   a project that knows only find_package(hf) builds against an installed prefix
    install_test.py deb CMAKE BUILD        the .deb names its dependencies, and its programs run from the unpacked files
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("hfcache", "hfconvert", "hfvalidate")


def run(*command):
    """The command's output; shown, with what it said, where the command fails."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nended with {done.returncode}")
    return done.stdout


def check_stranger(cmake, build, folder, options):
    prefix, project = folder / "prefix", folder / "build"
    run(cmake, "--install", build, "--prefix", prefix)
    run(cmake, "-S", HERE / "stranger", "-B", project, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={options.compiler}", f"-DCMAKE_CXX_FLAGS={options.flags}")
    run(cmake, "--build", project)
    said = run(project / "stranger")
    if "stranger: " not in said:
        sys.exit(f"the stranger's program said {said!r}")


def check_deb(cmake, build, folder, options):
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "file"):
        if shutil.which(tool) is None:
            print(f"test skipped: {tool} is not installed")
            sys.exit(77)
    run(pathlib.Path(cmake).with_name("cpack"), "--config", build / "CPackConfig.cmake", "-G", "DEB", "-B", folder)
    (deb,) = folder.glob("*.deb")
    fields = run("dpkg-deb", "-f", deb)
    for field in ("Package: hfkit\n", f"Version: {options.version}\n", "Depends: ", "libc6", "libstdc++6"):
        if field not in fields:
            sys.exit(f"{field!r} is missing in\n{fields}")
    run("dpkg-deb", "-x", deb, folder / "unpacked")
    for program in PROGRAMS:
        said = run(folder / "unpacked/usr/bin" / program, "--version")
        if options.version not in said:
            sys.exit(f"{program} --version said {said!r}, expected {options.version}")
        share = folder / "unpacked/usr/share"
        for text in (f"man/man1/{program}.1", f"bash-completion/completions/{program}",
                     f"zsh/vendor-completions/_{program}", f"fish/vendor_completions.d/{program}.fish"):
            if program not in (share / text).read_text():
                sys.exit(f"{text} does not speak of {program}")
    if not (share / "man/man1/hfcache-download.1").is_file():
        sys.exit("hfcache download has no manual page")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("check", choices=["stranger", "deb"])
    parser.add_argument("cmake")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--flags", default="")
    parser.add_argument("--version", default="")
    options = parser.parse_args()
    check = {"stranger": check_stranger, "deb": check_deb}[options.check]
    with tempfile.TemporaryDirectory(prefix="hf-install-") as folder:
        check(options.cmake, options.build.resolve(), pathlib.Path(folder), options)


if __name__ == "__main__":
    main()
