/* SPDX-License-Identifier: GPL-2.0 */
void intel_pt_handle_vmx(int on);
void cpu_emergency_stop_pt(void);
