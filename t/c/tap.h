/* Test Anything Protocol, the little of it that is needed. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

static bool ok_at(bool ok, int line, const char *fmt, ...)
{
    va_list ap;
    printf("%sok %d - ", ok ? "" : "not ", ++tap_count);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    if (!ok) {
        printf("# failed at line %d\n", line);
        tap_failed++;
    }
    return ok;
}

#define ok(cond, ...) ok_at((cond), __LINE__, __VA_ARGS__)
#define is_u(got, want, ...) do { unsigned long long g_ = (got), w_ = (want); \
    if (!ok_at(g_ == w_, __LINE__, __VA_ARGS__)) \
        printf("# got %llu, wanted %llu\n", g_, w_); } while (0)
#define is_i(got, want, ...) do { long long g_ = (got), w_ = (want); \
    if (!ok_at(g_ == w_, __LINE__, __VA_ARGS__)) \
        printf("# got %lld, wanted %lld\n", g_, w_); } while (0)
#define is_s(got, want, ...) do { const char *g_ = (got), *w_ = (want); \
    if (!ok_at(strcmp(g_, w_) == 0, __LINE__, __VA_ARGS__)) \
        printf("# got '%s', wanted '%s'\n", g_, w_); } while (0)

static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed != 0;
}

#endif
