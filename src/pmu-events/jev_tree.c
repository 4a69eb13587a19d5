#include "jev_tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 4 };

/* An entry of a directory. */
struct entry {
    const char *name, *path;
    enum { OTHER, FILE_, DIR_ } kind;
};

struct entries {
    struct entry *ptr;
    size_t count, cap;
};

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static bool is_json(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

/* Adds the entry of a directory with its full path and its kind, to be sorted later. */
static int add_entry(struct jev *jev, struct entries *entries, const char *dir, const char *name)
{
    struct stat st;
    void *array = entries->ptr;
    if (jev_room(jev, &array, entries->count, &entries->cap, sizeof *entries->ptr) < 0)
        return -1;
    entries->ptr = array;
    struct entry *entry = &entries->ptr[entries->count];
    entry->name = jev_keep(jev, name, strlen(name));
    entry->path = jev_path(jev, dir, name);
    if (!entry->name || !entry->path)
        return -1;
    entries->count++;
    /* A dangling link is an error only if it has the name of an event list. */
    if (stat(entry->path, &st) < 0)
        entry->kind = is_json(name) ? FILE_ : OTHER;
    else
        entry->kind = S_ISDIR(st.st_mode) ? DIR_ : S_ISREG(st.st_mode) ? FILE_ : OTHER;
    if (entry->kind == OTHER && is_json(name))
        return jev_fail(jev, entry->path, 0, "neither a file nor a directory");
    return 0;
}

/* Lists a directory, sorted by name, without names that begin with a dot. Returns 0, or -1 after an
 * error. */
static int list_dir(struct jev *jev, const char *dir, struct entries *entries)
{
    DIR *handle = opendir(dir);
    if (!handle)
        return jev_fail(jev, dir, 0, "%s", strerror(errno));
    for (;;) {
        errno = 0;
        const struct dirent *got = readdir(handle);
        if (!got && errno)
            jev_fail(jev, dir, 0, "%s", strerror(errno));
        if (!got || (*got->d_name != '.' && add_entry(jev, entries, dir, got->d_name) < 0))
            break;
    }
    closedir(handle);
    if (jev_failed(jev))
        return -1;
    if (entries->count)
        qsort(entries->ptr, entries->count, sizeof *entries->ptr, compare_entries);
    return 0;
}

/* Does one of the entries lead to a directory? */
static bool has_dirs(const struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        if (entries->ptr[i].kind == DIR_)
            return true;
    return false;
}

/* Adds an empty table for a directory of event lists. Refuses two directories whose tables would
 * have the same name in C. */
static struct jev_table *add_table(struct jev *jev, struct jev_tree *tree, const char *path,
                                   const char *dir)
{
    void *array = tree->tables;
    const char *name = jev_table_name(jev, path, 0, dir);
    if (!name || jev_room(jev, &array, tree->count, &tree->cap, sizeof *tree->tables) < 0)
        return NULL;
    tree->tables = array;
    for (size_t i = 0; i < tree->count; i++) {
        if (strcmp(tree->tables[i].name, name) == 0) {
            jev_fail(jev, path, 0, "its table would be %s, as that of %s", name,
                     tree->tables[i].dir);
            return NULL;
        }
    }
    struct jev_table *table = &tree->tables[tree->count++];
    memset(table, 0, sizeof *table);
    table->dir = dir;
    table->name = name;
    return table;
}

/* Reads the events of one file. topic, std: as in jev_events_read(). */
static int read_list(struct jev *jev, struct jev_events *events, const struct entry *entry,
                     const char *topic, const struct jev_events *std)
{
    struct jev_text text = { NULL, 0, 0 };
    int rc = jev_read_file(jev, entry->path, &text);
    if (rc == 0)
        rc = jev_events_read(jev, events, entry->path, jev_str(&text), text.len, topic, std);
    jev_text_release(&text);
    return rc;
}

/* Skips an entry that is no event list, and says so if verbose. */
static void skip_entry(struct jev *jev, const struct jev_tree *tree, const struct entry *entry)
{
    if (tree->verbose)
        jev_warn(jev, entry->path, 0, "no event list, passed over");
}

/* Reads a directory without subdirectories, which makes a table. */
static int read_model(struct jev *jev, struct jev_tree *tree, const char *path, const char *dir,
                      const struct entries *entries)
{
    struct jev_table *table = add_table(jev, tree, path, dir);
    if (!table)
        return -1;
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->ptr[i];
        if (!is_json(entry->name)) {
            skip_entry(jev, tree, entry);
            continue;
        }
        const char *topic = jev_topic(jev, entry->name);
        if (!topic || read_list(jev, &table->events, entry, topic, &tree->std) < 0)
            return -1;
    }
    return jev_events_index(jev, &table->events);
}

