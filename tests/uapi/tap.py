# SPDX-License-Identifier: GPL-2.0
"""Test Anything Protocol, the little of it that is needed."""

DETAIL = 40     # lines shown per failure


class Tap:
    """Numbers results and remembers failures."""

    def __init__(self):
        self.count = 0
        self.failures = 0
        print("TAP version 13", flush=True)

    def result(self, good, name, detail=()):
        """One test point; detail is shown if it failed."""
        self.count += 1
        self.failures += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        if not good:
            lines = list(detail)
            for line in lines[:DETAIL]:
                print(f"# {line}")
            if len(lines) > DETAIL:
                print(f"# and {len(lines) - DETAIL} more")

    def skip(self, name, reason):
        """A test point that cannot run here."""
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {reason}", flush=True)

    def finish(self):
        """Print the plan; the value is the exit status."""
        print(f"1..{self.count}", flush=True)
        return 1 if self.failures else 0
