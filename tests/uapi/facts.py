# SPDX-License-Identifier: GPL-2.0
"""Everything that a program can observe of a header, as a set of text lines.

Two headers with the same facts under a compiler are one ABI to it. A fact is
one line, so a difference names itself.
"""

import os
import re
import struct
import subprocess

from dwarf import AGGREGATES, Dwarf, enum_name, enumerators
from source import strip_comments

NAME = "linux/perf_event.h"

# Arguments for function-like macros. One that is missing here is an error, so
# that no macro escapes the comparison.
SAMPLES = {
    "PERF_MEM_S": lambda macros: [
        tuple(name.removeprefix("PERF_MEM_").split("_", 1))
        for name in sorted(macros)
        if (match := re.match(r"PERF_MEM_([A-Z]+)_\w+$", name))
        and f"PERF_MEM_{match[1]}_SHIFT" in macros
    ],
}

# Words without a fact of their own. An attribute shows in sizes and alignments.
_KEYWORDS = set("enum struct union typedef const signed unsigned char short int long "
                "__attribute__ packed aligned".split())
_LINEMARKER = re.compile(r'^# \d+ "([^"]*)"')
_DEFINE = re.compile(r"^#\s*define\s+(\w+)(\([^)]*\))?[ \t]*(.*)$")
_VALUES = "perf_abi_values"


class HeaderError(Exception):
    """The header cannot be examined; the text says why."""


