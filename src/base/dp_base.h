/* Macros and fixed-width types that every part of the core uses. Level 0: includes nothing of the
 * project. */
#ifndef DP_BASE_H
#define DP_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#if defined(__GNUC__) || defined(__clang__)
#  define DP_LIKELY(x)     __builtin_expect(!!(x), 1)
#  define DP_UNLIKELY(x)   __builtin_expect(!!(x), 0)
#  define DP_PRINTF(f, a)  __attribute__((format(printf, f, a)))
#  define DP_INLINE        static inline __attribute__((always_inline))
#  define DP_NOINLINE      __attribute__((noinline))
#  define DP_COLD          __attribute__((noinline, cold))
#  define DP_PREFETCH(p)   __builtin_prefetch(p)
/* Makes the compiler compute x here, and not as part of a longer sum. */
#  define DP_COMPUTE(x)    __asm__("" : "+r"(x))
#else
#  define DP_LIKELY(x)     (x)
#  define DP_UNLIKELY(x)   (x)
#  define DP_PRINTF(f, a)
#  define DP_INLINE        static inline
#  define DP_NOINLINE
#  define DP_COLD
#  define DP_PREFETCH(p)   ((void)(p))
#  define DP_COMPUTE(x)    ((void)(x))
#endif

#define DP_ARRAY_LEN(a)  (sizeof(a) / sizeof((a)[0]))

/* For structs that are mapped and read elsewhere: a field that begins at a multiple of 8 bytes,
 * even if pointers have 4; and a check by the compiler. `name` distinguishes the checks of a
 * file. */
#define DP_ALIGNED_8     __attribute__((aligned(8)))
#define DP_CHECK(name, condition)  typedef char dp_check_##name[(condition) ? 1 : -1]

/* A word that may store another type: the compiler assumes that it aliases anything. */
typedef uint64_t dp_any_word __attribute__((may_alias));

#endif
