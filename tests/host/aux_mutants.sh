#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The mutants of the AUX ring and of aux_test, for mutants.sh, which reads this.

# --- AUX ring: transactions and room ---
mutant aux_two_transactions aux_ring_test aux_ring.hh \
	's/return PERF_AUX_BUSY;/;/'
mutant aux_open_is_stored_not_exchanged aux_nesting_test aux_ring.hh \
	's/!P::try_lock(ring.open)/(P::load(ring.open) || (P::store(ring.open, 1UL), false))/'
mutant aux_never_closed aux_ring_test aux_ring.hh \
	's/P::unlock(ring.open);/;/'
mutant aux_anybody_opens aux_ring_test primitives.hh \
	's/return !__atomic_exchange_n(\(.*\));/__atomic_exchange_n(\1); return true;/'
mutant aux_full_is_opened aux_ring_test aux_ring.hh \
	's/return PERF_AUX_FULL;/return PERF_AUX_OPENED;/'
mutant aux_no_byte_kept_back aux_ring_test aux_ring.hh \
	's/ring.size - 1 - unread : 0/ring.size - unread : 0/'
mutant aux_any_tail_is_one aux_ring_test aux_ring.hh \
	's/unread < ring.size ?/true ?/'
mutant aux_overwrite_obeys_the_tail aux_ring_test aux_ring.hh \
	's/if (!ring.overwrite) {/if (true) {/'
mutant aux_flags_of_the_last_transaction aux_ring_test aux_ring.hh \
	's/handle.flags = 0;/;/'
mutant aux_head_of_the_last_transaction aux_ring_test aux_ring.hh \
	's/handle.head = ring.head;/;/'
mutant aux_mark_is_the_last_one aux_ring_test aux_ring.hh \
	's/handle.wakeup = ring.wakeup + ring.watermark;/handle.wakeup = ring.wakeup;/'
mutant aux_head_stays aux_ring_test aux_ring.hh \
	's/ring.head += size;/;/'
mutant aux_head_not_shown aux_ring_test aux_ring.hh \
	'/int publish(/,/^\t}/s/P::publish_head(ring.control->aux_head, ring.head);/;/'
mutant aux_head_shown_at_commit aux_ring_test aux_ring.hh \
	's/ring.cut = (report.flags/P::publish_head(ring.control->aux_head, ring.head); &/'
mutant aux_last_byte_is_wrong aux_ring_test aux_ring.hh \
	's/size > handle.size + 1/size > handle.size/'
mutant aux_one_byte_more_is_not_wrong aux_ring_test aux_ring.hh \
	's/size > handle.size + 1/size > handle.size + 2/'
mutant aux_snapshot_stays_where_it_was aux_ring_test aux_ring.hh \
	's/report.offset = ring.head = handle.head/report.offset = ring.head/'
mutant aux_skip_beyond_the_room aux_ring_test aux_ring.hh \
	's/if (size > handle.size)/if (size > handle.size + 1)/'
mutant aux_skip_takes_no_room aux_ring_test aux_ring.hh \
	's/handle.size -= size;/;/'
mutant aux_skip_not_shown aux_ring_test aux_ring.hh \
	's/todo = publish(ring);/todo = wake_due(ring) ? PERF_AUX_WAKE : 0;/'
mutant aux_skip_wakes_nobody aux_ring_test aux_ring.hh \
	's/todo = publish(ring);/publish(ring); todo = 0;/'
mutant aux_new_area_has_old_marks aux_ring_test aux_ring.hh \
	's/ring.wakeup = watermark ? .*;/;/'
mutant aux_new_area_has_old_data aux_ring_test aux_ring.hh \
	's/ring.untold.size = 0;/;/'
mutant aux_new_area_is_cut aux_ring_test aux_ring.hh \
	'/bool setup(/,/^\t}/s/ring.cut = 0;/;/'
