#include "dpx_attach_data.h"
#include "dpx_layout.h"
#include "dp_args.h"
#include "dp_fmt.h"

struct dpx_attach *dpx_attach_of(pTHX_ SV *self)
{
    if (!sv_isobject(self) || !sv_derived_from(self, "Devel::DProf::Live::Target")
        || !SvIOK(SvRV(self)) || !SvIV(SvRV(self)))
        croak("not attached\n");
    return INT2PTR(struct dpx_attach *, SvIV(SvRV(self)));
}

bool dpx_attach_is_here(pTHX_ SV *self)
{
    return sv_isobject(self) && SvIOK(SvRV(self)) && SvIV(SvRV(self));
}

size_t dpx_attach_run_list(pTHX_ AV *targets, double rate, double seconds)
{
    SSize_t n = av_len(targets) + 1;
    struct dpx_attach **all;
    Newx(all, n + 1, struct dpx_attach *);
    SAVEFREEPV(all);
    for (SSize_t i = 0; i < n; i++) {
        SV **sv = av_fetch(targets, i, 0);
        all[i] = dpx_attach_of(aTHX_ sv ? *sv : &PL_sv_undef);
    }
    return dpx_attach_run(all, (size_t)n, rate,
                          dpx_attach_now() + (uint64_t)(seconds * 1e9));
}

/* ---- stacks ---- */

static SV *utf8_sv(pTHX_ const char *ptr, size_t len)
{
    SV *sv = newSVpvn(ptr, len);
    if (is_utf8_string((const U8 *)ptr, len))
        SvUTF8_on(sv);
    return sv;
}

/* The name of a sub for people, PACKAGE::NAME, from its line in a profile; an anonymous sub has its
 * place behind it, as in other outputs. */
static SV *name_sv(pTHX_ const struct dp_optree *code, uint32_t number)
{
    struct dp_buf text;
    if (number == DP_MAP_NONE)
        return newSVpvs("?");
    const struct dp_name *line = dp_pool_name(&code->names, number);
    const char *end = line->ptr + line->len, *first = memchr(line->ptr, ' ', line->len);
    const char *second = first ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;
    const char *third = second ? memchr(second + 1, ' ', (size_t)(end - second - 1)) : NULL;
    if (!second)
        return newSVpvs("?");
    bool is_builtin = memchr(line->ptr, ' ', line->len) && strstr(line->ptr, " kind=builtin");
    dp_buf_init(&text);
    dp_fmt_unfield(&text, line->ptr, (size_t)(first - line->ptr));
    if (text.len)
        dp_buf_adds(&text, is_builtin ? ":" : "::");
    dp_fmt_unfield(&text, first + 1, (size_t)(second - first - 1));
    if (second - first - 1 == 8 && memcmp(first + 1, "__ANON__", 8) == 0) {
        dp_buf_addc(&text, '[');
        dp_fmt_unfield(&text, second + 1, (size_t)((third ? third : end) - second - 1));
        dp_buf_addc(&text, ']');
    }
    SV *sv = utf8_sv(aTHX_ text.ptr ? text.ptr : "", text.len);
    dp_buf_release(&text);
    return sv;
}

/* Adds a frame, whose statement is at cop; op: what runs in it, or where a call from it returns
 * to. */
static HV *add_frame(pTHX_ struct dp_leafs *leafs, AV *frames, const char *kind, dp_addr cop,
                     dp_addr op, bool is_return)
{
    const struct dp_optree *code = leafs->stack->code;
    HV *frame = newHV();
    av_push(frames, newRV_noinc((SV *)frame));
    (void)hv_stores(frame, "kind", newSVpv(kind, 0));
    const struct dp_optree_cop *c = cop ? dp_optree_cop(leafs->stack->code, cop) : NULL;
    if (!c)
        return frame;
    const struct dp_name *file = dp_pool_name(&code->files, c->file);
    (void)hv_stores(frame, "file", utf8_sv(aTHX_ file->ptr, file->len));
    const struct dp_leaf *leaf = dp_leaf_of(leafs, cop, op, is_return);
    (void)hv_stores(frame, "line", newSVuv(leaf ? leaf->line : c->line));
    return frame;
}

