/* mapfile.csv, which assigns event lists to CPUs. */
#ifndef JEV_MAPFILE_H
#define JEV_MAPFILE_H

#include "jev.h"

struct jev_row {
    const char *cpuid;          /* a POSIX extended regex */
    const char *version;
    const char *dir;            /* below the directory of the mapfile */
    const char *type;
    unsigned long line;
};

struct jev_rows {
    struct jev_row *ptr;
    size_t count, cap;
};

/* Adds the rows of a mapfile's text. The first line is its header, with any contents; lines that
 * begin with # and empty lines are skipped. A row has four fields, and further ones are ignored;
 * none of the four may be empty, and the CPUID must be a regex. */
int jev_mapfile_read(struct jev *jev, struct jev_rows *rows, const char *path, const char *data,
                     size_t len);

/* The C name of a directory's table: pme_, and the path with _ for - and /, up to the first dot.
 * NULL, with an error noted, if that is no name in C. path, line: the place that mentions the
 * directory, for the message; its own path and 0 if no line mentions it. */
const char *jev_table_name(struct jev *jev, const char *path, unsigned long line, const char *dir);

#endif
