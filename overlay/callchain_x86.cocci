// SPDX-License-Identifier: GPL-2.0
//
// arch/x86/events/core.c: a user call chain ends where the frame pointer is 0, as
// the psABI has it for the outermost frame. The base finds out by reading there,
// and the fault costs more than the rest of the chain.
//
// deletes: (!valid_user_frame(

@ended@
expression fp, size;
@@
- valid_user_frame(fp, size)
+ (fp && valid_user_frame(fp, size))
