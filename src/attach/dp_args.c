/* What this relies on: a sub's pad of depth N is entry N of its padlist, and its @_ is entry 0 of
 * that pad. AvALLOC is where the array began before shift moved it on. */
#include "dp_args.h"
#include "dp_text.h"

enum { MOST_ARGS = 8, MOST_BYTES = 60, SV_BYTES = 64, MOST_FILL = 1000000 };

static const char *const types[] = {
    "SCALAR", "SCALAR", "SCALAR", "SCALAR", "SCALAR", "SCALAR", "SCALAR", "SCALAR", "REGEXP",
    "GLOB", "LVALUE", "ARRAY", "HASH", "CODE", "FORMAT", "IO", "OBJECT"
};

/* Reads the head of a scalar, perl's struct sv. Returns false if the memory cannot be read. */
static bool read_sv(struct dp_optree *code, dp_addr sv, char *head)
{
    size_t size = code->perl->at.sv_size;
    return sv && size <= SV_BYTES && dp_target_get(code->target, sv, head, size);
}

/* Shows what a reference leads to: CLASS(0x...), or the type. */
static void show_reference(struct dp_optree *code, dp_addr to, struct dp_buf *out)
{
    const struct dp_layout *at = &code->perl->at;
    char head[SV_BYTES];
    if (!read_sv(code, to, head)) {
        dp_buf_adds(out, "?");
        return;
    }
    uint32_t flags = dp_target_u32_in(head, at->sv_flags), type = flags & at->SVTYPEMASK;
    dp_addr body = dp_target_pointer_in(head, at->sv_any), name = 0;
    if (flags & at->SVs_OBJECT)
        name = dp_optree_stash_name(code, dp_target_pointer(code->target, body + at->mg_stash));
    if (!name || !dp_optree_add_hek(code, name, out))
        dp_buf_adds(out, type < DP_ARRAY_LEN(types) ? types[type] : "?");
    dp_buf_addf(out, "(0x%llx)", (unsigned long long)to);
}

/* Appends the first bytes of a string value in quotes, with "..." if the string goes on, or "?" if
 * the other process's memory cannot be read. */
static void show_text(struct dp_optree *code, dp_addr text, dp_addr len, struct dp_buf *out)
{
    char bytes[MOST_BYTES];
    size_t n = len < MOST_BYTES ? (size_t)len : MOST_BYTES;
    if (!dp_target_get(code->target, text, bytes, n)) {
        dp_buf_adds(out, "?");
        return;
    }
    while (n && n < len && ((unsigned char)bytes[n - 1] & 0xc0) == 0x80)
        n--;                    /* no half of a character */
    dp_buf_addc(out, '\'');
    dp_text_escape(out, bytes, n);
    dp_buf_adds(out, n < len ? "'..." : "'");
}

/* Appends a number with at most six decimals, without zeros at its end. */
static void show_number(double number, struct dp_buf *out)
{
    char text[64];
    dp_text_real(text, sizeof text, number, 6);
    char *end = text + strlen(text);
    while (end > text + 1 && end[-1] == '0')
        end--;
    if (end[-1] == '.')
        end--;
    dp_buf_add(out, text, (size_t)(end - text));
}

/* Appends a scalar as people write it: a reference, a string, a number or undef. "?" stands for
 * what cannot be read, which includes the numbers of a perl whose NV is no double. */
static void show_value(struct dp_optree *code, dp_addr sv, struct dp_buf *out)
{
    const struct dp_layout *at = &code->perl->at;
    struct dp_target *t = code->target;
    char head[SV_BYTES];
    if (!read_sv(code, sv, head)) {
        dp_buf_adds(out, "?");
        return;
    }
    uint32_t flags = dp_target_u32_in(head, at->sv_flags), type = flags & at->SVTYPEMASK;
    dp_addr body = dp_target_pointer_in(head, at->sv_any), u = dp_target_pointer_in(head, at->sv_u);
    if (flags & at->SVf_ROK) {
        show_reference(code, u, out);
    } else if (flags & at->SVf_POK) {
        show_text(code, u, dp_target_pointer(t, body + at->pv_cur), out);
    } else if (flags & at->SVf_IOK) {
        int64_t iv = (intptr_t)(type == at->SVt_IV ? u : dp_target_pointer(t, body + at->iv_iv));
        if (flags & at->SVf_IVisUV)
            dp_buf_addu(out, (uint64_t)iv);
        else
            dp_buf_addf(out, "%lld", (long long)iv);
    } else if (flags & at->SVf_NOK && (code->perl->has_long_numbers
                                       || sizeof(void *) != sizeof(double))) {
        dp_buf_adds(out, "?");
    } else if (flags & at->SVf_NOK) {
        dp_addr bits = type == at->SVt_NV ? u : dp_target_pointer(t, body + at->nv_nv);
        double number;
        memcpy(&number, &bits, sizeof number);
        show_number(number, out);
    } else {
        dp_buf_adds(out, "undef");
    }
}

/* The @_ of a sub at a depth; 0: it cannot be read. */
static dp_addr args_of(struct dp_optree *code, dp_addr cv, int32_t depth)
{
    const struct dp_layout *at = &code->perl->at;
    struct dp_target *t = code->target;
    enum { MOST_DEPTH = 1 << 24 };
    if (depth < 0 || depth > MOST_DEPTH)
        return 0;
    dp_addr body = dp_target_pointer(t, cv + at->sv_any);
    dp_addr list = dp_target_pointer(t, body + at->cv_padlist);
    dp_addr pads = dp_target_pointer(t, list + at->padlist_array);
    dp_addr pad = pads ? dp_target_pointer(t, pads + sizeof(void *) * (size_t)depth) : 0;
    return pad ? dp_target_pointer(t, dp_target_pointer(t, pad + at->sv_u)) : 0;
}

bool dp_args_show(struct dp_stack *st, size_t i, struct dp_buf *to)
{
    const struct dp_layout *at = &st->code->perl->at;
    const struct dp_stack_context *c = &st->contexts[i];
    struct dp_target *t = st->code->target;
    char head[SV_BYTES];
    if (c->type != at->CXt_SUB || !(c->flags & at->CXp_HASARGS) || !c->cv)
        return false;
    dp_addr av = args_of(st->code, c->cv, c->olddepth + 1);
    if (!read_sv(st->code, av, head)
        || (dp_target_u32_in(head, at->sv_flags) & at->SVTYPEMASK) != at->SVt_PVAV)
        return false;
    dp_addr body = dp_target_pointer_in(head, at->sv_any);
    dp_addr now = dp_target_pointer_in(head, at->sv_u);
    dp_addr all = dp_target_pointer(t, body + at->av_alloc);
    int64_t fill = (intptr_t)dp_target_pointer(t, body + at->av_fill);
    if (fill < -1 || fill > MOST_FILL)
        return false;
    int64_t shifted = all && now >= all ? (int64_t)((now - all) / sizeof(void *)) : 0;
    if (shifted > MOST_FILL)
        return false;
    int64_t n = shifted + fill + 1;
    dp_buf_addc(to, '(');
    for (int64_t k = 0; k < n && k < MOST_ARGS; k++) {
        if (k)
            dp_buf_adds(to, ", ");
        show_value(st->code, dp_target_pointer(t, (all ? all : now) + sizeof(void *) * (size_t)k),
                   to);
    }
    dp_buf_adds(to, n > MOST_ARGS ? ", ...)" : ")");
    return true;
}