/* Adds the arguments of the call in context i to its frame as text, unless they cannot be read. */
static void add_args(pTHX_ struct dp_stack *st, size_t i, HV *frame)
{
    struct dp_buf text;
    dp_buf_init(&text);
    if (dp_args_show(st, i, &text) && !text.err)
        (void)hv_stores(frame, "args", utf8_sv(aTHX_ text.ptr, text.len));
    dp_buf_release(&text);
}

/* Appends the frames of a thread's stack as hashes, the innermost first: subs, evals and files that
 * are loaded, and last the main program. args: with the arguments of calls. */
static void add_frames(pTHX_ struct dpx_attach_thread *t, AV *frames, bool args)
{
    struct dp_stack *st = &t->stack;
    dp_addr cop = st->curcop, op = st->op;
    bool is_return = false;
    for (size_t i = st->n; i-- > 0;) {
        const struct dp_stack_context *c = &st->contexts[i];
        bool is_sub = dp_stack_is_sub(st, c);
        if (!is_sub && !dp_stack_is_code(st, c))
            continue;
        HV *frame = add_frame(aTHX_ &t->leafs, frames,
                              is_sub ? "sub" : dp_stack_is_file(st, c) ? "require" : "eval",
                              cop, op, is_return);
        if (is_sub)
            (void)hv_stores(frame, "sub", name_sv(aTHX_ st->code, dp_stack_name(st, i, cop)));
        if (is_sub && args)
            add_args(aTHX_ st, i, frame);
        cop = c->oldcop;
        op = is_sub ? c->retop : 0;
        is_return = true;
    }
    add_frame(aTHX_ &t->leafs, frames, "main", cop, op, is_return);
}

/* PERLSI_ of cop.h, from -1 up. */
static const char *const info_kinds[] = {
    "unknown", "undef", "main", "magic", "sort", "signal", "overload", "DESTROY", "warn hook",
    "die hook", "require", "multicall", "regcomp"
};

/* Puts a thread's stack into a hash: the op that runs, whether the thread is outside perl's code,
 * the frames, and in `inside` what perl is in the middle of (a sort, a destructor, a signal
 * handler). */
static void add_stack(pTHX_ struct dpx_attach_thread *t, HV *to, bool args)
{
    struct dp_stack *st = &t->stack;
    AV *frames = newAV(), *inside = newAV();
    uint32_t leaf = dp_leaf_name(&t->leafs);
    (void)hv_stores(to, "op", newSVpv(dp_leaf_op(&t->leafs), 0));
    if (dp_stack_is_outside(st))
        (void)hv_stores(to, "outside", newSViv(1));
    if (leaf != DP_MAP_NONE)
        (void)hv_stores(to, "leaf", name_sv(aTHX_ st->code, leaf));
    (void)hv_stores(to, "frames", newRV_noinc((SV *)frames));
    (void)hv_stores(to, "inside", newRV_noinc((SV *)inside));
    add_frames(aTHX_ t, frames, args);
    for (size_t k = 0; k < st->n_infos; k++) {
        size_t kind = (size_t)(st->infos[k].type + 1);
        if (st->infos[k].type != 1 && kind < DP_ARRAY_LEN(info_kinds))
            av_push(inside, newSVpv(info_kinds[kind], 0));
    }
}

SV *dpx_attach_dump(pTHX_ struct dpx_attach *a, bool args)
{
    AV *list = newAV();
    SV *rv = newRV_noinc((SV *)list);
    for (size_t i = 0; i < a->n_threads; i++) {
        struct dpx_attach_thread *t = a->threads[i];
        HV *to = newHV();
        av_push(list, newRV_noinc((SV *)to));
        int rc = dpx_attach_look(a, t);
        (void)hv_stores(to, "tid", newSViv(t->tid));
        (void)hv_stores(to, "number", newSVuv(t->number));
        if (t->state)
            (void)hv_stores(to, "state", newSVpvn(&t->state, 1));
        if (rc == 1)
            add_stack(aTHX_ t, to, args);
        else
            (void)hv_stores(to, "failed", newSViv(rc ? rc : 1));
    }
    return rv;
}

