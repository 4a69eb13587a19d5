#include "dp_line_pair_make.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_file_pair.h"
#include "dp_line_match.h"
#include "dp_mem.h"

#include <inttypes.h>
#include <string.h>

struct making {
    struct dp_line_pairs *lp;
    const struct dp_pairs *subs;
    struct dp_file_pairs files;
    struct dp_line_match match;
    struct dp_buf buf;
};

/* Makes the text in the buffer a number of lp->texts. Returns 0 or DP_E_NOMEM. */
static int text_of_buf(struct making *m, uint32_t *text)
{
    *text = m->buf.err ? DP_MAP_NONE
                       : dp_pool_intern(&m->lp->texts, m->buf.len ? m->buf.ptr : "", m->buf.len);
    return *text == DP_MAP_NONE ? DP_E_NOMEM : 0;
}

/* ---- sides ---- */

/* Notes the names that a side has for its files. */
static int name_files(struct making *m, uint32_t side)
{
    for (uint32_t i = 0; i < m->files.checkouts.n_files; i++) {
        const struct dp_file_version *v = dp_file_version(&m->files, i, side);
        if (!v->there || m->files.names[i] == DP_MAP_NONE)
            continue;
        struct dp_map_slot *slot = dp_map_put(&m->lp->side_names,
                                              (uint64_t)m->files.names[i] << 32 | side);
        if (!slot)
            return DP_E_NOMEM;
        slot->value = v->name;
    }
    return 0;
}

/* Marks each line that was inserted or deleted. Lines of a file that only one side has are neither,
 * because the other side may not have loaded the file. */
static void tell_fates(struct making *m)
{
    uint32_t last = m->lp->sides ? m->lp->sides - 1 : 0;
    for (uint32_t i = 0; i < m->lp->n_lines; i++) {
        struct dp_paired_line *line = &m->lp->lines[i];
        bool is_known = !m->match.guesses[line->file].with_base
                        && dp_file_version(&m->files, line->file, 0)->there
                        && dp_file_version(&m->files, line->file, last)->there;
        bool base = dp_line_number(m->lp, i, 0), now = dp_line_number(m->lp, i, last);
        line->fate = !is_known ? DP_FATE_UNKNOWN
                     : !base ? DP_FATE_INSERTED
                     : !now ? DP_FATE_DELETED
                     : line->fate == DP_FATE_MOVED ? DP_FATE_MOVED
                     : DP_FATE_KEPT;
    }
}

/* ---- labels ---- */

/* Gives a label to a line, unless another line has it. Returns whether the line has it now, or
 * DP_E_NOMEM. */
static int take_label(struct making *m, uint32_t label, uint32_t line)
{
    struct dp_map_slot *slot = dp_map_put(&m->lp->of_label, label);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return 0;
    slot->value = line;
    return 1;
}

/* Puts FILE:LINE into the buffer. A line that is gone gets a mark, with a number from the second
 * such line on. */
static void put_label(struct making *m, const struct dp_name *file, uint64_t number, unsigned gone)
{
    m->buf.len = 0;
    dp_buf_add(&m->buf, file->ptr, file->len);
    dp_buf_addf(&m->buf, gone > 1 ? ":%" PRIu64 " (old %u)" : gone ? ":%" PRIu64 " (old)"
                                                                   : ":%" PRIu64, number, gone);
}

/* Labels a line with its number on the last side. A line that is gone, while its file still exists,
 * keeps its old number and gets a mark. */
static int label_line(struct making *m, uint32_t n, uint64_t number)
{
    struct dp_paired_line *line = &m->lp->lines[n];
    /* a copy, because the pool's array of names moves when it grows */
    const struct dp_name file = *dp_pool_name(&m->lp->texts, m->files.names[line->file]);
    const struct dp_name *sub = dp_pool_name(&m->subs->texts, m->match.last[n].sub);
    uint32_t last = m->lp->sides - 1;
    unsigned gone = !dp_line_number(m->lp, n, last)
                    && dp_file_version(&m->files, line->file, last)->there;
    uint64_t base = dp_line_number(m->lp, n, 0);
    int rc = 0;
    while (rc == 0) {
        put_label(m, &file, number, gone++);
        rc = text_of_buf(m, &line->label);
        rc = rc < 0 ? rc : take_label(m, line->label, n);
    }
    if (rc > 0 && base && base != number) {
        put_label(m, &file, base, 0);
        rc = text_of_buf(m, &line->moved);
    }
    m->buf.len = 0;
    dp_buf_add(&m->buf, sub->ptr, sub->len);
    line->file = m->files.names[line->file];
    return rc < 0 ? rc : text_of_buf(m, &line->sub);
}

