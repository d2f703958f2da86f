# SPDX-License-Identifier: GPL-2.0
"""Small damages to the header, each of which the comparison must notice.

A mutant still compiles, so that it is caught for what it changes. "sign" is
text that the difference of the facts has to contain.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One damage."""
    name: str
    pattern: str        # regular expression, must match exactly once
    replacement: str
    sign: str
    target: str = "x86_64"
    compiler: str = "gcc"

    def apply(self, text):
        """The damaged text."""
        damaged, count = re.subn(self.pattern, self.replacement, text, flags=re.M)
        if count != 1:
            raise ValueError(f"mutant '{self.name}': its pattern matches {count} times, "
                             "adapt it to the header")
        return damaged


MUTANTS = (
    # macros
    Mutant("macro with another value", r"(PERF_ATTR_SIZE_VER8\s+)136", r"\g<1>137",
           "macro PERF_ATTR_SIZE_VER8 = 0x89"),
    Mutant("macro of another type", r"(define PERF_FLAG_FD_OUTPUT\s+\(1U)L", r"\1",
           "macro PERF_FLAG_FD_OUTPUT = 0x2, sizeof 4"),
    Mutant("macro that #if cannot use", r"(define PERF_MAX_STACK_DEPTH\s+)127", r"\1((int)127)",
           "in #if, PERF_MAX_STACK_DEPTH is not as in C"),
    Mutant("macro missing", r"^#define PERF_MEM_LVLNUM_CXL.*\n", "", "PERF_MEM_LVLNUM_CXL"),
    Mutant("macro too many", r"^(#define PERF_MEM_LVLNUM_CXL.*\n)", r"\1#define PERF_EXTRA 1\n",
           "PERF_EXTRA"),
    Mutant("function-like macro without its cast", r"\(\(__u64\)(PERF_MEM_##a##_##s)", r"(\1",
           "macro PERF_MEM_S(LVLNUM, L1)", "i386"),
    Mutant("ioctl with another number", r"(PERF_EVENT_IOC_ID\s+_IOR\('\$', )7", r"\g<1>13",
           "macro PERF_EVENT_IOC_ID"),
    Mutant("ioctl with an argument of another size", r"(IOC_PERIOD\s+_IOW\('\$', 4, )__u64",
           r"\1__u32", "macro PERF_EVENT_IOC_PERIOD"),
    Mutant("include too many", r"^(#include <linux/ioctl.h>\n)", r"\1#include <linux/limits.h>\n",
           "environment PATH_MAX"),

    # enums
    Mutant("constant with another value", r"(PERF_RECORD_THROTTLE\s+= )5", r"\g<1>25",
           "constant PERF_RECORD_THROTTLE = 0x19"),
    Mutant("constant missing", r"^\s+PERF_BR_SERROR\s.*\n", "", "PERF_BR_SERROR"),
    Mutant("constant too many", r"^(\s+PERF_BR_SERROR\s.*\n)", r"\1PERF_BR_EXTRA = 13,\n",
           "PERF_BR_EXTRA"),
    Mutant("constant missing before an implicit _MAX",
           r"^\s+PERF_COUNT_SW_CGROUP_SWITCHES\s.*\n", "",
           "constant PERF_COUNT_SW_MAX = 0xb"),
    Mutant("enum without its tag", r"enum perf_event_ioc_flags \{", "enum {",
           "enum perf_event_ioc_flags"),
    Mutant("enum that became signed", r"(PERF_IOC_FLAG_GROUP\s+= 1U << 0)", r"\1, PERF_NEW = -1",
           "underlying int", compiler="g++"),

    # structs
    Mutant("members swapped", r"__u16\tmisc;(.*\n)\s+__u16\tsize;", r"__u16\tsize;\1\t__u16\tmisc;",
           "struct perf_event_header.misc: member 2, bit 48"),
    Mutant("member of another sign", r"__s32(\tclockid;)", r"__u32\1", "perf_event_attr.clockid"),
    Mutant("member with another name", r"sample_max_stack;", "sample_stack_max;",
           "perf_event_attr.sample_max_stack"),
    Mutant("member too many", r"(__u32\tprog_cnt;)", r"\1 __u32 extra;",
           "perf_event_query_bpf.extra"),
    Mutant("member missing", r"^\s+__u64\tconfig3;.*\n", "", "struct perf_event_attr: sizeof 128"),
    Mutant("union members swapped",
           r"(__u64\tsample_period;.*\n)(\s+__u64\tsample_freq;.*\n)", r"\2\1",
           "sample_freq: member 0"),
    Mutant("struct that lost its alignment", r"(struct perf_ns_link_info) \{",
           r"\1 { __u64 dev, ino; } __attribute__((packed)); struct perf_unused {",
           "alignment of struct perf_ns_link_info = 0x1"),
    Mutant("array of another length", r"__reserved\[116 \* 8\]", "__reserved[115 * 8]",
           "struct perf_event_mmap_page.data_head"),

    # bitfields
    Mutant("bitfields of other widths",
           r"mem_hops\t: 3,(.*\n\s+mem_rsvd\t: )18", r"mem_hops\t: 4,\g<1>17",
           "mem_hops: member 9, bit 43, width 4"),
    Mutant("bitfields swapped", r"(in_tx\t\t: 1,)(.*\n\s+)(abort\t\t: 1,)", r"\3\2\1",
           "perf_branch_entry.abort: member 4, bit 130"),
    Mutant("big-endian bitfields of other widths", r"mem_rsvd\t: 18,\n\s+mem_hops\t: 3,",
           "mem_rsvd : 17, mem_hops : 4,", "mem_hops: member 1, bit 17", "s390x", "clang"),
    Mutant("big-endian members in little-endian order",
           r"(__u16\tvar3_w;)(\n\s+__u16\tvar2_w;\n\s+)(__u32\tvar1_dw;)", r"\3\2\1",
           "var1_dw: member 0", "s390x", "clang"),
)
