/* The event lists of an architecture: its directory read, and checked against its mapfile. */
#ifndef JEV_TREE_H
#define JEV_TREE_H

#include "jev_event.h"
#include "jev_mapfile.h"

struct jev_table {
    const char *dir;            /* below the architecture's directory */
    const char *name;           /* in C */
    struct jev_events events;
    bool used;                  /* a row of the mapfile names it */
};

/* All zero is an empty one. Memory goes with the run. */
struct jev_tree {
    struct jev_table *tables;   /* in the order of their paths */
    size_t count, cap;
    struct jev_events std;
    struct jev_rows rows;
    size_t *row_table;          /* which table a row means */
    const char *mapfile;
    bool verbose;               /* tells of files that are passed over */
};

/* Reads all below dir: *.json and mapfile.csv there, and event lists in directories that hold no
 * others, up to four levels down. In the order of bytes of names, whatever the file system says.
 * What begins with a dot is passed over. */
int jev_tree_read(struct jev *jev, struct jev_tree *tree, const char *dir);

#endif
