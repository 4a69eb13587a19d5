/* A made-up perl in made-up memory, as a target. Its program is in the sub main::f, called with
 * arguments. That sorts by the sub Pack::g, whose string eval calls the XS sub List::Util::sum. A
 * test may change any of its bytes, and may do so between two readings. */
#ifndef MADE_H
#define MADE_H

#include "dp_args.h"
#include "dp_err.h"
#include "dp_leaf.h"
#include "dp_sampled.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_BASE = 0x100000, MADE_SIZE = 0x8000, MADE_CHANGES = 64, WORD = sizeof(void *) };

struct made_change {
    uint64_t when;              /* the reading before which it happens; 0: at once */
    dp_addr at;
    uint64_t value;
    size_t size;                /* of the value: 1, 2, 4 or 8 */
};

struct made {
    char bytes[MADE_SIZE];
    size_t used;
    struct made_change changes[MADE_CHANGES];
    size_t n_changes;
    uint64_t readings;
    struct dp_perl perl;
    struct dp_target target;
    struct dp_optree code;
    struct dp_stack stack;
    struct dp_leafs leafs;
    struct dp_sampled sampled;
    /* where things are */
    dp_addr interpreter, si_main, si_sort, cx_main, cx_sort;
    dp_addr f, g, sum;          /* subs */
    dp_addr f_body, f_gv, f_name, stash, stash_body, padlist;
    dp_addr main_cop, f_cop, g_cop, eval_cop;
    dp_addr main_root, f_root, f_list, g_root, eval_root, entersub, list, rv2cv, args, args_body;
};

/* ---- bytes ---- */

static inline void made_put(struct made *m, dp_addr at, uint64_t value, size_t size)
{
    if (at >= MADE_BASE && at - MADE_BASE <= MADE_SIZE - size)
        memcpy(m->bytes + (at - MADE_BASE), &value, size);  /* little endian */
}

static inline dp_addr made_room(struct made *m, size_t n)
{
    dp_addr at = MADE_BASE + m->used;
    m->used += (n + 15) & ~(size_t)15;
    if (m->used > MADE_SIZE)
        abort();
    return at;
}

#define PUT(at_, field, value) made_put(m, (at_) + m->perl.at.field, (value), WORD)
#define PUT32(at_, field, value) made_put(m, (at_) + m->perl.at.field, (value), 4)

static inline void made_change(struct made *m, uint64_t when, dp_addr at, uint64_t value,
                               size_t size)
{
    if (!when)
        made_put(m, at, value, size);
    else if (m->n_changes < MADE_CHANGES)
        m->changes[m->n_changes++] = (struct made_change){ when, at, value, size };
}

static inline bool made_read(void *from, const struct dp_target_part *parts, size_t n)
{
    struct made *m = from;
    m->readings++;
    for (size_t i = 0; i < m->n_changes; i++)
        if (m->changes[i].when == m->readings)
            made_put(m, m->changes[i].at, m->changes[i].value, m->changes[i].size);
    for (size_t i = 0; i < n; i++) {
        dp_addr at = parts[i].at - MADE_BASE;
        if (at > MADE_SIZE || MADE_SIZE - at < parts[i].len)
            return false;
        memcpy(parts[i].to, m->bytes + at, parts[i].len);
    }
    return true;
}

/* ---- perl's structures ---- */

static inline unsigned made_type(const struct made *m, const char *op)
{
    return dp_pool_lookup(&m->perl.op_names, op, strlen(op));
}

static inline dp_addr made_text(struct made *m, const char *text)
{
    dp_addr at = made_room(m, strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); i++)
        made_put(m, at + i, (unsigned char)text[i], 1);
    return at;
}

static inline dp_addr made_hek(struct made *m, const char *text)
{
    dp_addr hek = made_room(m, 16 + strlen(text));
    PUT32(hek, hek_len, strlen(text));
    for (size_t i = 0; i < strlen(text); i++)
        made_put(m, hek + m->perl.at.hek_key + i, (unsigned char)text[i], 1);
    return hek;
}

/* The head of a value. */
static inline dp_addr made_sv(struct made *m, uint32_t flags, dp_addr body, uint64_t u)
{
    dp_addr sv = made_room(m, m->perl.at.sv_size);
    PUT32(sv, sv_flags, flags);
    PUT(sv, sv_any, body);
    PUT(sv, sv_u, u);
    return sv;
}

