/* Writes tables as C. */
#ifndef JEV_WRITE_H
#define JEV_WRITE_H

#include "jev_tree.h"

/* Adds the C file of a tree; an empty tree gives a list without rows. */
void jev_write(struct jev *jev, struct jev_text *out, const struct jev_tree *tree);

#endif
