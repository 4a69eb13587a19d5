/* The source view of a page: a block with the costs of lines, and a block for each source, which
 * the page unpacks when it is first shown. share/page/model/lines.mjs reads them.
 *
 * The block of lines begins with JSON. `files`: names; `sources`: [side, file, state] for each
 * source, whose text, if any, is in the element with its number; `detail`: by side. Then, for each
 * side, come columns. For files: the number of lines. For lines: numbers, as differences within
 * their file; how often they ran; how many names they call; two columns for each measure, own and
 * inclusive. For calls: names, numbers of calls, and a column for each measure. */
#include "dp_page.h"
#include "dp_err.h"
#include "dp_linesum.h"
#include "dp_mem.h"

#include <inttypes.h>
#include <string.h>

struct lines {
    struct dp_page *p;
    struct dp_pool files;
    struct dp_linesum *sums;    /* by side */
};

static const struct dp_linesum_line *line_at(const struct dp_linesum *sum, size_t i)
{
    return &sum->lines[sum->order[i]];
}

/* Writes the JSON at the beginning of the block of lines, and numbers the files of sources behind
 * those of the lines. */
static int write_facts(struct lines *l)
{
    struct dp_page *p = l->p;
    dp_buf_adds(&p->out, "{\"format\":1,\"sources\":[");
    for (size_t i = 0; i < p->how->n_sources; i++) {
        const struct dp_flame_source *source = &p->how->sources[i];
        uint32_t file = dp_pool_intern(&l->files, source->file, source->file_len);
        if (file == DP_MAP_NONE)
            return DP_E_NOMEM;
        dp_buf_addf(&p->out, "%s[%lu,%" PRIu32 ",", i ? "," : "", (unsigned long)source->side,
                    file);
        dp_page_str(p, source->state);
        dp_buf_addc(&p->out, ']');
    }
    dp_buf_adds(&p->out, "],\"files\":[");
    for (uint32_t i = 0; i < l->files.count; i++) {
        dp_buf_adds(&p->out, i ? "," : "");
        dp_page_text(p, dp_pool_name(&l->files, i)->ptr, dp_pool_name(&l->files, i)->len);
    }
    dp_buf_adds(&p->out, "],\"detail\":[");
    for (size_t side = 0; side < p->s->n_sides; side++)
        dp_buf_addf(&p->out, "%s%d", side ? "," : "", l->sums[side].detail);
    dp_buf_adds(&p->out, "]}");
    return dp_page_hand_over(p);
}

/* Writes how many lines each file has. The columns of lines have all files one after another. */
static int write_numbers_of_lines(struct lines *l, const struct dp_linesum *sum)
{
    size_t i = 0;
    for (uint32_t file = 0; file < l->files.count; file++) {
        size_t from = i;
        while (i < sum->count && line_at(sum, i)->file == file)
            i++;
        dp_page_number(&l->p->out, i - from);
    }
    return dp_page_hand_over(l->p);
}

/* Writes the columns of a side's lines: numbers, counts, numbers of calls, then own and inclusive
 * values. */
static int write_lines(struct lines *l, const struct dp_linesum *sum)
{
    struct dp_page *p = l->p;
    for (size_t i = 0; i < sum->count; i++) {
        bool follows = i && line_at(sum, i)->file == line_at(sum, i - 1)->file;
        dp_page_number(&p->out, line_at(sum, i)->line - (follows ? line_at(sum, i - 1)->line : 0));
    }
    int rc = dp_page_hand_over(p);
    for (size_t i = 0; i < sum->count; i++)
        dp_page_number(&p->out, line_at(sum, i)->count);
    rc = rc < 0 ? rc : dp_page_hand_over(p);
    for (size_t i = 0; i < sum->count; i++)
        dp_page_number(&p->out, line_at(sum, i)->n_calls);
    rc = rc < 0 ? rc : dp_page_hand_over(p);
    for (size_t k = 0; k < 2 * sum->n_measures && rc == 0; k++) {
        for (size_t i = 0; i < sum->count; i++)
            dp_page_number(&p->out, sum->values[sum->order[i] * 2 * sum->n_measures + k]);
        rc = dp_page_hand_over(p);
    }
    return rc;
}

/* Writes a column of calls, in the order of their lines: column 0 has their names, 1 their numbers,
 * the others have the measures. */
static int write_calls(struct lines *l, const struct dp_linesum *sum, size_t column)
{
    struct dp_buf *out = &l->p->out;
    for (size_t i = 0; i < sum->count; i++)
        for (uint32_t c = line_at(sum, i)->last_call; c != UINT32_MAX; c = sum->calls[c].before)
            dp_page_number(out, column == 0 ? sum->calls[c].name
                                : column == 1 ? sum->calls[c].calls
                                : sum->call_values[c * sum->n_measures + column - 2]);
    return dp_page_hand_over(l->p);
}

/* Writes the contents of the block of lines; dp_page_block calls it. */
static int fill_lines(void *ctx)
{
    struct lines *l = ctx;
    int rc = write_facts(l);
    for (size_t side = 0; side < l->p->s->n_sides && rc == 0; side++) {
        const struct dp_linesum *sum = &l->sums[side];
        rc = write_numbers_of_lines(l, sum);
        rc = rc < 0 ? rc : write_lines(l, sum);
        for (size_t k = 0; k < sum->n_measures + 2 && rc == 0; k++)
            rc = write_calls(l, sum, k);
    }
    return rc;
}

struct text {
    struct dp_page *p;
    const struct dp_flame_source *source;
};

/* Writes the text of a source into the page's packed block. dp_page_block() calls this. */
static int fill_text(void *ctx)
{
    struct text *t = ctx;
    return t->source->text_len
        ? dp_pack_write(t->p->pack, t->source->text, t->source->text_len) : 0;
}

static const char element[] = "<script type=\"application/octet-stream\" id=\"dprof-";

/* Writes a block for each source whose text is known. Blocks are separate so that the page unpacks
 * only what is shown. */
static int write_texts(struct dp_page *p)
{
    int rc = 0;
    for (size_t i = 0; i < p->how->n_sources && rc == 0; i++) {
        struct text text = { p, &p->how->sources[i] };
        if (!text.source->text_len)
            continue;
        dp_sink_addf(p->sink, "%ssource-%lu\">", element, (unsigned long)i);
        rc = dp_page_block(p, fill_text, &text);
        dp_sink_adds(p->sink, "</script>\n");
    }
    return rc;
}

int dp_page_sources(struct dp_page *p)
{
    struct lines l = { .p = p };
    int rc = 0;
    size_t n = 0;
    dp_pool_init(&l.files);
    l.sums = dp_mem_zalloc((p->s->n_sides + 1) * sizeof *l.sums);
    if (!l.sums)
        rc = DP_E_NOMEM;
    for (size_t side = 0; side < p->s->n_sides && rc == 0; side++) {
        rc = dp_linesum_make(&l.sums[side], &l.files, p->s, side, &p->how->stacks);
        n += rc == 0 ? l.sums[side].count : 0;
    }
    if (rc == 0 && (n || p->how->n_sources)) {
        dp_sink_addf(p->sink, "%slines\">", element);
        rc = dp_page_block(p, fill_lines, &l);
        dp_sink_adds(p->sink, "</script>\n");
        rc = rc < 0 ? rc : write_texts(p);
    }
    for (size_t side = 0; l.sums && side < p->s->n_sides; side++)
        dp_linesum_release(&l.sums[side]);
    dp_mem_free(l.sums);
    dp_pool_release(&l.files);
    return rc < 0 ? rc : p->out.err;
}