mutant aux_new_area_under_a_transaction aux_ring_test aux_ring.hh \
	'/bool setup(/,/^\t}/s/if (!P::try_lock(ring.open))/if (P::try_lock(ring.open) \&\& false)/'
mutant aux_refused_area_is_changed aux_ring_test aux_ring.hh \
	'/bool setup(/,/^\t}/s/if (!P::try_lock(ring.open))/ring.size = size; &/'
mutant aux_refused_area_closes aux_ring_test aux_ring.hh \
	'/bool setup(/,/^\t}/s/return false;/return close(ring), false;/'
mutant aux_refused_area_says_it_is_one aux_ring_test aux_ring.hh \
	'/bool setup(/,/^\t}/s/return false;/return true;/'
mutant aux_new_area_is_refused aux_ring_test aux_ring.hh \
	'/bool setup(/,/^\t}/s/return true;/return false;/'
mutant aux_new_area_stays_open aux_ring_test aux_ring.hh \
	'/bool setup(/,/^\t}/s/close(ring);/;/'
mutant aux_new_area_has_the_old_size aux_ring_test aux_ring.hh \
	's/ring.size = size;/if (!ring.size) &/'
mutant aux_new_area_has_the_old_mode aux_model_test aux_ring.hh \
	's/ring.overwrite = overwrite;/ring.overwrite |= overwrite;/'

# --- AUX ring: wake-ups ---
mutant aux_wakes_one_late aux_ring_test aux_ring.hh \
	's/ring.head - ring.wakeup < ring.watermark/ring.head - ring.wakeup <= ring.watermark/'
mutant aux_mark_compared_as_a_number aux_ring_test aux_ring.hh \
	's/ring.head - ring.wakeup < ring.watermark/ring.head < ring.wakeup + ring.watermark/'
mutant aux_marks_drift aux_ring_test aux_ring.hh \
	's/ring.wakeup = ring.head - ring.head % ring.watermark;/ring.wakeup = ring.head;/'
mutant aux_marks_one_by_one aux_ring_test aux_ring.hh \
	's/ring.wakeup = ring.head - ring.head % ring.watermark;/ring.wakeup += ring.watermark;/'
mutant aux_snapshot_wakes aux_ring_test aux_ring.hh \
	's/if (ring.overwrite || ring.head/if (ring.head/'
mutant aux_publishing_wakes_nobody aux_model_test aux_ring.hh \
	's/return wake_due(ring) ? PERF_AUX_WAKE : 0;/wake_due(ring); return 0;/'

# --- AUX ring: records ---
mutant aux_driver_says_overwrite aux_ring_test aux_ring.hh \
	's/handle.flags & ~aux_overwrite/handle.flags/'
mutant aux_snapshot_does_not_say_so aux_ring_test aux_ring.hh \
	's/report.flags |= aux_overwrite;/;/'
mutant aux_record_of_nothing aux_ring_test aux_ring.hh \
	's/return report.size || (.*);/return true;/'
mutant aux_record_of_the_mode_alone aux_ring_test aux_ring.hh \
	'/says_something(const/,/^\t}/s/~(aux_format_mask | aux_overwrite)/~aux_format_mask/'
mutant aux_record_of_the_format_alone aux_ring_test aux_ring.hh \
	'/says_something(const/,/^\t}/s/~(aux_format_mask | aux_overwrite)/~aux_overwrite/'
mutant aux_flags_alone_are_not_told aux_ring_test aux_ring.hh \
	's/return report.size || (.*);/return report.size;/'
mutant aux_data_alone_are_not_told aux_ring_test aux_ring.hh \
	's/return report.size || (\(.*\));/return (\1) != 0;/'
mutant aux_cut_does_not_stop aux_ring_test aux_ring.hh \
	's/todo |= PERF_AUX_STOP | PERF_AUX_WAKE;/;/'
mutant aux_cut_lasts aux_ring_test aux_ring.hh \
	's/ring.cut = (report.flags & aux_truncated) != 0;/ring.cut |= (report.flags \& aux_truncated) != 0;/'
