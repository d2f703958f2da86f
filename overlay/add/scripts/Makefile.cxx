# SPDX-License-Identifier: GPL-2.0
#
# Freestanding C++20 objects in the kernel. A subdirectory's Makefile includes
# this file and lists its objects in obj-y as usual; each is built from a .cc.
#
# The C flags of the directory hold (code model, sanitizers, alignment), less
# what a C++ compiler refuses and less every include path and macro: such a
# file sees the compiler's own headers and its neighbours, never the kernel's.

KERNEL_CXX ?= $(patsubst %clang,%clang++,$(patsubst %gcc,%g++,$(CC)))

# -include takes the word behind it along.
cxx_without_includes = $(shell printf '%s\n' '$(subst ','\'',$(c_flags))' | \
	sed -e 's/-include  *[^ ]*//g')

cxx_refused := -nostdinc -I% -D% -std=% -Wundef \
	-Wmissing-prototypes -Wstrict-prototypes -Wno-pointer-sign \
	-Wdeclaration-after-statement -Wimplicit-% -Wold-style-% \
	-Werror=implicit-% -Werror=strict-prototypes \
	-Werror=incompatible-pointer-types -Werror=designated-init \
	-Wmissing-declarations -Wno-main -Wno-override-init \
	-Wno-alloc-size-larger-than -Wno-sign-compare -Wno-type-limits

cxx_language := -std=c++20 -ffreestanding -fno-exceptions -fno-rtti \
	-fno-threadsafe-statics -fno-gnu-unique -fno-asynchronous-unwind-tables -g0 \
	-Wall -Wextra -Wconversion -Werror

# Atomics in line: there is no library that would have them.
cxx_language += $(if $(filter arm64,$(SRCARCH)),-mno-outline-atomics)

cxx_flags = $(filter-out $(cxx_refused),$(cxx_without_includes)) $(cxx_language)

# The objects call nothing but what is listed, which keeps them testable
# outside of the kernel. Names only, one a line; # starts a comment.
cxx_allowed := $(dir $(lastword $(MAKEFILE_LIST)))cxx-undefined.allow

cxx_sections := $(dir $(lastword $(MAKEFILE_LIST)))cxx.lds

quiet_cmd_cxx_o_cc = CXX     $@
      cmd_cxx_o_cc = $(KERNEL_CXX) $(cxx_flags) -c -o $@.parts.o $< && \
		$(LD) $(KBUILD_LDFLAGS) -r --force-group-allocation -T $(cxx_sections) -o $@ $@.parts.o && \
		rm -f $@.parts.o $(cmd_objtool)

quiet_cmd_cxx_undefined =
      cmd_cxx_undefined = \
	stray=$$($(NM) -u $@ | awk '{ print $$2 }' | grep -vxE -f $(cxx_allowed) || true); \
	if [ -n "$$stray" ]; then \
		echo "$@: calls what scripts/cxx-undefined.allow does not list:" $$stray >&2; \
		rm -f $@; exit 1; \
	fi

define rule_cxx_o_cc
	$(call cmd_and_fixdep,cxx_o_cc)
	$(call cmd,cxx_undefined)
endef

$(obj)/%.o: $(src)/%.cc $(cxx_allowed) $(cxx_sections) FORCE
	$(call if_changed_rule,cxx_o_cc)