static int read_dir(struct jev *jev, struct jev_tree *tree, const char *path, const char *dir,
                    int level);

/* Reads the directories among the entries of dir. dir is relative to the architecture's directory;
 * NULL: that directory itself. */
static int read_subdirs(struct jev *jev, struct jev_tree *tree, const char *dir,
                        const struct entries *entries, int level)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->ptr[i];
        if (entry->kind != DIR_)
            continue;
        const char *sub = dir ? jev_path(jev, dir, entry->name) : entry->name;
        if (!sub || read_dir(jev, tree, entry->path, sub, level + 1) < 0)
            return -1;
    }
    return 0;
}

/* Reads a directory: one without subdirectories has event lists and makes a table; another one may
 * have only subdirectories. path: where it is; dir: relative to the architecture's directory. */
static int read_dir(struct jev *jev, struct jev_tree *tree, const char *path, const char *dir,
                    int level)
{
    struct entries entries = { NULL, 0, 0 };
    if (level > DEEPEST)        /* a link to a directory above leads here, too */
        return jev_fail(jev, path, 0, "more than %d levels of directories", DEEPEST);
    if (list_dir(jev, path, &entries) < 0)
        return -1;
    if (!has_dirs(&entries))
        return read_model(jev, tree, path, dir, &entries);
    for (size_t i = 0; i < entries.count; i++) {
        if (entries.ptr[i].kind == DIR_)
            continue;
        if (is_json(entries.ptr[i].name))
            return jev_fail(jev, entries.ptr[i].path, 0,
                            "an event list beside directories belongs to no table");
        skip_entry(jev, tree, &entries.ptr[i]);
    }
    return read_subdirs(jev, tree, dir, &entries, level);
}

/* Reads mapfile.csv into tree->rows. */
static int read_mapfile(struct jev *jev, struct jev_tree *tree)
{
    struct jev_text text = { NULL, 0, 0 };
    int rc = jev_read_file(jev, tree->mapfile, &text);
    if (rc == 0)
        rc = jev_mapfile_read(jev, &tree->rows, tree->mapfile, jev_str(&text), text.len);
    jev_text_release(&text);
    return rc;
}

/* Finds the table of the directory that a row of mapfile.csv names. */
static int find_table(struct jev *jev, const struct jev_tree *tree, const struct jev_row *row,
                      size_t *found)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (strcmp(tree->tables[i].dir, row->dir) == 0) {
            *found = i;
            return 0;
        }
    }
    return jev_fail(jev, tree->mapfile, row->line,
                    "there is no directory %s with event lists", row->dir);
}

/* Are these the events of a system, not of a CPU? perf finds them in ways that we lack. They are
 * read, to find mistakes in them, and left out. */
static bool is_sys(const char *dir)
{
    const char *last = strrchr(dir, '/');
    return strcmp(last ? last + 1 : dir, "sys") == 0;
}

/* Finds the table of each row of mapfile.csv. A row without a table is an error; for a table
 * without a row there is a warning, and nothing is written. */
static int match_rows(struct jev *jev, struct jev_tree *tree)
{
    tree->row_table = jev_alloc(jev, (tree->rows.count + 1) * sizeof *tree->row_table);
    if (!tree->row_table)
        return -1;
    for (size_t i = 0; i < tree->rows.count; i++) {
        if (find_table(jev, tree, &tree->rows.ptr[i], &tree->row_table[i]) < 0)
            return -1;
        tree->tables[tree->row_table[i]].used = true;
    }
    for (size_t i = 0; i < tree->count; i++)
        if (!tree->tables[i].used && !is_sys(tree->tables[i].dir))
            jev_warn(jev, tree->mapfile, 0, "no line names %s: its events are left out",
                     tree->tables[i].dir);
    return jev_failed(jev) ? -1 : 0;
}

int jev_tree_read(struct jev *jev, struct jev_tree *tree, const char *dir)
{
    struct entries entries = { NULL, 0, 0 };
    if (list_dir(jev, dir, &entries) < 0)
        return -1;
    for (size_t i = 0; i < entries.count; i++) {
        const struct entry *entry = &entries.ptr[i];
        if (entry->kind == DIR_)
            continue;
        if (strcmp(entry->name, "mapfile.csv") == 0)
            tree->mapfile = entry->path;
        else if (!is_json(entry->name))
            skip_entry(jev, tree, entry);
        else if (read_list(jev, &tree->std, entry, NULL, NULL) < 0)
            return -1;
    }
    if (!tree->mapfile)
        return jev_fail(jev, dir, 0, "there is no mapfile.csv");
    if (jev_events_index(jev, &tree->std) < 0 || read_subdirs(jev, tree, NULL, &entries, 0) < 0
        || read_mapfile(jev, tree) < 0)
        return -1;
    return match_rows(jev, tree);
}
