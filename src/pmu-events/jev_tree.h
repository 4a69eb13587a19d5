/* Reads the event lists of an architecture from its directory, and checks them against its
 * mapfile. */
#ifndef JEV_TREE_H
#define JEV_TREE_H

#include "jev_event.h"
#include "jev_mapfile.h"

struct jev_table {
    const char *dir;            /* below the architecture's directory */
    const char *name;           /* the table's name in C */
    struct jev_events events;
    bool used;                  /* a row of the mapfile names it */
};

/* An empty tree is all zero. Its memory is freed with the run. */
struct jev_tree {
    struct jev_table *tables;   /* in the order of their paths */
    size_t count, cap;
    struct jev_events std;
    struct jev_rows rows;
    size_t *row_table;          /* the index of each row's table */
    const char *mapfile;
    bool verbose;               /* reports files that are skipped */
};

/* Reads everything below dir: *.json and mapfile.csv there, and event lists in directories without
 * subdirectories, up to four levels down. Names are read in the order of their bytes, not in the
 * file system's order; those that begin with a dot are skipped. */
int jev_tree_read(struct jev *jev, struct jev_tree *tree, const char *dir);

#endif
