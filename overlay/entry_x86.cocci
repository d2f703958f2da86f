// SPDX-License-Identifier: GPL-2.0
//
// arch/x86/include/asm/entry-common.h: emulated trace hardware sees the CPU go to
// user mode, after all else that may change where it goes.
//
// inserts: trace_emu_exit 1

@included@
@@
  #include <asm/fred.h>
+ #include <linux/trace_emu.h>

@exit@
@@
  arch_exit_to_user_mode_prepare(struct pt_regs *regs, unsigned long ti_work)
  {
  ...
+ trace_emu_exit(regs);
  }
