# SPDX-License-Identifier: GPL-2.0
"""Whether the comments of two sources share text.

Names, numbers and layouts have to be the same; sentences must not be. A word is
a run of letters, digits and underscores, case aside. The SPDX line is common
by law and left out.
"""

import re

from source import comments

LINE = 5    # words from which on a whole line counts as a sentence
RUN = 8     # words in a row that cannot be the same by chance


def _words(text):
    return re.findall(r"\w+", text.lower())


def _lines(source):
    """The comment lines of a source, as lists of words."""
    for comment in comments(source):
        for line in comment.splitlines():
            if "SPDX-License-Identifier" not in line:
                yield _words(line)


def shared_lines(ours, base):
    """Comment lines of ours that are comment lines of the base."""
    known = {tuple(line) for line in _lines(base)}
    return [" ".join(line) for line in _lines(ours) if len(line) >= LINE and tuple(line) in known]


def _runs(source):
    stream = [word for line in _lines(source) for word in line]
    return [tuple(stream[i:i + RUN]) for i in range(len(stream) - RUN + 1)]


def shared_runs(ours, base):
    """Runs of words in our comments that occur in the base's, across lines."""
    known = set(_runs(base))
    return [" ".join(run) for run in _runs(ours) if run in known]
