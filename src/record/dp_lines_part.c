/* Statements that are recorded apart, then added to the others or discarded. */
#include "dp_lines.h"
#include "dp_mem.h"

#include <string.h>

/* Removes all statements of a part, and keeps its memory. */
static void clear_part(struct dp_lines *part)
{
    for (size_t i = 0; i < part->count; i++) {
        part->at[part->made[i]->number] = NULL;
        memset(part->made[i], 0, part->size);
    }
    part->count = 0;
}

int dp_lines_open_part(struct dp_lines *part, struct dp_live *live, size_t n_counts)
{
    if (!part->is_part) {
        part->is_part = true;
        return dp_lines_open(part, live, n_counts);
    }
    clear_part(part);
    part->rest = part->made[part->count++];
    part->rest->number = DP_LINE_REST;
    part->at[DP_LINE_REST] = part->rest;
    part->open = part->n;
    return 0;
}

void dp_lines_release_part(struct dp_lines *part)
{
    dp_mem_free(part->at);
    dp_mem_free(part->made);
    memset(part, 0, sizeof *part);
}

void dp_lines_swap(struct dp_lines *lines, struct dp_lines *part)
{
    struct dp_lines was = *lines;
    *lines = *part;
    *part = was;
    lines->places = was.places;
    lines->places_cap = was.places_cap;
    lines->files = was.files;
    lines->sources = was.sources;
    lines->sources_cap = was.sources_cap;
    lines->seen = was.seen;
    lines->texts = was.texts;
}

/* Adds the values of a statement to those of another one. */
static void add_stmt(struct dp_stmt *to, const struct dp_stmt *from, size_t n_counts)
{
    to->count += from->count;
    to->real += from->real;
    to->wait += from->wait;
    to->sys += from->sys;
    to->ops += from->ops;
    for (size_t i = 0; i < n_counts; i++)
        to->counts[i] += from->counts[i];
}

void dp_lines_add(struct dp_lines *lines, const struct dp_lines *part)
{
    for (size_t i = 0; i < part->count; i++)
        add_stmt(dp_lines_get(lines, part->made[i]->number), part->made[i], part->n_counts);
}
