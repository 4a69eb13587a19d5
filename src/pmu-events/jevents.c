/* Makes C of lists of a processor's events: jevents ARCH STARTING_DIR OUTPUT [VERBOSE]
 *
 * Counters can be asked for by the names that a processor's maker gave them. STARTING_DIR/ARCH has
 * the lists, as perf has them: each CPU model has a directory, and in it each topic has a JSON file
 * of that name; mapfile.csv, beside the directories, says which CPU has which directory. OUTPUT
 * gets a table for each directory, and the mapfile's rows; pmu-events.h says how they look. ARCH
 * "none" makes a file without rows, for architectures that have no lists.
 *
 * An error is reported as "file:line: what" on stderr, with exit status 1, and OUTPUT stays as it
 * was. A VERBOSE above 0 reports more.
 *
 * jevents needs libc alone: it is built, and makes src/events/dp_pmu_events.c, before the core is
 * compiled. README, in this folder, says what the lists in arch/ are and how to add a CPU model.
 * xt/pmu-jevents.t reads a kernel's tree in Perl, too, and compares each field of each event. Run
 * it before a change of jevents is called done, with DIR a kernel's
 * linux/tools/perf/pmu-events/arch:
 *
 *     PMU_EVENTS_TREE=DIR prove -b xt/pmu-jevents.t
 */
#include "jev_tree.h"
#include "jev_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the text to a path. Returns 0, or -1 after an error. */
static int write_to(struct jev *jev, const char *path, const struct jev_text *text)
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return jev_fail(jev, path, 0, "%s", strerror(errno));
    if (fwrite(text->ptr, 1, text->len, out) != text->len)
        jev_fail(jev, path, 0, "%s", strerror(errno));
    if (fclose(out) != 0)
        jev_fail(jev, path, 0, "%s", strerror(errno));
    return jev_failed(jev) ? -1 : 0;
}

/* Writes a file next to the target and renames it, so that no reader sees half a file; devices and
 * links are written to directly. */
static int replace_file(struct jev *jev, const char *path, const struct jev_text *text)
{
    struct stat st;
    struct jev_text temporary = { NULL, 0, 0 };
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return write_to(jev, path, text);
    jev_adds(jev, &temporary, path);
    jev_adds(jev, &temporary, ".tmp");
    if (!jev_failed(jev) && write_to(jev, temporary.ptr, text) == 0
        && rename(temporary.ptr, path) < 0)
        jev_fail(jev, path, 0, "%s", strerror(errno));
    if (jev_failed(jev) && temporary.len)
        unlink(temporary.ptr);
    jev_text_release(&temporary);
    return jev_failed(jev) ? -1 : 0;
}

/* Reports how many tables, events and rows were written. */
static void report_counts(struct jev *jev, const struct jev_tree *tree, size_t len)
{
    size_t events = 0, used = 0;
    for (size_t i = 0; i < tree->count; i++) {
        events += tree->tables[i].events.count;
        used += tree->tables[i].used;
    }
    jev_warn(jev, NULL, 0, "%lu tables, %lu of them in use, %lu events, %lu rows, %lu bytes",
             (unsigned long)tree->count, (unsigned long)used, (unsigned long)events,
             (unsigned long)tree->rows.count, (unsigned long)len);
}

/* Reads the lists of an architecture, and writes the C file from them. arch "none": a file without
 * rows. */
static int convert_lists(struct jev *jev, struct jev_tree *tree, const char *arch,
                         const char *start, const char *output)
{
    struct jev_text text = { NULL, 0, 0 };
    if (strcmp(arch, "none") != 0) {
        const char *dir = jev_path(jev, start, arch);
        if (!dir || jev_tree_read(jev, tree, dir) < 0)
            return -1;
    }
    jev_write(jev, &text, tree);
    int rc = jev_failed(jev) ? -1 : replace_file(jev, output, &text);
    if (rc == 0 && tree->verbose)
        report_counts(jev, tree, text.len);
    jev_text_release(&text);
    return rc;
}

int main(int argc, char **argv)
{
    struct jev jev;
    struct jev_tree tree;
    memset(&jev, 0, sizeof jev);
    memset(&tree, 0, sizeof tree);
    if (argc < 4 || argc > 5) {
        fputs("usage: jevents ARCH STARTING_DIR OUTPUT [VERBOSE]\n", stderr);
        return 1;
    }
    tree.verbose = argc > 4 && atoi(argv[4]) > 0;
    int rc = convert_lists(&jev, &tree, argv[1], argv[2], argv[3]);
    fputs(jev_str(&jev.warnings), stderr);
    if (rc < 0)
        fprintf(stderr, "%s\n", jev.error);
    jev_release(&jev);
    return rc < 0;
}