static inline dp_addr made_stash(struct made *m, const char *name)
{
    const struct dp_layout *at = &m->perl.at;
    dp_addr body = made_room(m, 128), array = made_room(m, 128), aux;
    PUT(body, hv_max, 7);
    aux = at->hv_aux ? body + at->hv_aux : array + 8 * WORD;
    PUT(aux, aux_name, made_hek(m, name));
    m->stash_body = body;
    return made_sv(m, at->SVt_PVHV, body, array);
}

static inline dp_addr made_gv(struct made *m, dp_addr stash, const char *name)
{
    dp_addr body = made_room(m, 64), gp = made_room(m, 64);
    m->f_name = made_hek(m, name);
    PUT(body, gv_namehek, m->f_name);
    PUT(body, gv_stash, stash);
    return made_sv(m, m->perl.at.SVt_PVGV, body, gp);
}

static inline dp_addr made_cv(struct made *m, dp_addr gv, dp_addr stash, uint32_t flags,
                              dp_addr start, dp_addr root)
{
    dp_addr body = made_room(m, m->perl.at.cv_size);
    PUT(body, cv_stash, stash);
    PUT(body, cv_gv, gv);
    PUT32(body, cv_flags, flags);
    PUT(body, cv_start, start);
    PUT(body, cv_root, root);
    m->f_body = body;
    return made_sv(m, m->perl.at.SVt_PVCV, body, 0);
}

static inline dp_addr made_op(struct made *m, const char *name, bool kids)
{
    dp_addr op = made_room(m, 96);
    made_put(m, op + m->perl.at.op_bits, made_type(m, name), 2);
    made_put(m, op + m->perl.at.op_flags, kids ? 4 : 0, 1);
    return op;
}

/* Puts kids, up to a 0, below an op. */
static inline void made_kids(struct made *m, dp_addr op, const dp_addr *kids)
{
    const struct dp_layout *at = &m->perl.at;
    PUT(op, op_first, kids[0]);
    for (; *kids; kids++) {
        uint32_t bits;
        memcpy(&bits, m->bytes + (*kids + at->op_bits - MADE_BASE), sizeof bits);
        PUT32(*kids, op_bits, bits | (kids[1] ? at->op_moresib : 0));
        PUT(*kids, op_sibparent, kids[1] ? kids[1] : op);
    }
}
#define KIDS(m, op, ...) made_kids((m), (op), (const dp_addr[]){ __VA_ARGS__, 0 })

static inline dp_addr made_cop(struct made *m, const char *file, uint32_t line)
{
    dp_addr cop = made_op(m, "nextstate", false), name;
    PUT32(cop, cop_line, line);
    if (m->perl.version.multiplicity) {
        name = made_text(m, file);
    } else {
        char glob[64] = "_<";
        strcat(glob, file);
        name = made_gv(m, m->stash, glob);
    }
    PUT(cop, cop_file, name);
    return cop;
}

/* An op that holds statements: root over a list of a statement and an op in it. */
static inline dp_addr made_code(struct made *m, const char *root, dp_addr cop, dp_addr op)
{
    dp_addr top = made_op(m, root, true);
    m->f_list = made_op(m, "lineseq", true);
    KIDS(m, top, m->f_list);
    KIDS(m, m->f_list, cop, op);
    return top;
}

static inline void made_cx(struct made *m, dp_addr cx, unsigned type, dp_addr oldcop, dp_addr cv,
                           dp_addr retop)
{
    made_put(m, cx + m->perl.at.cx_type, type, 1);
    PUT(cx, cx_oldcop, oldcop);
    PUT(cx, cx_cv, cv);
    PUT(cx, cx_retop, retop);
}

static inline dp_addr made_si(struct made *m, dp_addr prev, int32_t type, dp_addr contexts,
                              int32_t ix)
{
    dp_addr si = made_room(m, m->perl.at.si_size);
    PUT(si, si_cxstack, contexts);
    PUT(si, si_prev, prev);
    PUT32(si, si_cxix, (uint32_t)ix);
    PUT32(si, si_cxmax, 9);
    PUT32(si, si_type, (uint32_t)type);
    return si;
}

/* ---- the program ---- */

