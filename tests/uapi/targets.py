# SPDX-License-Identifier: GPL-2.0
"""Which compilers look at the header for which machines, and with what beside it."""

import os
import shutil
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A machine that a compiler can lay out structs for."""
    name: str
    arch: str           # folder below arch/
    big_endian: bool
    gcc: tuple          # flags for the host's gcc, None: it cannot
    triple: str         # for clang


@dataclass(frozen=True)
class Config:
    """One compiler, one language, one machine."""
    compiler: str
    language: str       # "c" or "c++"
    target: Target

    @property
    def name(self):
        return f"{self.target.name} {self.compiler}"

    def command(self):
        machine = self.target.gcc if self.compiler.startswith("g") else \
            ("--target=" + self.target.triple,)
        standard = "gnu11" if self.language == "c" else "gnu++20"
        return [self.compiler, "-x", self.language, "-std=" + standard, *machine,
                "-ffreestanding", "-nostdinc"]


# powerpc64 is here for __u64 being unsigned long, s390x for big-endian bitfields.
TARGETS = (
    Target("x86_64", "x86", False, ("-m64",), "x86_64-linux-gnu"),
    Target("i386", "x86", False, ("-m32",), "i386-linux-gnu"),
    Target("x32", "x86", False, ("-mx32",), "x86_64-linux-gnux32"),
    Target("s390x", "s390", True, None, "s390x-linux-gnu"),
    Target("powerpc64", "powerpc", True, None, "powerpc64-linux-gnu"),
)
COMPILERS = (("gcc", "c"), ("g++", "c++"), ("clang", "c"), ("clang++", "c++"))


def target(name):
    """The target of that name."""
    return next(t for t in TARGETS if t.name == name)


def configs():
    """Every pair of compiler and target that makes sense."""
    for machine in TARGETS:
        for compiler, language in COMPILERS:
            if compiler.startswith("g") and machine.gcc is None:
                continue
            yield Config(compiler, language, machine)


# Installing a header rewrites what is only for the kernel; headers that are read
# from the source tree get the same by definitions.
_UNINSTALLED = ("-D__EXPORTED_HEADERS__", "-Dasm=__asm__", "-D__attribute_const__=", "-D__force=",
                "-D__iomem=", "-D__user=")


class Includes:
    """Search path for everything but the header under test."""

    def __init__(self, base_dir, work_dir):
        self.work_dir = work_dir
        self.uapi, self.tree = _locate(base_dir)
        self.header = os.path.join(self.uapi, "linux", "perf_event.h")

    def unusable(self, config):
        """Why this configuration cannot run here; None if it can."""
        if shutil.which(config.compiler) is None:
            return f"{config.compiler} is not installed"
        if self.tree is None and config.target.arch != "x86":
            return "installed headers serve one architecture only"
        if config.compiler.startswith("g") and not _host_is_x86(config.compiler):
            return f"{config.compiler} does not compile for x86"
        return None

    def defines(self):
        """Flags that the other headers need."""
        return () if self.tree is None else _UNINSTALLED

    def path(self, machine):
        """Directories in search order."""
        if self.tree is None:
            return [self.uapi]
        arch = os.path.join(self.tree, "arch", machine.arch, "include", "uapi")
        return [self._wrappers(machine, arch), arch, self.uapi]

    def _wrappers(self, machine, arch):
        """What headers_install would generate: asm/x.h for asm-generic/x.h."""
        top = os.path.join(self.work_dir, "wrappers", machine.arch)
        if os.path.isdir(top):
            return top
        os.makedirs(os.path.join(top, "asm"))
        os.makedirs(os.path.join(top, "linux"))
        own = set(os.listdir(os.path.join(arch, "asm")))
        for name in os.listdir(os.path.join(self.uapi, "asm-generic")):
            if name.endswith(".h") and name not in own:
                _write(os.path.join(top, "asm", name), f"#include <asm-generic/{name}>\n")
        for name in ("compiler.h", "compiler_types.h"):
            _write(os.path.join(top, "linux", name), "")
        return top


def _locate(base_dir):
    """(uapi directory, source tree or None for installed headers)"""
    for uapi in (base_dir, os.path.join(base_dir, "include", "uapi")):
        uapi = os.path.abspath(uapi)
        if os.path.isfile(os.path.join(uapi, "linux", "perf_event.h")):
            tree = os.path.dirname(os.path.dirname(uapi))
            in_tree = os.path.isdir(os.path.join(tree, "arch", "x86", "include", "uapi"))
            return uapi, tree if in_tree else None
    raise FileNotFoundError(
        f"{base_dir} has no linux/perf_event.h: give include/uapi of an unpacked "
        "linux-source, or the include directory that make headers_install filled")


def _host_is_x86(compiler):
    machine = subprocess.run([compiler, "-dumpmachine"], capture_output=True, text=True,
                             check=True).stdout
    return machine.startswith(("x86_64", "i686", "i386"))


def _write(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