mutant aux_earlier_cut_stops aux_ring_test aux_ring.hh \
	's/ring.cut = (report.flags & aux_truncated) != 0;/ring.cut = ((report.flags | ring.untold.flags) \& aux_truncated) != 0;/'
mutant aux_cut_told_each_time aux_ring_test aux_ring.hh \
	's/ring.cut = 1;/;/'
mutant aux_cut_by_the_driver_told_twice aux_ring_test aux_ring.hh \
	's/if (ring.cut && !pending(ring))/if (false)/'
mutant aux_cut_hides_untold_flags aux_ring_test aux_ring.hh \
	's/return ring.untold.size || ring.untold.flags ||/return ring.untold.size ||/'
mutant aux_cut_hides_a_loss aux_ring_test aux_ring.hh \
	'/int refuse(/,/^\t}/s/!pending(ring)/!ring.untold.size \&\& !ring.untold.flags/'
mutant aux_cut_does_not_say_so aux_ring_test aux_ring.hh \
	's/report = {ring.head, 0, aux_truncated, 0, 0};/report = {ring.head, 0, aux_partial, 0, 0};/'
mutant aux_cut_wakes_nobody aux_ring_test aux_ring.hh \
	's/return PERF_AUX_TELL | PERF_AUX_STOP | PERF_AUX_WAKE;/return PERF_AUX_TELL | PERF_AUX_STOP;/'
mutant aux_known_cut_goes_on aux_ring_test aux_ring.hh \
	's/return PERF_AUX_STOP | PERF_AUX_WAKE;/return PERF_AUX_WAKE;/'
mutant aux_untold_is_forgotten aux_ring_test aux_ring.hh \
	's/ring.untold = report;/;/'
mutant aux_untold_flags_alone_not_merged aux_ring_test aux_ring.hh \
	's/ring.untold.size || ring.untold.flags, 0/ring.untold.size, 0/'
mutant aux_untold_data_alone_not_merged aux_ring_test aux_ring.hh \
	's/ring.untold.size || ring.untold.flags, 0/ring.untold.flags, 0/'
mutant aux_untold_flags_forgotten aux_ring_test aux_ring.hh \
	's/report.flags |= untold.flags & .*;/;/'
mutant aux_untold_mode_kept aux_ring_test aux_ring.hh \
	's/untold.flags & ~(aux_lost | aux_overwrite | aux_format_mask)/untold.flags \& ~(aux_lost | aux_format_mask)/'
mutant aux_formats_are_or_ed aux_ring_test aux_ring.hh \
	's/~(aux_lost | aux_overwrite | aux_format_mask)/~(aux_lost | aux_overwrite)/'
mutant aux_format_of_the_first aux_ring_test aux_ring.hh \
	's/if (!report.size && untold.size)/if (untold.size)/'
mutant aux_format_of_no_data aux_ring_test aux_ring.hh \
	's/if (!report.size && untold.size)/if (!report.size)/'
mutant aux_format_of_the_last aux_ring_test aux_ring.hh \
	's/if (!report.size && untold.size)/if (false)/'
mutant aux_formats_of_two aux_ring_test aux_ring.hh \
	's/report.flags = (report.flags & ~aux_format_mask) |/report.flags = report.flags |/'
mutant aux_gap_not_told aux_ring_test aux_ring.hh \
	's/untold.offset + untold.size != report.offset/false/'
mutant aux_gap_told_of_flags aux_ring_test aux_ring.hh \
	's/if (!ring.overwrite && untold.size)/if (!ring.overwrite)/'
mutant aux_gap_left_out aux_model_test aux_ring.hh \
	's/report.size += report.offset - untold.offset;/report.size += untold.size;/'
mutant aux_merged_data_begin_late aux_model_test aux_ring.hh \
	's/report.offset = untold.offset;/;/'
mutant aux_snapshots_merged aux_ring_test aux_ring.hh \
	's/if (!ring.overwrite && untold.size)/if (untold.size)/'