static inline void made_names(struct made *m)
{
    static const char *const names[] = {
#define NAME(name) #name,
        DP_PERL_OPS(NAME)
#undef NAME
        "pushmark", "lineseq", "sysread", "sort", "freed"
    };
    dp_pool_init(&m->perl.op_names);
    for (size_t i = 0; i < DP_ARRAY_LEN(names); i++)
        dp_pool_intern(&m->perl.op_names, names[i], strlen(names[i]));
#define FIND(name) m->perl.ops.op_##name = made_type(m, #name);
    DP_PERL_OPS(FIND)
#undef FIND
}

/* The arguments of f: ('text', 3, Pack(0x...), undef). */
static inline void made_args(struct made *m)
{
    const struct dp_layout *at = &m->perl.at;
    dp_addr list = made_room(m, 8 * WORD), pads = made_room(m, 4 * WORD), pad;
    dp_addr text = made_room(m, 64), object = made_room(m, 64), pad_list = made_room(m, 4 * WORD);
    PUT(text, pv_cur, 4);
    PUT(object, mg_stash, m->stash);
    made_put(m, list, made_sv(m, at->SVf_POK | 3, text, made_text(m, "text")), WORD);
    made_put(m, list + WORD, made_sv(m, at->SVf_IOK | at->SVt_IV, 0, 3), WORD);
    made_put(m, list + 2 * WORD,
             made_sv(m, at->SVf_ROK | at->SVt_IV, 0,
                     made_sv(m, at->SVt_PVHV | at->SVs_OBJECT, object, 0)), WORD);
    made_put(m, list + 3 * WORD, made_sv(m, 0, 0, 0), WORD);
    m->args_body = made_room(m, 64);
    PUT(m->args_body, av_alloc, list);
    PUT(m->args_body, av_fill, 2);          /* the first one was shifted off */
    m->args = made_sv(m, at->SVt_PVAV, m->args_body, list + WORD);
    made_put(m, pad_list, m->args, WORD);
    pad = made_sv(m, at->SVt_PVAV, 0, pad_list);
    made_put(m, pads + WORD, pad, WORD);
    m->padlist = made_room(m, 64);
    PUT(m->padlist, padlist_array, pads);
    PUT(m->f_body, cv_padlist, m->padlist);
}

/* The call of the XS sub, and what its glob leads to. Returns the pad. */
static inline dp_addr made_call(struct made *m)
{
    const struct dp_layout *at = &m->perl.at;
    dp_addr pad = made_room(m, 8 * WORD), util = made_stash(m, "List::Util");
    dp_addr glob = made_gv(m, util, "sum"), gp;
    m->sum = made_cv(m, glob, util, at->CVf_ISXSUB, 0, 0);
    memcpy(&gp, m->bytes + (glob + at->sv_u - MADE_BASE), sizeof gp);
    PUT(gp, gp_cv, m->sum);
    made_put(m, pad + 3 * WORD, glob, WORD);
    dp_addr gv = made_op(m, "gv", false), mark = made_op(m, "pushmark", false);
    if (m->perl.version.multiplicity)
        PUT(gv, op_padix, 3);
    else
        PUT(gv, op_sv, glob);
    m->entersub = made_op(m, "entersub", true);
    m->list = made_op(m, "null", true);
    m->rv2cv = made_op(m, "null", true);
    KIDS(m, m->entersub, m->list);
    KIDS(m, m->list, mark, m->rv2cv);
    KIDS(m, m->rv2cv, gv);
    return pad;
}

static inline void made_subs(struct made *m)
{
    const struct dp_layout *at = &m->perl.at;
    m->stash = made_stash(m, "main");
    dp_addr pack = made_stash(m, "Pack");
    m->main_cop = made_cop(m, "p.pl", 10);
    m->main_root = made_code(m, "leave", m->main_cop, made_op(m, "entersub", false));
    m->g_cop = made_cop(m, "p.pl", 30);
    m->g_root = made_code(m, "leavesub", m->g_cop, made_op(m, "const", false));
    m->g = made_cv(m, made_hek(m, "g"), pack, at->CVf_NAMED, m->g_cop, m->g_root);
    m->f_cop = made_cop(m, "p.pl", 20);
    m->f_root = made_code(m, "leavesub", m->f_cop, made_op(m, "sort", false));
    m->stash = made_stash(m, "main");
    m->f_gv = made_gv(m, m->stash, "f");
    m->f = made_cv(m, m->f_gv, m->stash, 0, m->f_cop, m->f_root);
}

