#include "jev_mapfile.h"

#include <regex.h>
#include <string.h>

enum { FIELDS = 4, TOO_LARGE = 20000 };

/* Splits a line, given without its line end, into fields. */
static int split_row(struct jev *jev, const char *path, unsigned long line, const char *p,
                     const char *end, const char *field[FIELDS])
{
    static const char *const names[FIELDS] = { "CPUID", "version", "directory", "type" };
    for (int i = 0; i < FIELDS; i++) {
        if (!p)
            return jev_fail(jev, path, line,
                            "no %s: a line is CPUID,version,directory,type", names[i]);
        const char *comma = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
        const char *stop = comma ? comma : end;
        if (stop == p)
            return jev_fail(jev, path, line,
                            "the %s is empty: a line is CPUID,version,directory,type", names[i]);
        field[i] = jev_keep(jev, p, (size_t)(stop - p));
        p = comma ? comma + 1 : NULL;
    }
    return jev_failed(jev) ? -1 : 0;
}

/* Is the regex too expensive? For {255}{255}{255} a regex compiler uses all memory. */
static bool is_huge(const char *pattern)
{
    unsigned long size = strlen(pattern);
    for (const char *p = strchr(pattern, '{'); p && size <= TOO_LARGE; p = strchr(p, '{')) {
        unsigned long n = 0, most = 1;
        for (p++; *p && *p != '}' && n <= TOO_LARGE; p++) {
            n = *p >= '0' && *p <= '9' ? n * 10 + (unsigned long)(*p - '0') : 0;
            most = n > most ? n : most;
        }
        size *= most;
    }
    return size > TOO_LARGE;
}

/* Refuses a CPUID that regcomp() does not take, or that would take all memory. */
static int check_regex(struct jev *jev, const char *path, unsigned long line, const char *pattern)
{
    regex_t regex;
    char why[200];
    if (is_huge(pattern))
        return jev_fail(jev, path, line, "the CPUID %.100s repeats too much", pattern);
    int rc = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
    if (rc != 0) {
        regerror(rc, &regex, why, sizeof why);
        return jev_fail(jev, path, line, "the CPUID %.100s is no regular expression: %s",
                        pattern, why);
    }
    regfree(&regex);
    return 0;
}

/* Checks one line of mapfile.csv, p up to end, and appends its row. */
static int add_row(struct jev *jev, struct jev_rows *rows, const char *path, unsigned long line,
                   const char *p, const char *end)
{
    const char *field[FIELDS];
    void *array = rows->ptr;
    if (memchr(p, '\0', (size_t)(end - p)))
        return jev_fail(jev, path, line, "a NUL byte");
    if (split_row(jev, path, line, p, end, field) < 0 || check_regex(jev, path, line, field[0]) < 0
        || jev_room(jev, &array, rows->count, &rows->cap, sizeof *rows->ptr) < 0)
        return -1;
    rows->ptr = array;
    rows->ptr[rows->count++] = (struct jev_row){ field[0], field[1], field[2], field[3], line };
    return 0;
}

int jev_mapfile_read(struct jev *jev, struct jev_rows *rows, const char *path, const char *data,
                     size_t len)
{
    const char *p = data, *stop = data + len;
    if (!len)
        return jev_fail(jev, path, 1, "the file is empty: it begins with a header line");
    for (unsigned long line = 1; p < stop; line++) {
        const char *newline = memchr(p, '\n', (size_t)(stop - p)), *end = newline ? newline : stop;
        const char *next = newline ? newline + 1 : stop;
        if (end > p && end[-1] == '\r')
            end--;
        if (line > 1 && end > p && *p != '#' && add_row(jev, rows, path, line, p, end) < 0)
            return -1;
        p = next;
    }
    return 0;
}

const char *jev_table_name(struct jev *jev, const char *path, unsigned long line, const char *dir)
{
    struct jev_text text = { NULL, 0, 0 };
    const char *name = NULL;
    jev_adds(jev, &text, "pme_");
    for (const char *p = dir; *p && *p != '.'; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')
                      || (*p >= '0' && *p <= '9') || *p == '_';
        if (!letter && *p != '-' && *p != '/') {
            jev_fail(jev, path, line, "byte 0x%02x in the name of a directory: %s",
                     (unsigned)(unsigned char)*p, dir);
            break;
        }
        jev_add(jev, &text, letter ? p : "_", 1);
    }
    if (!jev_failed(jev))
        name = jev_keep(jev, text.ptr, text.len);
    jev_text_release(&text);
    return name;
}
