# SPDX-License-Identifier: GPL-2.0
"""Compare our linux/perf_event.h with the base's. Run through check.sh."""

import argparse
import os
import re
import sys
import tempfile

import builds
import words
from facts import NAME, HeaderError, Probe
from mutants import MUTANTS
from source import comments, includes
from tap import Tap
from targets import Config, Includes, configs, target


class Check:
    """One comparison of two headers."""

    def __init__(self, base_dir, our_header, work_dir):
        self.tap = Tap()
        self.work_dir = work_dir
        self.includes = Includes(base_dir, work_dir)
        self.base_text = _read(self.includes.header)
        self.our_text = self._as_base(_read(our_header))
        self.base = self._side("base", self.base_text)
        self.ours = self._side("ours", self.our_text)
        self.base_facts = {}    # by configuration

    def _as_base(self, text):
        """Installation takes _UAPI off the include guard; do so if the base is installed."""
        if self.includes.tree is None:
            text = re.sub(r"^(#(?:ifndef|define)\s+)_UAPI(_LINUX_PERF_EVENT_H)", r"\1\2", text,
                          flags=re.M)
        return text

    def _side(self, name, text):
        """A folder to be searched first, holding nothing but a perf_event.h."""
        folder = os.path.join(self.work_dir, name)
        os.makedirs(os.path.dirname(os.path.join(folder, NAME)), exist_ok=True)
        with open(os.path.join(folder, NAME), "w", encoding="utf-8") as out:
            out.write(text)
        return folder

    def _facts(self, config, side):
        return Probe(config, self.includes, side, self.work_dir).facts()

    def _differences(self, config, side):
        """Facts that only one of base and side has, as diff lines."""
        if config not in self.base_facts:
            self.base_facts[config] = self._facts(config, self.base)
        base = self.base_facts[config]
        facts = self._facts(config, side)
        return [f"- {fact}" for fact in sorted(base - facts)] + \
               [f"+ {fact}" for fact in sorted(facts - base)]

    # -- the header -------------------------------------------------------

    def abi(self):
        """The same facts for every compiler and machine."""
        for config in configs():
            name = f"same ABI: {config.name}"
            if reason := self.includes.unusable(config):
                self.tap.skip(name, reason)
                continue
            try:
                diff = self._differences(config, self.ours)
            except HeaderError as error:
                self.tap.result(False, name, str(error).splitlines())
                continue
            count = sum(not fact.startswith("environment") for fact in self.base_facts[config])
            self.tap.result(not diff, f"{name}, {count} facts", diff)

    def dialects(self):
        """Accepted by every language standard in use."""
        for dialect in builds.DIALECTS:
            name = f"compiles: {dialect.name}"
            config = Config(dialect.compiler, dialect.language, target("x86_64"))
            if reason := self.includes.unusable(config):
                self.tap.skip(name, reason)
                continue
            errors = builds.compile_errors(dialect, self.includes, config.target, self.ours)
            self.tap.result(not errors, name, errors.splitlines())

    def text(self):
        """What is the same, and what must not be, in the text itself."""
        same = includes(self.base_text) == includes(self.our_text)
        self.tap.result(same, "same includes in the same order",
                        [f"- {includes(self.base_text)}", f"+ {includes(self.our_text)}"])
        self.tap.result("WITH Linux-syscall-note */" in self.our_text.split("\n", 1)[0],
                        "SPDX line of a header for user space")
        shared = words.shared_lines(self.our_text, self.base_text)
        self.tap.result(not shared, f"no comment line of {words.LINE} or more words is the base's",
                        shared)
        shared = words.shared_runs(self.our_text, self.base_text)
        self.tap.result(not shared, f"no {words.RUN} words in a row of our comments are the base's",
                        shared)

    def base_scripts(self):
        """The base's own tools that read the header as text."""
        tree = self.includes.tree
        names = ("perf trace makes the same table of ioctl names", "headers_install takes it")
        if tree is None:
            for name in names:
                self.tap.skip(name, "needs the base's source tree")
            return
        table = builds.ioctl_names(tree, self.base)
        if table is None:
            self.tap.skip(names[0], "this base has no perf_ioctl.sh")
        else:
            ours = builds.ioctl_names(tree, self.ours)
            self.tap.result("ENABLE" in table and table == ours, names[0],
                            [f"- {table}", f"+ {ours}"])
        text, errors = builds.install(tree, os.path.join(self.ours, NAME), self.work_dir)
        self.tap.result("#ifndef _LINUX_PERF_EVENT_H" in text, names[1],
                        errors.splitlines() or ["the include guard was not renamed"])

    # -- the check itself -----------------------------------------------------

    def self_test(self):
        """Damage the header and see the comparison turn red."""
        for mutant in MUTANTS:
            name = f"notices: {mutant.name}"
            language = "c++" if mutant.compiler.endswith("++") else "c"
            config = Config(mutant.compiler, language, target(mutant.target))
            if reason := self.includes.unusable(config):
                self.tap.skip(name, reason)
                continue
            try:
                diff = self._differences(config, self._side("mutant", mutant.apply(self.our_text)))
            except (HeaderError, ValueError) as error:
                self.tap.result(False, name, str(error).splitlines())
                continue
            self.tap.result(any(mutant.sign in line for line in diff), name,
                            [f"nothing says '{mutant.sign}' in:", *diff])
        self._self_test_text()
        self._self_test_dialects()

    def _self_test_text(self):
        """Drop an include; copy a comment of the base, as it is and with other line ends."""
        dropped = self.our_text.replace("#include <linux/types.h>\n", "")
        self.tap.result(includes(dropped) != includes(self.base_text), "notices: include missing")
        longest = max(comments(self.base_text), key=len)
        copied = words.shared_lines(f"{self.our_text}\n{longest}\n", self.base_text)
        self.tap.result(bool(copied), "notices: comment lines copied")
        stream = re.findall(r"\w+", longest)
        wrapped = "/* " + "\n * ".join(" ".join(stream[i:i + 7]) for i in range(3, 80, 7)) + " */"
        copied = words.shared_runs(f"{self.our_text}\n{wrapped}\n", self.base_text)
        self.tap.result(bool(copied), "notices: comment copied with other line ends")

    def _self_test_dialects(self):
        """Add something that compilers warn about."""
        noisy = "static inline int noisy(int unused) { return 0; }\n#endif"
        head, tail = self.our_text.rsplit("#endif", 1)
        side = self._side("mutant", head + noisy + tail)
        for dialect in builds.DIALECTS:
            config = Config(dialect.compiler, dialect.language, target("x86_64"))
            if "-Werror" not in dialect.flags or self.includes.unusable(config):
                continue
            errors = builds.compile_errors(dialect, self.includes, config.target, side)
            self.tap.result("unused" in errors, f"notices: warning of {dialect.name}")


def _read(path):
    with open(path, encoding="utf-8") as source:
        return source.read()


def main():
    """Parse the command line, run, report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("base_dir")
    parser.add_argument("our_header")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="perf_uapi.") as work_dir:
        try:
            check = Check(args.base_dir, args.our_header, work_dir)
        except FileNotFoundError as error:
            print(f"Bail out! {error}")
            return 2
        if not args.self_test:
            check.abi()
            check.dialects()
            check.text()
            check.base_scripts()
        check.self_test()
        return check.tap.finish()


if __name__ == "__main__":
    sys.exit(main())