mutant aux_merged_for_ever aux_model_test aux_ring.hh \
	's/untold = {};/;/'

# --- AUX ring: loss ---
mutant aux_loss_without_its_flag aux_ring_test aux_ring.hh \
	's/report.flags |= aux_lost;/;/'
mutant aux_loss_without_partial aux_ring_test aux_ring.hh \
	's/if (!(report.flags & aux_truncated))/if (false)/'
mutant aux_cut_and_partial aux_ring_test aux_ring.hh \
	's/if (!(report.flags & aux_truncated))/if (true)/'
mutant aux_loss_of_before aux_ring_test aux_ring.hh \
	's/report.lost = 0;/;/'
mutant aux_time_of_before aux_ring_test aux_ring.hh \
	's/report.lost_since = 0;/;/'
mutant aux_loss_of_nothing aux_ring_test aux_ring.hh \
	's/if (!bytes)/if (false)/'
mutant aux_loss_told_within_a_transaction aux_ring_test aux_ring.hh \
	'/if there is one/{n;s/if (.*)/if (false)/}'
mutant aux_loss_in_a_snapshot_says_nothing_of_it aux_ring_test aux_ring.hh \
	's/ring.overwrite ? aux_overwrite : 0, 0, 0/0, 0, 0/'
mutant aux_refused_loss_forgotten aux_ring_test aux_ring.hh \
	's/P::add(ring.lost, report.lost);/;/'
mutant aux_refused_loss_has_the_later_time aux_ring_test aux_ring.hh \
	's/P::store(ring.lost_since, report.lost_since);/;/'
mutant aux_time_of_the_last_loss aux_ring_test aux_ring.hh \
	's/if (!seen)/if (true)/'
mutant aux_no_time_of_loss aux_ring_test aux_ring.hh \
	's/P::store(ring.lost_since, since);/;/'
mutant aux_loss_not_summed aux_ring_test aux_ring.hh \
	's/P::add(ring.lost_total, bytes);/;/'
mutant aux_sum_not_shown aux_model_test aux_ring.hh \
	's/show_lost(ring);/;/'
mutant aux_sum_shown_once aux_ring_test aux_ring.hh \
	's/P::store(ring.showing, 0UL);/;/'
mutant aux_loss_stored_not_added aux_nesting_test aux_ring.hh \
	's/!P::exchange_if(ring.lost, seen, seen + bytes)/(P::store(ring.lost, seen + bytes), false)/'
mutant aux_loss_added_to_what_was_told aux_nesting_test aux_ring.hh \
	's/!P::exchange_if(ring.lost, seen, seen + bytes)/(P::add(ring.lost, bytes), false)/'
mutant aux_loss_loaded_not_taken aux_nesting_test aux_ring.hh \
	's/P::exchange(ring.lost, 0UL);/P::load(ring.lost); P::store(ring.lost, 0UL);/'
mutant aux_time_read_after_the_loss aux_nesting_test aux_ring.hh \
	'/report.lost_since = P::load/d; s/report.lost = P::exchange(.*);/& report.lost_since = P::load(ring.lost_since);/'
mutant aux_sum_loaded_before_it_may_be_shown aux_nesting_test aux_ring.hh \
	'/^\t\t\ttotal = P::load/d; s/unsigned long idle = 0;/& total = P::load(ring.lost_total);/'
mutant aux_two_show_the_sum aux_nesting_test aux_ring.hh \
	's/if (!P::exchange_if(ring.showing, idle, 1UL))/if (idle)/'
mutant aux_sum_of_an_nmi_not_shown aux_nesting_test aux_ring.hh \
	's/while (P::load(ring.lost_total) != total);/while (false);/'
mutant aux_record_of_a_loss_told_by_an_nmi aux_nesting_test aux_ring.hh \
	'/unsigned int lose(/,/^\t}/s/^\t\tclose(ring);$/return PERF_AUX_TELL;/'
