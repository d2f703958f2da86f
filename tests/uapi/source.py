# SPDX-License-Identifier: GPL-2.0
"""C source text, taken apart into code and comments."""

import re

# A string or a character can hold what looks like the start of a comment.
_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def comments(text):
    """The comments of a C source, delimiters included."""
    return [m[0] for m in _TOKEN.finditer(text) if m[0].startswith(("/*", "//"))]


def strip_comments(text):
    """The source with each comment replaced by a space."""
    return _TOKEN.sub(lambda m: " " if m[0].startswith(("/*", "//")) else m[0], text)


def includes(text):
    """What the source includes, in order."""
    return re.findall(r"^[ \t]*#[ \t]*include[ \t]*([<\"][^>\"]+[>\"])", strip_comments(text), re.M)