class Probe:
    """A header seen by one configuration."""

    def __init__(self, config, includes, side_dir, work_dir):
        self.config = config
        self.path = [side_dir, *includes.path(config.target)]
        self.defines = includes.defines()
        self.header = os.path.join(side_dir, NAME)
        self.work_dir = work_dir
        self.macros = {}        # name -> (parameters or None, body), of the header
        self.env = {}           # the same, of everything around it
        self.text = ""          # what is left of the header after preprocessing

    def facts(self):
        """The set of facts."""
        self._preprocess()
        types = Dwarf(self._compile("types", f"#include <{NAME}>\n"))
        facts = set(self._type_facts(types))
        self._check_nothing_escaped(facts)
        values = {}
        facts |= set(self._constant_facts(types, values))
        facts |= set(self._conditional_facts(values))
        facts |= set(self._macro_facts())
        return facts

    # -- running the compiler --------------------------------------------

    def _run(self, flags, text, check=True):
        search = [flag for folder in self.path for flag in ("-I", folder)]
        done = subprocess.run([*self.config.command(), *self.defines, *search, *flags, "-"],
                              input=text, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise HeaderError(f"{self.config.name}: {done.stderr.strip()}")
        return done.stdout

    def _compile(self, name, text):
        out = os.path.join(self.work_dir, name + ".o")
        # Tuned for gdb, clang would describe bitfields in the way of DWARF 3.
        tuning = ["-glldb"] if self.config.compiler.startswith("clang") else []
        self._run(["-c", "-gdwarf-5", *tuning, "-fno-eliminate-unused-debug-types", "-O0", "-w",
                   "-o", out], text)
        return out

    # -- macros ------------------------------------------------------------

    def _preprocess(self):
        out = self._run(["-E", "-dD"], f"#include <{NAME}>\n")
        here = False
        lines = []
        for line in out.splitlines():
            if match := _LINEMARKER.match(line):
                here = match[1] == self.header
            elif match := _DEFINE.match(line):
                (self.macros if here else self.env)[match[1]] = (match[2], match[3].strip())
            elif match := re.match(r"#\s*undef\s+(\w+)", line):
                self.macros.pop(match[1], None)
                self.env.pop(match[1], None)
            elif here:
                lines.append(line)
        self.text = "\n".join(lines)
        if not self.macros:
            raise HeaderError(f"{self.config.name}: the preprocessor did not reach {self.header}")

    def _expressions(self, types):
        """(label, expression) of every constant there is."""
        for name, (params, body) in sorted(self.macros.items()):
            if params is not None:
                if name not in SAMPLES:
                    raise HeaderError(f"{name}{params}: add sample arguments to SAMPLES")
                for args in SAMPLES[name](self.macros):
                    call = f"{name}({', '.join(args)})"
                    yield f"macro {call}", call
            elif body:
                yield f"macro {name}", name
        for die in types.units():
            if die.tag == "enumeration_type":
                for name in enumerators(die):
                    yield f"constant {name}", name
            elif die.tag in AGGREGATES and die.name:
                tag = f"{AGGREGATES[die.tag]} {die.name}"
                yield f"alignment of {tag}", f"__alignof__({tag})"

    def _constant_facts(self, types, values):
        """Value, size and type of every constant expression; fills values by label."""
        probes = sorted(set(self._expressions(types)))
        rows = "".join(f"(unsigned long long)({e}), sizeof({e}),\n" for _, e in probes)
        variables = "".join(f"__attribute__((used)) __typeof__({e}) perf_abi_{i};\n"
                            for i, (_, e) in enumerate(probes))
        obj = self._compile(
            "constants",
            f"#include <{NAME}>\n"
            f"extern const unsigned long long {_VALUES}[];\n"
            f'__attribute__((section(".perfabi"), used))\n'
            f"const unsigned long long {_VALUES}[] = {{\n{rows}}};\n{variables}")
        words = self._section(obj, 2 * len(probes))
        dwarf = Dwarf(obj)
        spelled = {die.name: dwarf.spell(dwarf.target(die))
                   for die in dwarf.units() if die.tag == "variable"}
        for i, (label, _) in enumerate(probes):
            values[label] = words[2 * i]
            yield (f"{label} = {words[2 * i]:#x}, sizeof {words[2 * i + 1]}, "
                   f"type {spelled[f'perf_abi_{i}']}")

    def _section(self, obj, count):
        """The u64 words that the probe put into its own section."""
        dump = subprocess.run(["readelf", "-x", ".perfabi", obj], check=True,
                              capture_output=True, text=True).stdout
        words = re.findall(r"^\s+0x[0-9a-f]+ ((?:[0-9a-f]{8} ){1,4})", dump, re.M)
        raw = bytes.fromhex("".join(words).replace(" ", ""))
        order = ">" if self.config.target.big_endian else "<"
        return struct.unpack(f"{order}{count}Q", raw)

    def _macro_facts(self):
        """Names and parameters, and everything around the header."""
        for name, (params, body) in self.macros.items():
            kind = "empty" if not body else "with a body"
            arity = "object-like" if params is None else f"of {params.count(',') + 1} arguments"
            yield f"define {name}: {arity}, {kind}"
        for name, (params, body) in self.env.items():
            yield f"environment {name}{params or ''} {body}"

    def _conditional_facts(self, values):
        """Whether #if sees the same value as C does: a cast or an enum constant is lost on it."""
        names = [n for n, (params, body) in sorted(self.macros.items()) if params is None and body]
        tests = "".join(
            f"#if ({name}) == {values['macro ' + name]:#x}\n\"in #if, {name} is as in C\"\n"
            f"#else\n\"in #if, {name} is not as in C\"\n#endif\n" for name in names)
        out = self._run(["-E", "-P"], f"#include <{NAME}>\n{tests}", check=False)
        yield from re.findall(r'^"(in #if, .*)"$', out, re.M)

    # -- types ---------------------------------------------------------------

    def _type_facts(self, types):
        for die in types.units():
            if die.tag in AGGREGATES and die.name:
                yield from self._aggregate(types, die, f"{AGGREGATES[die.tag]} {die.name}")
            elif die.tag == "enumeration_type":
                tag = enum_name(die)
                yield (f"enum {tag}: sizeof {types.size(die)}, "
                       f"underlying {types.spell(types.target(die))}")
                for name in enumerators(die):
                    yield f"enum {tag} has {name}"
            elif die.tag == "typedef":
                yield f"typedef {types.spell(die)}"

    def _aggregate(self, types, die, where, base=0):
        yield f"{where}: sizeof {die.number('byte_size')}"
        members = [child for child in die.children if child.tag == "member"]
        for order, member in enumerate(members):
            kind = types.target(member)
            width = member.number("bit_size")
            start = base + self._bit_offset(types, member)
            place = f"{where}.{member.name}" if member.name else f"{where}.<anonymous {order}>"
            yield (f"{place}: member {order}, bit {start}, "
                   f"{'width ' + str(width) if width else 'sizeof ' + str(types.size(kind))}, "
                   f"type {types.spell(kind)}")
            if kind.tag in AGGREGATES and not kind.name:
                yield from self._aggregate(types, kind, place, start)

    @staticmethod
    def _bit_offset(types, member):
        bit = member.number("data_bit_offset")
        if bit is None:
            bit = 8 * (member.number("data_member_location") or 0)
        if "bit_offset" in member.attrs:
            raise HeaderError(f"{member.name}: the compiler describes bitfields as in DWARF 3")
        return bit

    # -- completeness -----------------------------------------------------------

    def _check_nothing_escaped(self, facts):
        """Every identifier of the text must be in a fact, and every #define seen."""
        known = set(re.findall(r"\w+", " ".join(facts))) | _KEYWORDS
        seen = set(re.findall(r"\b[A-Za-z_]\w*", re.sub(r"\b0[xX]\w+|\b\d\w*", "", self.text)))
        if missed := sorted(seen - known):
            raise HeaderError(f"{self.config.name}: no fact mentions {', '.join(missed)}")
        with open(self.header, encoding="utf-8") as source:
            text = strip_comments(source.read())
        defined = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M))
        if missed := sorted(defined - set(self.macros)):
            raise HeaderError(f"{self.config.name}: not active: #define {', '.join(missed)}")
