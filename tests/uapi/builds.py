# SPDX-License-Identifier: GPL-2.0
"""Whether the header is accepted by those who use it: compilers and the base's own scripts."""

import os
import shutil
import subprocess
from dataclasses import dataclass

from facts import NAME

_STRICT = ("-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class Dialect:
    """A language standard and the warnings that go with it."""
    compiler: str
    language: str
    flags: tuple

    @property
    def name(self):
        return " ".join((self.compiler, *self.flags))


# C90 knows neither anonymous unions nor flexible arrays: pedantic warnings
# are inherent to this ABI, errors are not.
DIALECTS = tuple(
    Dialect(compiler, language, flags)
    for language, compilers, flags in (
        ("c", ("gcc", "clang"), ("-std=gnu90", "-pedantic")),
        ("c", ("gcc", "clang"), ("-std=c11", *_STRICT)),
        ("c++", ("g++", "clang++"), ("-std=c++20", *_STRICT)))
    for compiler in compilers)


def compile_errors(dialect, includes, machine, side_dir):
    """What the compiler says about a file that includes the header twice; "" if content."""
    system = [flag for folder in includes.path(machine) for flag in ("-isystem", folder)]
    text = f"#include <{NAME}>\n#include <{NAME}>\nextern struct perf_event_attr attr;\n"
    done = subprocess.run(
        [dialect.compiler, "-x", dialect.language, *dialect.flags, *includes.defines(), "-nostdinc",
         "-fsyntax-only", "-I", side_dir, *system, "-"],
        input=text, capture_output=True, text=True, check=False)
    return done.stderr.strip() or "no reason given" if done.returncode else ""


def ioctl_names(tree, side_dir):
    """The table of names that perf trace makes from the text of the header."""
    script = os.path.join(tree, "tools", "perf", "trace", "beauty", "perf_ioctl.sh")
    if not os.path.isfile(script):
        return None
    return subprocess.run(["sh", script, os.path.dirname(os.path.join(side_dir, NAME))],
                          capture_output=True, text=True, check=True).stdout


def install(tree, header, work_dir):
    """Run the kernel's header installation on the header: (output text, errors)."""
    scripts = os.path.join(work_dir, "install", "scripts")
    os.makedirs(scripts)
    shutil.copy(os.path.join(tree, "scripts", "headers_install.sh"), scripts)
    subprocess.run(["gcc", "-w", "-o", os.path.join(scripts, "unifdef"),
                    os.path.join(tree, "scripts", "unifdef.c")], check=True)
    out = os.path.join(work_dir, "install", "perf_event.h")
    done = subprocess.run(["sh", "scripts/headers_install.sh", header, out],
                          cwd=os.path.dirname(scripts), capture_output=True, text=True, check=False)
    if done.returncode:
        return "", done.stderr.strip()
    with open(out, encoding="utf-8") as text:
        return text.read(), ""
