/* What the parts of jevents share: memory that goes all at once, texts that grow, the first error
 * and all warnings. jevents is a program of its own, of libc alone: it is built and run before the
 * core is compiled. */
#ifndef JEV_H
#define JEV_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __GNUC__
#  define JEV_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#  define JEV_PRINTF(fmt, args)
#endif

/* Bytes. ptr is NULL as long as nothing was added, and NUL-terminated then; see jev_str(). */
struct jev_text {
    char *ptr;
    size_t len, cap;
};

struct jev_chunk;

/* A run. All zero is a new one. An error stays: whatever comes after it does nothing or fails, so
 * that many calls can be made before one look at it. */
struct jev {
    struct jev_chunk *chunks;
    char *free_ptr;
    size_t free_len;
    struct jev_text warnings;   /* lines */
    char error[2048];           /* "file:line: what", empty while there is none */
    unsigned long allocations;
    unsigned long fail_at;      /* for tests: this allocation fails, counted from 1 */
};

/* Forgets a run and all that came of its memory. */
void jev_release(struct jev *jev);

static inline bool jev_failed(const struct jev *jev) { return jev->error[0] != '\0'; }

/* Notes an error unless there is one already. path may be NULL; line 0: none to be told. Returns
 * -1. */
int jev_fail(struct jev *jev, const char *path, unsigned long line, const char *fmt, ...)
    JEV_PRINTF(4, 5);

/* Adds a line to the warnings. */
void jev_warn(struct jev *jev, const char *path, unsigned long line, const char *fmt, ...)
    JEV_PRINTF(4, 5);

/* Memory that goes with the run. NULL, with an error noted, where there is none. */
void *jev_alloc(struct jev *jev, size_t size);

/* A copy, NUL-terminated, that goes with the run. */
char *jev_keep(struct jev *jev, const char *ptr, size_t len);

/* Two paths and a slash between. */
char *jev_path(struct jev *jev, const char *dir, const char *name);

/* Room for one more in an array of the run's memory: *array has count entries of size bytes, room
 * for *cap. */
int jev_room(struct jev *jev, void **array, size_t count, size_t *cap, size_t size);

/* Texts are the caller's, who releases them. */
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

/* All of a file, behind what the text has. */
int jev_read_file(struct jev *jev, const char *path, struct jev_text *text);

#endif
