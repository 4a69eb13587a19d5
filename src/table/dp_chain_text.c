#include "dp_chain_text.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_render.h"
#include "dp_table.h"
#include "dp_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 12, STEP = 11 };        /* indentation of the whole, and of each level of
                                         * branches */
enum { LEVELS = 200 };                  /* deeper levels are shown as a number; otherwise lines
                                         * would be as long as there are lines */

struct printing {
    struct dp_buf *buf;
    const struct dp_chain *chain;
    const struct dp_overhead *over;
    const struct dp_report *how;
    uint64_t of, hz;
    size_t printed;
    struct dp_buf prefix;
};

static void add_blanks(struct dp_buf *buf, size_t n)
{
    while (n--)
        dp_buf_addc(buf, ' ');
}

static void add_seconds(struct dp_buf *buf, uint64_t ticks, uint64_t hz)
{
    char num[DP_NUMBER_MAX];
    dp_buf_add(buf, num, dp_render_seconds(num, ticks, hz));
}

/* Appends a node's value as --call-graph asks for it: as a number, as ticks, or as its percentage
 * of `of`. */
static void add_amount(struct printing *p, uint64_t value, uint64_t of)
{
    switch (p->how->chain_value) {
    case DP_CHAIN_COUNT:
        dp_buf_addu(p->buf, value);
        return;
    case DP_CHAIN_PERIOD:
        if (p->hz)
            add_seconds(p->buf, value, p->hz);
        else
            dp_buf_addu(p->buf, value);
        return;
    case DP_CHAIN_PERCENT:
        break;
    }
    char share[48];
    dp_buf_add(p->buf, share,
               dp_text_real(share, sizeof share, of ? 100.0 * (double)value / (double)of : 0.0, 2));
    dp_buf_addc(p->buf, '%');
}

/* Appends the name of node n, escaped for a terminal. In folded stacks a ; of a name becomes %3B,
 * because it would end the frame there. */
static void add_name(struct printing *p, uint32_t n)
{
    const struct dp_name *text = dp_pool_name(&p->over->values, p->chain->nodes[n].name);
    size_t from = 0;
    for (size_t i = 0; p->how->chain == DP_CHAIN_FOLDED && i < text->len; i++)
        if (text->ptr[i] == ';') {
            dp_text_escape(p->buf, text->ptr + from, i - from);
            dp_buf_adds(p->buf, "%3B");
            from = i + 1;
        }
    dp_text_escape(p->buf, text->ptr + from, text->len - from);
}

static bool is_full(const struct printing *p)
{
    return p->how->print_limit && p->printed >= p->how->print_limit;
}

static void add_prefix(struct printing *p)
{
    add_blanks(p->buf, INDENT);
    dp_buf_add(p->buf, p->prefix.ptr, p->prefix.len);
}

/* Prints n and the nodes that follow it without a branch, each on a line. Returns the last node. */
static uint32_t print_run(struct printing *p, uint32_t n, size_t indent)
{
    const struct dp_chain_node *nodes = p->chain->nodes;
    add_name(p, n);
    dp_buf_addc(p->buf, '\n');
    p->printed++;
    while (nodes[n].kid && !nodes[nodes[n].kid].sibling && !nodes[n].own && !is_full(p)) {
        n = nodes[n].kid;
        add_prefix(p);
        add_blanks(p->buf, indent);
        add_name(p, n);
        dp_buf_addc(p->buf, '\n');
        p->printed++;
    }
    return n;
}

/* A frame of the walk: the kids of a node that are not printed yet, and the length of the prefix of
 * their lines. */
struct level {
    uint32_t of, next;
    size_t prefix;
    bool rest;                  /* the remainder is not printed yet */
};

/* Begins a branch, up to its value; its name follows. */
static void branch_line(struct printing *p, const struct level *l, uint64_t value, bool last)
{
    uint64_t of = p->how->chain == DP_CHAIN_FRACTAL ? p->chain->nodes[l->of].value : p->of;
    add_prefix(p);
    dp_buf_adds(p->buf, "|\n");
    add_prefix(p);
    dp_buf_adds(p->buf, last ? " --" : "|--");
    add_amount(p, value, of);
    dp_buf_adds(p->buf, "-- ");
}

/* Prints chains as a tree whose branches have lines in front of them, depth first with an explicit
 * stack, because chains may be deep. In a fractal tree, shares are those of the branch above. */