mutant aux_not_closed_without_a_record aux_nesting_test aux_ring.hh \
	'/unsigned int lose(/,/^\t}/s/^\t\tclose(ring);$/;/'

# --- AUX ring: a quiet end ---
mutant aux_quiet_with_data aux_ring_test aux_ring.hh \
	's/if (size || (handle.flags/if ((handle.flags/'
mutant aux_quiet_with_flags aux_ring_test aux_ring.hh \
	's/ || (handle.flags & .*) || pending(ring))/ || pending(ring))/'
mutant aux_not_quiet_with_the_format aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/~(aux_format_mask | aux_overwrite)/~aux_overwrite/'
mutant aux_not_quiet_with_the_mode aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/~(aux_format_mask | aux_overwrite)/~aux_format_mask/'
mutant aux_quiet_with_anything_pending aux_nesting_test aux_ring.hh \
	's/ || pending(ring))$/)/'
mutant aux_quiet_with_a_loss_pending aux_ring_test aux_ring.hh \
	'/bool pending(/,/^\t}/s/ || P::load(ring.lost);/;/'
mutant aux_quiet_with_data_untold aux_ring_test aux_ring.hh \
	'/bool pending(/,/^\t}/s/return ring.untold.size || /return /'
mutant aux_quiet_with_flags_untold aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/pending(ring)/ring.untold.size || P::load(ring.lost)/'
mutant aux_never_quiet aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/return true;/return false;/'
mutant aux_quiet_end_of_a_known_cut aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/ring.cut = 0;/;/'
mutant aux_quiet_snapshot_stays_where_it_was aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/ring.head = handle.head;/;/'
mutant aux_quiet_snapshot_not_shown aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/P::publish_head(.*);/;/'
mutant aux_quiet_end_moves_as_if_it_were_a_snapshot aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/if (ring.overwrite)/handle.head -= 1; if (true)/'
mutant aux_quiet_end_keeps_the_handle aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/handle.event = nullptr;/;/'
mutant aux_quiet_end_stays_open aux_ring_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/close(ring);/;/'
mutant aux_handle_cleared_after_closing aux_nesting_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/{s/handle.event = nullptr;/;/;s/return true;/handle.event = nullptr; &/}'
mutant aux_quiet_snapshot_shown_after_closing aux_nesting_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/{s/P::publish_head(.*);/;/;s/return true;/if (ring.overwrite) P::publish_head(ring.control->aux_head, handle.head); &/}'

# --- AUX area: layout and copying ---
mutant aux_wakes_when_all_is_full aux_layout_test aux_ring.cc \
	's/nr_pages << (page_shift - 1)/nr_pages << page_shift/'
mutant aux_watermark_of_64_bits aux_layout_test aux_ring.cc \
	's/half < most ? half : most/half/'
mutant aux_watermark_not_asked_for aux_layout_test aux_ring.cc \
	's/watermark ? watermark : half/true ? half : half/'
mutant aux_snapshot_has_a_watermark aux_layout_test aux_ring.cc \
	's/if (!overwrite) {/if (true) {/'
mutant aux_large_chunks_for_all aux_layout_test aux_ring.cc \
	's/if (wanted == PERF_AUX_PAGES_ANY)/if (false)/'
mutant aux_snapshot_in_pages aux_layout_test aux_ring.cc \
	's/layout.max_order = whole;/;/'
mutant aux_one_chunk_for_all aux_layout_test aux_ring.cc \
	's/layout.one_chunk = wanted == PERF_AUX_PAGES_CONTIGUOUS;/layout.one_chunk = 1;/'
mutant aux_one_chunk_for_nobody aux_layout_test aux_ring.cc \
	's/layout.one_chunk = wanted == PERF_AUX_PAGES_CONTIGUOUS;/;/'
mutant aux_chunk_above_the_watermark aux_layout_test aux_ring.cc \
	's/order < half_order ? order : half_order/half_order/'
