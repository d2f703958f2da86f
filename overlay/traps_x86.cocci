// SPDX-License-Identifier: GPL-2.0
//
// arch/x86/kernel/traps.c: the debug exceptions of emulated trace hardware are its own.
//
// inserts: trace_emu_note_debug 1
// inserts: trace_emu_debug 1

@included@
@@
  #include <asm/debugreg.h>
+ #include <linux/trace_emu.h>

@debug@
@@
  exc_debug_user(struct pt_regs *regs, unsigned long dr6)
  {
  ...
+ dr6 = trace_emu_note_debug(regs, dr6);
  irqentry_enter_from_user_mode(regs);
  instrumentation_begin();
+ if (trace_emu_debug(regs))
+	goto out;
  ...
  }