/* Labels each line with its number on the newest side that has it. Lines of newer sides come first,
 * so they get the plain labels. Returns 0 or DP_E_NOMEM. */
static int label_lines(struct making *m)
{
    struct dp_line_pairs *lp = m->lp;
    int rc = 0;
    for (uint32_t side = lp->sides; side-- > 0;)
        for (uint32_t i = 0; i < lp->n_lines && rc == 0; i++) {
            bool later = false;
            for (uint32_t s = side + 1; s < lp->sides; s++)
                later = later || dp_line_number(lp, i, s);
            if (!later && dp_line_number(lp, i, side))
                rc = label_line(m, i, dp_line_number(lp, i, side));
        }
    return rc;
}

/* ---- all lines ---- */

/* Makes lp->profs: by profile its side, and an array by place, still without lines. Makes the empty
 * text number 0 of lp->texts. Returns 0 or DP_E_NOMEM. */
static int make_profs(struct making *m)
{
    struct dp_line_pairs *lp = m->lp;
    uint32_t empty;
    lp->profs = dp_mem_zalloc((m->subs->n_profs + 1) * sizeof *lp->profs);
    if (!lp->profs)
        return DP_E_NOMEM;
    for (size_t k = 0; k < m->subs->n_profs; k++) {
        const struct dp_pair_prof *from = &m->subs->profs[k];
        struct dp_line_prof *to = &lp->profs[lp->n_profs++];
        size_t n = from->prof->sites.count + 1;
        *to = (struct dp_line_prof){ .prof = from->prof, .side = from->side };
        to->line = dp_mem_realloc(NULL, n, sizeof *to->line);
        if (!to->line)
            return DP_E_NOMEM;
        for (size_t i = 0; i < n; i++)
            to->line[i] = DP_MAP_NONE;
    }
    return text_of_buf(m, &empty);      /* its number is 0 */
}

/* Pairs the files, and then the lines side by side, from the baseline on; decides what became of
 * each line, and labels it. Returns 0 or a DP_E. */
static int make_pairs(struct making *m, const struct dp_source_text *texts, size_t n_texts,
                      const struct dp_pair_how *how)
{
    struct dp_line_pairs *lp = m->lp;
    int rc = make_profs(m);
    rc = rc < 0 ? rc : dp_file_pairs_make(&m->files, &lp->texts, m->subs, texts, n_texts, how);
    lp->sides = m->files.sides;
    rc = rc < 0 ? rc : dp_line_match_init(&m->match, lp, &m->files);
    for (uint32_t side = 0; side < lp->sides && rc == 0; side++) {
        rc = dp_line_match_side(&m->match, side);
        rc = rc < 0 ? rc : name_files(m, side);
    }
    if (rc == 0)
        tell_fates(m);
    return rc < 0 ? rc : label_lines(m);
}

int dp_line_pairs_make(struct dp_line_pairs *lp, const struct dp_pairs *subs,
                       const struct dp_source_text *texts, size_t n_texts,
                       const struct dp_pair_how *how)
{
    struct making m;
    memset(&m, 0, sizeof m);
    dp_line_pairs_init(lp);
    dp_buf_init(&m.buf);
    m.lp = lp;
    m.subs = subs;
    int rc = make_pairs(&m, texts, n_texts, how);
    dp_line_match_release(&m.match);
    dp_file_pairs_release(&m.files);
    dp_buf_release(&m.buf);
    if (rc < 0)
        dp_line_pairs_release(lp);
    return rc;
}
