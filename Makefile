# SPDX-License-Identifier: GPL-2.0
#
# Perfring: the two commands are `make run` and `make test`; `make help` lists
# the rest. Everything that is made lands in build/.

SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:

BUILD := build
JOBS ?= $(shell nproc)

# The base: Debian's linux-source package, never part of this repository.
BASE_PACKAGE := linux-source-6.12
BASE_TARBALL ?= /usr/src/$(BASE_PACKAGE).tar.xz

# A failing step says what it was, what to do and where its log is.
step := scripts/step $(BUILD)/logs

image = $(BUILD)/$(1)/arch/x86/boot/bzImage
stamps := $(BUILD)/stamps

# Everything that overlay/lay puts into the tree.
laid_folders := $(wildcard arch drivers include kernel overlay Documentation \
	tools/testing/selftests)
laid_files := $(shell find $(laid_folders) -type f 2>/dev/null)
configs := overlay/config

.PHONY: help run test kernel stock debug-kernel kcsan-kernel recorder bench bench-functions \
	series deps base tree clean

help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

## make run           build the kernel, boot it, record with stock perf, check
## make test          tests, host and VM; ends with "N passed, N failed"
## make kernel        our kernel:        build/x86_64/arch/x86/boot/bzImage
## make stock         the base alone:    build/stock/arch/x86/boot/bzImage
## make debug-kernel  KASAN, lockdep, UBSAN, fault injection: build/debug/...
## make kcsan-kernel  the race detector: build/kcsan/...
## make recorder      perfring:          build/recorder/plain/perfring
## make bench         stock and ours side by side: instructions for a sample in
##                    the guest, ns for a record on this machine; what Intel PT
##                    costs: switches, branches, untraced tasks; and what perf
##                    record and perfring lose and cost on this machine
## make bench-functions   the same instructions, function by function
## make series        the overlay as patches for `git am`: build/series/
## make base, tree    unpack the base; lay this tree over it
## make deps          install the Debian packages that all of this needs
## make clean         remove build/
##
## JOBS=N             parallel jobs (default: all CPUs)
## BASE_TARBALL=FILE  another linux-source-6.12 tarball than the installed one
## ./vm --help        run one command on one of the kernels

deps: $(stamps)/deps
$(stamps)/deps: scripts/deps scripts/packages
	@mkdir -p $(@D)
	@$(step) deps "install the packages that scripts/packages lists by hand" -- scripts/deps
	@touch $@

base: $(stamps)/base
$(stamps)/base: scripts/base $(stamps)/deps $(wildcard $(BASE_TARBALL))
	@$(step) base "install $(BASE_PACKAGE), or name a tarball with BASE_TARBALL=" -- \
		scripts/base $(BASE_TARBALL) $(BUILD)/base
	@touch $@

tree: $(stamps)/tree
$(stamps)/tree: $(laid_files) $(stamps)/base
	@$(step) overlay "adapt the rule that is named in the log, see Documentation/dev/overlay.rst" -- \
		overlay/lay $(BUILD)/base $(BUILD)/tree
	@touch $@

# kernel_rule NAME SOURCE SOURCE_STAMP FRAGMENTS
define kernel_rule
$(call image,$(1)): scripts/kernel $(3) $(addprefix $(configs)/,$(4))
	@$$(step) kernel-$(1) "read the first error in the log" -- \
		scripts/kernel $(2) $(BUILD)/$(1) $(JOBS) $(addprefix $(configs)/,$(4))
endef

$(eval $(call kernel_rule,x86_64,$(BUILD)/tree,$(stamps)/tree,base.config own.config))
$(eval $(call kernel_rule,stock,$(BUILD)/base,$(stamps)/base,base.config))
$(eval $(call kernel_rule,debug,$(BUILD)/tree,$(stamps)/tree,base.config own.config debug.config))
$(eval $(call kernel_rule,kcsan,$(BUILD)/tree,$(stamps)/tree,base.config own.config kcsan.config))

kernel: $(call image,x86_64)
stock: $(call image,stock)
debug-kernel: $(call image,debug)
kcsan-kernel: $(call image,kcsan)

run: kernel
	@scripts/run

recorder: $(stamps)/deps
	@$(step) recorder "read the first error in the log" -- scripts/recorder $(BUILD)/recorder/plain

test: kernel stock debug-kernel kcsan-kernel
	@scripts/test

bench: kernel stock recorder
	@bench/run
	@echo
	@bench/aux
	@echo
	@bench/pt
	@echo
	@bench/native
	@echo
	@bench/recorder

bench-functions: kernel stock
	@bench/functions

series: tree
	@$(step) series "see the log" -- overlay/series $(BUILD)/base $(BUILD)/tree $(BUILD)/series
	@ls $(BUILD)/series

clean:
	rm -rf $(BUILD)
