#include "jev.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256 * 1024, ALIGN = 16 };

struct jev_chunk {
    struct jev_chunk *next;
    size_t pad;                 /* keeps the bytes behind it 16-aligned */
};

void jev_release(struct jev *jev)
{
    while (jev->chunks) {
        struct jev_chunk *next = jev->chunks->next;
        free(jev->chunks);
        jev->chunks = next;
    }
    jev_text_release(&jev->warnings);
    memset(jev, 0, sizeof *jev);
}

/* Writes "path:line: ", as messages begin. Returns its length. */
static size_t write_place(char *out, size_t cap, const char *path, unsigned long line)
{
    int n = line ? snprintf(out, cap, "%s:%lu: ", path, line)
                 : snprintf(out, cap, "%s: ", path ? path : "jevents");
    return n < 0 ? 0 : (size_t)n < cap ? (size_t)n : cap - 1;
}

int jev_fail(struct jev *jev, const char *path, unsigned long line, const char *fmt, ...)
{
    va_list args;
    if (jev_failed(jev))
        return -1;
    size_t n = write_place(jev->error, sizeof jev->error, path, line);
    va_start(args, fmt);
    vsnprintf(jev->error + n, sizeof jev->error - n, fmt, args);
    va_end(args);
    return -1;
}

void jev_warn(struct jev *jev, const char *path, unsigned long line, const char *fmt, ...)
{
    char buf[2048];
    va_list args;
    size_t n = write_place(buf, sizeof buf, path, line);
    va_start(args, fmt);
    vsnprintf(buf + n, sizeof buf - n, fmt, args);
    va_end(args);
    jev_adds(jev, &jev->warnings, buf);
    jev_adds(jev, &jev->warnings, "\n");
}

/* The only place that allocates. */
static void *resize(struct jev *jev, void *ptr, size_t size)
{
    void *got = ++jev->allocations == jev->fail_at ? NULL : realloc(ptr, size);
    if (!got)
        jev_fail(jev, NULL, 0, "out of memory");
    return got;
}

void *jev_alloc(struct jev *jev, size_t size)
{
    if (size > SIZE_MAX - CHUNK)
        return jev_fail(jev, NULL, 0, "out of memory"), NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size > jev->free_len) {
        size_t room = size > CHUNK / 4 ? size : CHUNK;
        struct jev_chunk *chunk = resize(jev, NULL, sizeof *chunk + room);
        if (!chunk)
            return NULL;
        chunk->next = jev->chunks;
        jev->chunks = chunk;
        if (room == size)       /* a large block: the open chunk stays open */
            return chunk + 1;
        jev->free_ptr = (char *)(chunk + 1);
        jev->free_len = room;
    }
    void *p = jev->free_ptr;
    jev->free_ptr += size;
    jev->free_len -= size;
    return p;
}

char *jev_keep(struct jev *jev, const char *ptr, size_t len)
{
    char *copy = jev_alloc(jev, len + 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, ptr, len);
    copy[len] = '\0';
    return copy;
}

char *jev_path(struct jev *jev, const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name);
    char *path = jev_alloc(jev, n + m + 2);
    if (!path)
        return NULL;
    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    return path;
}

int jev_room(struct jev *jev, void **array, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return 0;
    size_t want = *cap ? *cap * 2 : 16;
    void *grown = want > SIZE_MAX / 2 / size ? NULL : jev_alloc(jev, want * size);
    if (!grown)
        return jev_fail(jev, NULL, 0, "out of memory");
    if (count)
        memcpy(grown, *array, count * size);
    *array = grown;
    *cap = want;
    return 0;
}

/* Makes room for len more bytes and a NUL. */
static int text_room(struct jev *jev, struct jev_text *text, size_t len)
{
    if (len > SIZE_MAX / 4 - text->len)
        return jev_fail(jev, NULL, 0, "out of memory");
    if (text->len + len < text->cap)
        return 0;
    size_t want = (text->len + len + 1) * 2;
    char *grown = resize(jev, text->ptr, want);
    if (!grown)
        return -1;
    text->ptr = grown;
    text->cap = want;
    return 0;
}

void jev_add(struct jev *jev, struct jev_text *text, const char *ptr, size_t len)
{
    if (jev_failed(jev) || text_room(jev, text, len) < 0)
        return;
    if (len)
        memcpy(text->ptr + text->len, ptr, len);
    text->len += len;
    text->ptr[text->len] = '\0';
}

void jev_adds(struct jev *jev, struct jev_text *text, const char *string)
{
    jev_add(jev, text, string, strlen(string));
}

void jev_text_release(struct jev_text *text)
{
    free(text->ptr);
    memset(text, 0, sizeof *text);
}

int jev_read_file(struct jev *jev, const char *path, struct jev_text *text)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return jev_fail(jev, path, 0, "%s", strerror(errno));
    for (;;) {
        if (text_room(jev, text, 1 << 16) < 0)
            break;
        size_t n = fread(text->ptr + text->len, 1, 1 << 16, in);
        text->len += n;
        text->ptr[text->len] = '\0';
        if (n == 0)
            break;
    }
    if (ferror(in))
        jev_fail(jev, path, 0, "%s", strerror(errno));
    fclose(in);
    return jev_failed(jev) ? -1 : 0;
}
