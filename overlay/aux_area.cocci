// SPDX-License-Identifier: GPL-2.0
//
// kernel/events/aux_area.c: the base's ring_buffer.c with only its AUX half
// left in it.
//
// removes: perf_output_wakeup perf_output_get_handle perf_output_put_handle
// removes: ring_buffer_has_space __perf_output_begin perf_output_begin_forward
// removes: perf_output_begin_backward perf_output_begin perf_output_copy
// removes: perf_output_skip perf_output_end ring_buffer_init
// removes: __perf_mmap_to_page perf_mmap_alloc_page perf_mmap_free_page
// removes: rb_alloc rb_free perf_mmap_unmark_page rb_free_work
// removes: perf_mmap_to_page

@removed_function@
identifier f = { perf_output_wakeup, perf_output_get_handle,
	perf_output_put_handle, ring_buffer_has_space, __perf_output_begin,
	perf_output_begin_forward, perf_output_begin_backward,
	perf_output_begin, perf_output_copy, perf_output_skip, perf_output_end,
	ring_buffer_init, __perf_mmap_to_page, perf_mmap_alloc_page,
	perf_mmap_free_page, rb_alloc, rb_free, perf_mmap_unmark_page,
	rb_free_work, perf_mmap_to_page };
@@
- f(...) { ... }
