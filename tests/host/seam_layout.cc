// SPDX-License-Identifier: GPL-2.0
/* The seam's layouts as the C++ side sees them. */
#include "seam_layout.h"

/* Sizes of pointers are what the table is about. NOLINTNEXTLINE(bugprone-sizeof-expression) */
const seam_layout seam_layout_cxx[] = {SEAM_LAYOUT_TABLE};
const size_t seam_layout_cxx_entries = sizeof(seam_layout_cxx) / sizeof(seam_layout_cxx[0]);
