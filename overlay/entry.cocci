// SPDX-License-Identifier: GPL-2.0
//
// include/linux/entry-common.h: emulated trace hardware sees the CPU come from user
// mode, as soon as RCU watches.
//
// inserts: trace_emu_enter 1

@included@
@@
  #include <asm/entry-common.h>
+ #include <linux/trace_emu.h>

@enter@
@@
  enter_from_user_mode(struct pt_regs *regs)
  {
  ...
  kmsan_unpoison_entry_regs(regs);
+ trace_emu_enter(regs);
  ...
  }
