/* SPDX-License-Identifier: GPL-2.0 */
/* Is this test built with a sanitizer? */
#ifndef PERFRING_X86_BRANCH_SANITIZED_HH
#define PERFRING_X86_BRANCH_SANITIZED_HH

/* What sanitizers call uses the vector registers for itself. */
#if defined(__SANITIZE_ADDRESS__)
#define PERFRING_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PERFRING_SANITIZED
#endif
#endif
#ifdef PERFRING_SANITIZED
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

#endif /* PERFRING_X86_BRANCH_SANITIZED_HH */
