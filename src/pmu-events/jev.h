/* Shared by the parts of jevents: memory that is freed all at once, texts that grow, the first
 * error and all warnings. jevents is a program of its own, which needs only libc: it is built and
 * run before the core is compiled. */
#ifndef JEV_H
#define JEV_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __GNUC__
#  define JEV_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#  define JEV_PRINTF(fmt, args)
#endif

/* A text that grows. ptr is NULL until the first addition, and NUL-terminated from then on; see
 * jev_str(). */
struct jev_text {
    char *ptr;
    size_t len, cap;
};

struct jev_chunk;

/* A run; a new one is all zero. An error is sticky: later calls do nothing or fail, so one check
 * after many calls is enough. */
struct jev {
    struct jev_chunk *chunks;
    char *free_ptr;
    size_t free_len;
    struct jev_text warnings;   /* lines */
    char error[2048];           /* "file:line: what", empty without an error */
    unsigned long allocations;
    unsigned long fail_at;      /* for tests: number of the allocation that fails, from 1 */
};

/* Frees all memory of a run. */
void jev_release(struct jev *jev);

static inline bool jev_failed(const struct jev *jev) { return jev->error[0] != '\0'; }

/* Notes an error, unless there is one already. path may be NULL; line 0: the message has none.
 * Returns -1. */
int jev_fail(struct jev *jev, const char *path, unsigned long line, const char *fmt, ...)
    JEV_PRINTF(4, 5);

/* Adds a line to the warnings. */
void jev_warn(struct jev *jev, const char *path, unsigned long line, const char *fmt, ...)
    JEV_PRINTF(4, 5);

/* Allocates memory that is freed with the run. NULL, with an error noted, if there is none. */
void *jev_alloc(struct jev *jev, size_t size);

/* Makes a NUL-terminated copy, which is freed with the run. */
char *jev_keep(struct jev *jev, const char *ptr, size_t len);

/* Joins two paths with a slash. */
char *jev_path(struct jev *jev, const char *dir, const char *name);

/* Makes room for one more entry in an array of the run's memory. *array has count entries of size
 * bytes, and room for *cap. */
int jev_room(struct jev *jev, void **array, size_t count, size_t *cap, size_t size);

/* Add to texts, which the caller releases. */
void jev_add(struct jev *jev, struct jev_text *text, const char *ptr, size_t len);
void jev_adds(struct jev *jev, struct jev_text *text, const char *string);
void jev_text_release(struct jev_text *text);

static inline const char *jev_str(const struct jev_text *text)
{
    return text->ptr ? text->ptr : "";
}

static inline void jev_text_empty(struct jev_text *text)
{
    text->len = 0;
    if (text->ptr)
        text->ptr[0] = '\0';
}

/* Appends a whole file to the text. */
int jev_read_file(struct jev *jev, const char *path, struct jev_text *text);

#endif