mutant aux_only_one_chunk aux_layout_test aux_ring.cc \
	's/whole ? whole - 1 : 0/whole/'
mutant aux_one_page_has_many aux_layout_test aux_ring.cc \
	's/whole ? whole - 1 : 0/whole - 1/'
mutant aux_copy_of_all_is_none aux_layout_test aux_ring.cc \
	's/between ? between : size/between/'
mutant aux_copy_does_not_wrap aux_layout_test aux_ring.cc \
	's/(to - from) & (size - 1)/to - from/'
mutant aux_copy_leaves_its_page aux_layout_test aux_ring.cc \
	's/left < in_page ? left : in_page/left/'
mutant aux_copy_from_the_start_of_a_page aux_layout_test aux_ring.cc \
	's/ + offset,/,/'
mutant aux_copy_of_one_page aux_layout_test aux_ring.cc \
	's/pages\[at >> page_shift\]/pages[0]/'
mutant aux_copy_stays aux_layout_test aux_ring.cc \
	's/from += now;/;/'
mutant aux_copy_returns_what_is_left aux_layout_test aux_ring.cc \
	's/return wanted;/return left;/'

# --- aux_test: fields ---
mutant unknown_bits_pass aux_test_test ../aux_test/config.cc \
	's/if (words\[i\] & ~known\[i\])/if (false)/'
mutant only_the_first_word_is_known aux_test_test ../aux_test/config.cc \
	's/known\[fields\[i\].config\] |=/known[0] |=/'
mutant fields_lack_their_last_bit aux_test_test ../aux_test/config.cc \
	's/63 - (field.last_bit - field.first_bit)/64 - (field.last_bit - field.first_bit)/'
mutant fields_are_not_shifted aux_test_test ../aux_test/config.cc \
	's/ >> field.first_bit;/;/'
mutant fields_overlap aux_test_test ../aux_test/config.cc \
	's/{"hw_id", 2, 33, 33}/{"hw_id", 2, 32, 33}/'
mutant two_fields_are_exchanged aux_test_test ../aux_test/config.cc \
	's/number(fail_setup);/number(fail_begin);/'
mutant no_default_rate aux_test_test ../aux_test/config.cc \
	's/asked ? asked : default_rate/asked/'
mutant burst_not_asked_for aux_test_test ../aux_test/config.cc \
	's/^\tif (asked)$/if (false)/'
mutant default_burst_of_bytes aux_test_test ../aux_test/config.cc \
	's/(rate_asked \/ 1000) & ~7UL/(rate_asked \/ 1000)/'
mutant default_burst_of_nothing aux_test_test ../aux_test/config.cc \
	's/per_ms < word_size ? word_size : per_ms/per_ms/'
mutant interval_too_short aux_test_test ../aux_test/config.cc \
	's/if (exact < shortest_interval)/if (false)/'
mutant interval_too_long aux_test_test ../aux_test/config.cc \
	's/exact < longest_interval ? exact : longest_interval/exact/'
mutant chunk_of_bytes aux_test_test ../aux_test/config.cc \
	's/config.chunk % word_size || //'
mutant burst_of_bytes aux_test_test ../aux_test/config.cc \
	's/ || config.burst % word_size//'
mutant fourth_overrun aux_test_test ../aux_test/config.cc \
	's/config.overrun >= AUX_TEST_OVERRUNS || //'
mutant any_flag_is_raised aux_test_test ../aux_test/config.cc \
	's/ || config.raise & ~may_raise//'
mutant no_collision_is_raised aux_test_test ../aux_test/config.cc \
	's/flag_partial | flag_collision | /flag_partial | /'
mutant late_end_without_time aux_test_test ../aux_test/config.cc \
	's/config.late_end && !config.slow_stop/false/'
mutant aligned_to_half_a_word aux_test_test ../aux_test/config.cc \
	's/log_align >= 3/log_align >= 2/'
mutant aligned_to_two_pages aux_test_test ../aux_test/config.cc \
	's/log_align <= 12/log_align <= 13/'