static void print_graph(struct printing *p)
{
    const struct dp_chain_node *nodes = p->chain->nodes;
    struct level *stack = NULL;
    size_t depth = 0, cap = 0;
    uint32_t first = nodes[0].kid;
    bool fractal = p->how->chain == DP_CHAIN_FRACTAL;
    if (!first)
        return;
    if (dp_mem_grow((void **)&stack, &cap, 1, sizeof *stack) < 0) {
        p->buf->err = DP_E_NOMEM;
        return;
    }
    if (!nodes[first].sibling && !nodes[0].own) {
        add_prefix(p);
        dp_buf_adds(p->buf, "|\n");
        add_prefix(p);
        dp_buf_adds(p->buf, "--- ");
        uint32_t end = print_run(p, first, 4);
        add_blanks(&p->prefix, 4);
        stack[depth++] = (struct level){ end, nodes[end].kid, p->prefix.len,
                                         fractal && nodes[end].kid && nodes[end].own };
    } else {
        stack[depth++] = (struct level){ 0, first, 0, fractal && nodes[0].own };
    }
    while (depth && !p->buf->err && !is_full(p)) {
        struct level *l = &stack[depth - 1];
        p->prefix.len = l->prefix;
        if (!l->next) {
            if (l->rest) {
                branch_line(p, l, nodes[l->of].own, true);
                dp_buf_adds(p->buf, "[...]\n");
            }
            depth--;
            continue;
        }
        uint32_t kid = l->next;
        l->next = nodes[kid].sibling;
        bool last = !l->next && !l->rest;
        branch_line(p, l, nodes[kid].value, last);
        if (depth > LEVELS) {
            dp_buf_addf(p->buf, "[%zu] ", depth);
        } else {
            dp_buf_addc(&p->prefix, last ? ' ' : '|');
            add_blanks(&p->prefix, STEP - 1);
        }
        uint32_t end = print_run(p, kid, 0);
        if (dp_mem_grow((void **)&stack, &cap, depth + 1, sizeof *stack) < 0) {
            p->buf->err = DP_E_NOMEM;
            break;
        }
        stack[depth++] = (struct level){ end, nodes[end].kid, p->prefix.len,
                                         fractal && nodes[end].kid && nodes[end].own };
    }
    dp_mem_free(stack);
}

/* The next node in preorder; 0 at the end. */
static uint32_t next_node(const struct dp_chain *chain, uint32_t n)
{
    if (chain->nodes[n].kid)
        return chain->nodes[n].kid;
    while (n && !chain->nodes[n].sibling)
        n = chain->nodes[n].parent;
    return n ? chain->nodes[n].sibling : 0;
}

/* Prints each stack by itself, flat or folded. There is one for each node with a value of its
 * own. */
static void print_stacks(struct printing *p)
{
    const struct dp_chain_node *nodes = p->chain->nodes;
    uint32_t *path = NULL;
    size_t cap = 0;
    /* calls have no share */
    double least = p->how->chain_value == DP_CHAIN_COUNT
                       ? 0 : p->how->threshold / 100 * (double)p->over->base;
    for (uint32_t n = nodes[0].kid; n && !p->buf->err; n = next_node(p->chain, n)) {
        size_t depth = 0;
        if (!nodes[n].own || (double)nodes[n].own < least)
            continue;
        for (uint32_t up = n; up; up = nodes[up].parent) {
            if (dp_mem_grow((void **)&path, &cap, depth + 1, sizeof *path) < 0) {
                p->buf->err = DP_E_NOMEM;
                break;
            }
            path[depth++] = up;
        }
        add_blanks(p->buf, INDENT);
        add_amount(p, nodes[n].own, p->of);
        dp_buf_addc(p->buf, p->how->chain == DP_CHAIN_FOLDED ? ' ' : '\n');
        for (size_t k = depth; k-- > 0 && !p->buf->err;) {
            if (p->how->chain == DP_CHAIN_FLAT)
                add_blanks(p->buf, INDENT + 4);
            add_name(p, path[k]);
            dp_buf_addc(p->buf, p->how->chain == DP_CHAIN_FLAT || k == 0 ? '\n' : ';');
            if (++p->printed && is_full(p) && p->how->chain == DP_CHAIN_FLAT)
                break;
        }
        if (p->how->chain == DP_CHAIN_FLAT)
            dp_buf_addc(p->buf, '\n');
    }
    dp_mem_free(path);
}

void dp_chain_text(struct dp_buf *buf, const struct dp_chain *chain, const struct dp_overhead *over,
                   const struct dp_report *how, uint64_t of, uint64_t hz)
{
    struct printing p = {
        .buf = buf, .chain = chain, .over = over, .how = how, .of = of, .hz = hz
    };
    dp_buf_init(&p.prefix);
    if (how->chain == DP_CHAIN_FLAT || how->chain == DP_CHAIN_FOLDED)
        print_stacks(&p);
    else
        print_graph(&p);
    dp_buf_release(&p.prefix);
}

/* Appends a member with a value: seconds if hz is given, else a number. */
static void json_value(struct dp_buf *buf, const char *key, uint64_t value, uint64_t hz)
{
    dp_buf_addf(buf, ",\"%s\":", key);
    if (hz)
        add_seconds(buf, value, hz);
    else
        dp_buf_addu(buf, value);
}

void dp_chain_json(struct dp_buf *buf, const struct dp_chain *chain, const struct dp_overhead *over,
                   uint64_t hz)
{
    const struct dp_chain_node *nodes = chain->nodes;
    uint32_t n = nodes[0].kid;
    dp_buf_addc(buf, '[');
    while (n && !buf->err) {
        const struct dp_name *text = dp_pool_name(&over->values, nodes[n].name);
        dp_buf_adds(buf, "{\"name\":");
        dp_json_string(buf, text->ptr, text->len);
        json_value(buf, "value", nodes[n].value, hz);
        json_value(buf, "own", nodes[n].own, hz);
        if (nodes[n].kid) {
            dp_buf_adds(buf, ",\"kids\":[");
            n = nodes[n].kid;
            continue;
        }
        dp_buf_addc(buf, '}');
        while (n && !nodes[n].sibling) {
            n = nodes[n].parent;
            if (n)
                dp_buf_adds(buf, "]}");
        }
        if (n) {
            n = nodes[n].sibling;
            dp_buf_addc(buf, ',');
        }
    }
    dp_buf_addc(buf, ']');
}