/* Sets a variable of the interpreter. */
#define VAR(name, value) \
    made_put(m, DP_PERL_VAR(&m->perl, m->interpreter, name), (value), WORD)

/* Makes the memory. threads: with MULTIPLICITY. */
static inline void made_init(struct made *m, unsigned series, bool threads)
{
    memset(m, 0, sizeof *m);
    m->perl.version = (struct dp_layout_of){ series, threads };
    dp_layout_find(&m->perl.at, &m->perl.version);
    const struct dp_layout *at = &m->perl.at;
    made_names(m);
    dp_addr variables = made_room(m, 0xb00);
    m->interpreter = m->perl.first = threads ? variables : 0;
    for (int i = 0; i < DP_PERL_N_SYMBOLS && !threads; i++)
        m->perl.symbols[i] = variables + 128 * (unsigned)i;
    made_subs(m);
    dp_addr pad = made_call(m);
    m->eval_cop = made_cop(m, "(eval 1)", 1);
    m->eval_root = made_code(m, "leaveeval", m->eval_cop, m->entersub);
    memcpy(&m->f_body, m->bytes + (m->f + at->sv_any - MADE_BASE), sizeof m->f_body);
    made_args(m);
    enum { LOOP = 4 };
    m->cx_main = made_room(m, 10 * at->cx_size);
    m->cx_sort = made_room(m, 10 * at->cx_size);
    made_cx(m, m->cx_main, at->CXt_SUB | at->CXp_HASARGS, m->main_cop, m->f, 0);
    made_cx(m, m->cx_main + at->cx_size, LOOP, m->f_cop, 0, 0);
    made_cx(m, m->cx_sort, at->CXt_SUB, m->f_cop, m->g, 0);
    made_cx(m, m->cx_sort + at->cx_size, at->CXt_EVAL | at->CXp_REAL, m->g_cop, 0, 0);
    m->si_main = made_si(m, 0, 1, m->cx_main, 1);
    m->si_sort = made_si(m, m->si_main, 3, m->cx_sort, 1);
    VAR(op, m->entersub);
    VAR(curcop, m->eval_cop);
    VAR(curpad, pad);
    VAR(curstackinfo, m->si_sort);
    VAR(stack_sp, made_room(m, 8 * WORD));
    made_put(m, DP_PERL_VAR(&m->perl, m->interpreter, phase), 4, 4);
}

/* Opens it as a target. Returns 0 or DP_E_NOMEM. Release it in any case. */
static inline int made_open(struct made *m)
{
    m->perl.target = &m->target;
    int rc = dp_target_init(&m->target, made_read, m);
    rc = dp_optree_init(&m->code, &m->perl) < 0 ? DP_E_NOMEM : rc;
    rc = dp_stack_init(&m->stack, &m->code, m->interpreter) < 0 ? DP_E_NOMEM : rc;
    rc = dp_leafs_init(&m->leafs, &m->stack) < 0 ? DP_E_NOMEM : rc;
    return dp_sampled_init(&m->sampled, &m->code, 0) < 0 ? DP_E_NOMEM : rc;
}

static inline void made_release(struct made *m)
{
    dp_sampled_release(&m->sampled);
    dp_leafs_release(&m->leafs);
    dp_stack_release(&m->stack);
    dp_optree_release(&m->code);
    dp_target_release(&m->target);
    dp_pool_release(&m->perl.op_names);
}

/* Does with the target all that a sampler and a dump do. Returns what dp_stack_read returned; args:
 * the arguments of all subs are appended to it. */
static inline int made_look(struct made *m, struct dp_buf *args)
{
    int rc = dp_stack_read(&m->stack);
    if (rc != 1)
        return rc;
    dp_leaf_op(&m->leafs);
    dp_leaf_name(&m->leafs);
    for (size_t i = 0; i < m->stack.n; i++) {
        dp_stack_name(&m->stack, i, 0);
        dp_stack_name(&m->stack, i, m->stack.contexts[i].oldcop);
        dp_leaf_of(&m->leafs, m->stack.contexts[i].oldcop, m->stack.contexts[i].retop, true);
        dp_args_show(&m->stack, i, args);
    }
    dp_sampled_add(&m->sampled, &m->leafs, 1000000, 900000, true);
    return rc;
}

#endif