mutant always_aligned aux_test_test ../aux_test/config.cc \
	's/log_align == 0 || //'
mutant not_aligned_to_words aux_test_test ../aux_test/config.cc \
	's/1UL << number(align) : word_size/1UL << number(align) : 1/'

# --- aux_test: the clock ---
mutant whole_seconds_make_nothing aux_test_test ../aux_test/stream.cc \
	's/elapsed \/ second \* rate/0/'
mutant product_overflows aux_test_test ../aux_test/stream.cc \
	's/longest_piece = 1ULL << 28/longest_piece = 1ULL << 30/'
mutant what_is_returned_is_gone aux_test_test ../aux_test/stream.cc \
	's/clock->fraction += bytes \* second;//'
mutant never_strict aux_test_test ../aux_test/config.cc \
	's/config->strict = number(strict) != 0/config->strict = 0/'
mutant one_piece_of_a_gap aux_test_test ../aux_test/stream.cc \
	's/elapsed -= piece;/elapsed = 0;/'
mutant fraction_is_lost aux_test_test ../aux_test/stream.cc \
	's/fraction += product % second;/;/'
mutant fraction_counts_twice aux_test_test ../aux_test/stream.cc \
	's/^\t\tfraction %= second;/;/'
mutant bytes_short_of_a_word_are_lost aux_test_test ../aux_test/stream.cc \
	's/(bytes - due) \* second + fraction/fraction/'
mutant bytes_short_of_a_word_are_due aux_test_test ../aux_test/stream.cc \
	's/due = whole_words(bytes);/due = bytes;/'
mutant clock_goes_back aux_test_test ../aux_test/stream.cc \
	's/now > clock->now ? now - clock->now : 0/now - clock->now/'
mutant clock_stands aux_test_test ../aux_test/stream.cc \
	's/clock->now += elapsed;/;/'
mutant late_is_not_lost aux_test_test ../aux_test/stream.cc \
	's/most ? least(due, whole_words(most)) : due/due/'
mutant late_is_no_whole_words aux_test_test ../aux_test/stream.cc \
	's/least(due, whole_words(most))/least(due, most)/'
mutant start_keeps_the_fraction aux_test_test ../aux_test/stream.cc \
	's/clock->fraction = 0;/;/'

# --- aux_test: where a transaction ends, and its words ---
mutant chunk_forgets_what_was_written aux_test_test ../aux_test/stream.cc \
	's/config.chunk - run.written : word_size/config.chunk : word_size/'
mutant chunk_ends_with_nothing aux_test_test ../aux_test/stream.cc \
	's/config.chunk - run.written : word_size/config.chunk - run.written : 0/'
mutant snapshot_ends aux_test_test ../aux_test/stream.cc \
	's/^\tif (area.overwrite)$/if (false)/'
mutant mark_behind_ends aux_test_test ../aux_test/stream.cc \
	's/if (to_wakeup > area.size)/if (false)/'
mutant mark_forgets_what_was_written aux_test_test ../aux_test/stream.cc \
	's/(to_wakeup - run.written + word_size - 1)/(to_wakeup + word_size - 1)/'
mutant mark_is_not_reached aux_test_test ../aux_test/stream.cc \
	's/(to_wakeup - run.written + word_size - 1)/(to_wakeup - run.written)/'
mutant snapshot_is_full aux_test_test ../aux_test/stream.cc \
	's/area.overwrite ? ~0UL$/false ? ~0UL/'
mutant half_a_word_of_room aux_test_test ../aux_test/stream.cc \
	's/whole_words(run.room)/run.room/'
mutant room_forgets_what_was_written aux_test_test ../aux_test/stream.cc \
	's/(whole_words(run.room)) - run.written/(whole_words(run.room))/'
mutant twice_around_at_once aux_test_test ../aux_test/stream.cc \
	's/least(due, area->size)/due/'
mutant end_is_not_seen aux_test_test ../aux_test/stream.cc \
	's/if (bytes == end)/if (false)/'