/* ---- profiles ---- */

SV *dpx_attach_counts(pTHX_ const struct dpx_attach *a)
{
    AV *list = newAV();
    for (size_t i = 0; i < a->n_threads; i++) {
        const struct dpx_attach_thread *t = a->threads[i];
        const struct dp_sampled *s = &t->sampled;
        HV *to = newHV();
        av_push(list, newRV_noinc((SV *)to));
#define COUNT(name, value) (void)hv_stores(to, name, newSVuv((UV)(value)));
        COUNT("tid", t->tid) COUNT("number", t->number) COUNT("samples", s->samples)
        COUNT("mended", s->mended) COUNT("given_up", s->given_up) COUNT("unread", s->unread)
        COUNT("behind", a->behind) COUNT("followed", a->followed)
        COUNT("not_followed", a->not_followed) COUNT("readings", a->target.readings)
        COUNT("parts", a->target.parts) COUNT("ended", t->has_ended)
        COUNT("read_anew", a->code.read_anew) COUNT("guessed_wrong", t->stack.guessed_wrong)
#undef COUNT
        if (t->is_sampled)
            (void)hv_stores(to, "script", newSVpv(dp_sampled_script(s), 0));
        (void)hv_stores(to, "perl", newSVpvf("5.%u.%u", a->perl.version.series,
                                             a->perl.subversion));
        (void)hv_stores(to, "is_newer", newSViv(a->perl.is_newer));
    }
    return newRV_noinc((SV *)list);
}

static const char *text_in(pTHX_ HV *from, const char *key)
{
    SV **sv = hv_fetch(from, key, (I32)strlen(key), 0);
    return sv && SvOK(*sv) ? SvPV_nolen(*sv) : "";
}

static UV number_in(pTHX_ HV *from, const char *key)
{
    SV **sv = hv_fetch(from, key, (I32)strlen(key), 0);
    return sv && SvOK(*sv) ? SvUV(*sv) : 0;
}

SV *dpx_attach_profile(pTHX_ struct dpx_attach *a, size_t thread, HV *from)
{
    struct dp_buf text;
    if (thread >= a->n_threads || !a->threads[thread]->is_sampled)
        return newSVpvs("");
    struct dp_sampled_head head = {
        .version = XS_VERSION, .run = text_in(aTHX_ from, "run"),
        .script = text_in(aTHX_ from, "script"), .start = text_in(aTHX_ from, "start"),
        .pid = a->process.pid, .ppid = (long)number_in(aTHX_ from, "ppid"),
        .tid = a->threads[thread]->number, .rate = (unsigned)number_in(aTHX_ from, "rate"),
        .behind = a->behind, .slice = number_in(aTHX_ from, "slice"),
    };
    dp_buf_init(&text);
    int rc = dp_sampled_write(&a->threads[thread]->sampled, &head, &text);
    SV *sv = rc == 0 ? newSVpvn(text.ptr, text.len) : NULL;
    dp_buf_release(&text);
    if (!sv)
        croak("out of memory\n");
    return sv;
}

void dpx_attach_renew(struct dpx_attach *a)
{
    for (size_t i = 0; i < a->n_threads; i++)
        if (a->threads[i]->is_sampled)
            dp_sampled_renew(&a->threads[i]->sampled);
}

SV *dpx_attach_layout(pTHX_ bool own)
{
    const struct dp_perl_own *here = dpx_layout_own();
    struct dp_layout layout = here->layout;
    HV *hv = newHV();
    SV *rv = newRV_noinc((SV *)hv);
    if (!own && dp_layout_find(&layout, &here->version) < 0)
        return rv;
    for (size_t i = 0; i < DP_LAYOUT_WORDS; i++)
        (void)hv_store(hv, dp_layout_names[i], (I32)strlen(dp_layout_names[i]),
                       newSVuv(((const uint32_t *)&layout)[i]), 0);
    return rv;
}
