# SPDX-License-Identifier: GPL-2.0
"""Types of an object file, read from its DWARF through readelf.

readelf decodes every ELF machine on every host, so that layouts of foreign
targets can be compared without their binutils.
"""

import re
import subprocess

_DIE = re.compile(r"^ <([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
_END = re.compile(r"^ <([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: 0$")
_ATTR = re.compile(r"^    <[0-9a-f]+>\s+DW_AT_(\w+)\s*: ?(.*)$")
_STRING = re.compile(r"^\((?:indirect|indexed|alt)[^)]*\): ")
_REF = re.compile(r"<0x([0-9a-f]+)>")

AGGREGATES = {"structure_type": "struct", "union_type": "union", "class_type": "class"}


class Die:
    """One debugging information entry."""

    def __init__(self, tag, offset):
        self.tag = tag
        self.offset = offset
        self.attrs = {}
        self.children = []

    @property
    def name(self):
        text = self.attrs.get("name")
        return None if text is None else _STRING.sub("", text).strip()

    def number(self, attr):
        """Integer value of an attribute, None if it is absent."""
        text = self.attrs.get(attr)
        return None if text is None else int(text.split()[0], 0)


class Dwarf:
    """All DIEs of one object file."""

    def __init__(self, objfile):
        text = subprocess.run(
            ["readelf", "--debug-dump=info", objfile],
            check=True, capture_output=True, text=True).stdout
        self.by_offset = {}
        self.root = Die("root", -1)
        self._parse(text)

    def _parse(self, text):
        stack = [self.root]
        die = None
        for line in text.splitlines():
            if match := _DIE.match(line):
                depth = int(match[1], 16)
                die = Die(match[3], int(match[2], 16))
                del stack[depth + 1:]
                stack[depth].children.append(die)
                stack.append(die)
                self.by_offset[die.offset] = die
            elif _END.match(line):
                die = None
            elif die is not None and (match := _ATTR.match(line)):
                die.attrs[match[1]] = match[2].strip()

    def units(self):
        """Children of all compile units: the file-level declarations."""
        for unit in self.root.children:
            yield from unit.children

    def target(self, die):
        """The DIE that DW_AT_type refers to, None for void."""
        text = die.attrs.get("type")
        match = _REF.search(text) if text else None
        return self.by_offset[int(match[1], 16)] if match else None

    def size(self, die):
        """Size in bytes of a type, None if it has none."""
        while die is not None:
            size = die.number("byte_size")
            if size is not None:
                return size
            if die.tag == "array_type":
                return self._array_size(die)
            die = self.target(die)
        return None

    def _array_size(self, die):
        total = self.size(self.target(die))
        for count in self.dimensions(die):
            if count is None or total is None:
                return None
            total *= count
        return total

    @staticmethod
    def dimensions(die):
        """Element counts of an array type; None is a flexible array."""
        counts = []
        for child in die.children:
            if child.tag != "subrange_type":
                continue
            count = child.number("count")
            upper = child.number("upper_bound")
            if count is None and upper is not None:
                count = upper + 1
            counts.append(count)
        return counts

    def spell(self, die):
        """A type as text that does not depend on DIE numbers or order."""
        if die is None:
            return "void"
        if die.tag == "base_type":
            return f"{die.name}:{die.attrs['encoding'].split()[0]}:{die.number('byte_size')}"
        if die.tag == "enumeration_type":
            return f"enum {enum_name(die)}"
        if die.tag in AGGREGATES:
            return f"{AGGREGATES[die.tag]} {die.name or '<anonymous>'}"

        inner = self.spell(self.target(die))
        if die.tag == "typedef":
            return f"{die.name}={inner}"
        if die.tag == "array_type":
            return inner + "".join(f"[{'' if n is None else n}]" for n in self.dimensions(die))
        if die.tag == "pointer_type":
            return inner + " *"
        if die.tag in ("const_type", "volatile_type"):
            return die.tag.removesuffix("_type") + " " + inner
        if die.tag == "subroutine_type":
            args = [self.spell(self.target(c)) for c in die.children
                    if c.tag == "formal_parameter"]
            return f"{inner} ({', '.join(args)})"
        raise ValueError(f"cannot spell a type of kind {die.tag}: teach Dwarf.spell() about it")


def enumerators(die):
    """Names of the constants of an enum."""
    return [child.name for child in die.children if child.tag == "enumerator"]


def enum_name(die):
    """Tag of an enum; an anonymous one goes by its first constant in the alphabet."""
    if die.name:
        return die.name
    return "<with " + min(enumerators(die), default="nothing") + ">"