mutant all_written_is_full aux_test_test ../aux_test/stream.cc \
	's/if (bytes == due)/if (false)/'
mutant full_is_not_seen aux_test_test ../aux_test/stream.cc \
	's/if (bytes == room)/if (false)/'
mutant fill_leaves_its_page aux_test_test ../aux_test/stream.cc \
	's/bytes < left ? bytes : left/bytes/'
mutant fill_stays aux_test_test ../aux_test/stream.cc \
	's/at += now;/;/'
mutant fill_of_one_page aux_test_test ../aux_test/stream.cc \
	's/place >> area->page_shift/0/'
mutant fill_from_the_start_of_a_page aux_test_test ../aux_test/stream.cc \
	's/in_page \/ word_size;/0;/'
mutant words_do_not_count aux_test_test ../aux_test/stream.cc \
	's/i++, offset += word_size/i++/'
mutant offset_becomes_an_id aux_test_test ../aux_test/stream.cc \
	's/(offset & offset_mask)/offset/'
mutant words_are_nobodys aux_test_test ../aux_test/stream.cc \
	's/= whose | /= /'
mutant pad_of_a_whole_alignment aux_test_test ../aux_test/stream.cc \
	's/(align - head % align) % align/align - head % align/'

# --- AUX ring: memory order ---
mutant aux_edge_a_relaxed aux_thread_test primitives.hh \
	's/__atomic_load_n(&tail, __ATOMIC_ACQUIRE)/__atomic_load_n(\&tail, __ATOMIC_RELAXED)/'
mutant aux_edge_b_relaxed aux_thread_test primitives.hh \
	's/^\([[:space:]]*\)__ATOMIC_RELEASE);/\1__ATOMIC_RELAXED);/'
mutant aux_tail_is_a_plain_load aux_thread_test aux_ring.hh \
	's/P::load_tail(ring.control->aux_tail)/static_cast<unsigned long>(ring.control->aux_tail)/'
mutant aux_head_is_a_plain_store aux_thread_test aux_ring.hh \
	's/P::publish_head(ring.control->aux_head, ring.head);/ring.control->aux_head = ring.head;/'
mutant aux_sum_is_a_plain_store aux_thread_test aux_ring.hh \
	's/P::store(ring.control->aux_lost, \(.*\));/ring.control->aux_lost = \1;/'
mutant aux_quiet_snapshot_is_a_plain_store aux_thread_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/s/P::publish_head(ring.control->aux_head, ring.head);/ring.control->aux_head = ring.head;/'
mutant aux_lock_taken_relaxed aux_thread_test primitives.hh \
	's/__atomic_exchange_n(&lock, 1UL, __ATOMIC_ACQUIRE)/__atomic_exchange_n(\&lock, 1UL, __ATOMIC_RELAXED)/'
mutant aux_lock_given_back_relaxed aux_thread_test primitives.hh \
	's/__atomic_store_n(&lock, 0UL, __ATOMIC_RELEASE)/__atomic_store_n(\&lock, 0UL, __ATOMIC_RELAXED)/'
mutant aux_lock_has_many_owners aux_thread_test primitives.hh \
	's/return !__atomic_exchange_n(\(.*\));/__atomic_exchange_n(\1); return true;/'
mutant aux_lock_not_taken_for_another_area aux_thread_test aux_ring.hh \
	'/bool setup(/,/^\t}/{s/if (!P::try_lock(ring.open))/if (P::load(ring.open))/;s/close(ring);/;/}'
mutant aux_lock_given_back_before_another_area aux_thread_test aux_ring.hh \
	'/bool setup(/,/^\t}/{s/close(ring);/;/;s/ring.control = control;/close(ring); &/}'
mutant aux_handle_used_after_closing aux_thread_test aux_ring.hh \
	'/bool end_quietly(/,/^\t}/{s/ring.cut = 0;/;/;s/return true;/ring.cut = 0; &/}'
