#include "dpx_subject.h"
#include "dpx_span.h"
#include "dpx_subject_sql.h"
#include "dp_mask_text.h"

#include <string.h>

/* The hash that a value refers to, or NULL. */
static HV *hash_of(SV *sv)
{
    return sv && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVHV ? (HV *)SvRV(sv) : NULL;
}

/* The array that a value refers to, or NULL. */
static AV *array_of(SV *sv)
{
    return sv && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVAV && !SvRMAGICAL(SvRV(sv))
           ? (AV *)SvRV(sv) : NULL;
}

/* The value under a key of the hash that a value refers to, or NULL. */
static SV *value_in(pTHX_ SV *sv, const char *key)
{
    HV *hv = hash_of(sv);
    return hv ? dpx_subject_element(aTHX_ hv, key) : NULL;
}

/* Appends the text of a value, if it has one that can be read. Returns whether it has. */
static bool add_text(struct dp_buf *to, SV *sv)
{
    STRLEN len;
    const char *text = dpx_subject_text(sv, &len);
    if (text)
        dp_buf_add(to, text, len);
    return text != NULL;
}

/* ---- requests to other servers ---- */

/* The text of a URL that may be an object: a URI refers to the text, and a URI::WithBase or
 * URI::URL has a URI as its first element. NULL: it has none that can be read. */
static const char *url_text(SV *url, STRLEN *len)
{
    AV *parts = array_of(url);
    if (parts)
        url = AvFILLp(parts) >= 0 ? AvARRAY(parts)[0] : NULL;
    if (url && SvROK(url))
        url = SvRV(url);
    return dpx_subject_text(url, len);
}

/* Appends METHOD and URL. Returns false, with nothing appended, if the method cannot be read. */
static bool add_address(struct dp_buf *to, SV *method, SV *url)
{
    STRLEN len;
    const char *text = url_text(url, &len);
    if (!add_text(to, method))
        return false;
    dp_buf_addc(to, ' ');
    if (text)
        dp_mask_url(to, text, len);
    else
        dp_buf_adds(to, DPX_SUBJECT_UNREADABLE);
    return true;
}

/* Appends the path of a Mojo::Path, which it has as a text, or as its parts. */
static void add_mojo_path(pTHX_ struct dp_buf *to, SV *path)
{
    AV *parts = array_of(value_in(aTHX_ path, "parts"));
    if (!parts) {
        add_text(to, value_in(aTHX_ path, "path"));
        return;
    }
    for (SSize_t i = 0; i <= AvFILLp(parts); i++) {
        dp_buf_addc(to, '/');
        add_text(to, AvARRAY(parts)[i]);
    }
}

/* Appends METHOD and URL of a Mojo::Transaction. Returns false if it has no URL, or memory is
 * short. */
static bool add_mojo(pTHX_ struct dp_buf *to, struct dp_buf *scratch, SV *tx)
{
    SV *req = value_in(aTHX_ tx, "req"), *url = value_in(aTHX_ req, "url");
    dp_buf_clear(scratch);
    if (!url)
        return false;
    if (!add_text(to, value_in(aTHX_ req, "method")))
        dp_buf_adds(to, "GET");
    dp_buf_addc(to, ' ');
    if (add_text(scratch, value_in(aTHX_ url, "scheme")))
        dp_buf_adds(scratch, "://");
    add_text(scratch, value_in(aTHX_ url, "host"));
    SV *port = value_in(aTHX_ url, "port");
    if (port && SvPOK(port))
        dp_buf_addc(scratch, ':');
    add_text(scratch, port);
    add_mojo_path(aTHX_ scratch, value_in(aTHX_ url, "path"));
    if (scratch->err)
        return false;
    dp_mask_url(to, scratch->ptr, scratch->len);
    return true;
}

/* Is that a call of LWP's, whose own call is the span? */
static bool is_of_lwp(pTHX)
{
    const char *package = CopSTASHPV(PL_curcop);
    return package && strnEQ(package, "LWP::Protocol", 13);
}

/* Appends METHOD and URL of a request on a connection of Net::HTTP, a glob whose hash has the
 * host. Returns false if the method or the host cannot be read, or memory is short. */
static bool add_on_socket(pTHX_ struct dp_buf *to, struct dp_buf *scratch, SV *self, SV *method,
                          SV *path)
{
    GV *gv = self && SvROK(self) && isGV_with_GP(SvRV(self)) ? (GV *)SvRV(self) : NULL;
    SV *host = gv && GvHV(gv) ? dpx_subject_element(aTHX_ GvHV(gv), "http_host") : NULL;
    const HEK *class = gv && SvOBJECT((SV *)gv) ? HvNAME_HEK(SvSTASH((SV *)gv)) : NULL;
    bool is_secure = class && HEK_LEN(class) == 10 && memcmp(HEK_KEY(class), "Net::HTTPS", 10) == 0;
    dp_buf_clear(scratch);
    if (!host || is_of_lwp(aTHX) || !add_text(to, method))
        return false;
    dp_buf_addc(to, ' ');
    STRLEN len;
    const char *text = dpx_subject_text(path, &len);
    if (!text || *text == '/') {
        dp_buf_adds(scratch, is_secure ? "https://" : "http://");
        add_text(scratch, host);
    }
    add_text(scratch, path);
    if (!scratch->err)
        dp_mask_url(to, scratch->ptr, scratch->len);
    return !scratch->err;
}

/* Notes the request that a connection has sent. At the limit, older ones are forgotten. */
static void note_sent(struct dpx_ctx *ctx, SV *self, U32 id)
{
    enum { SENT_MOST = 1000 };
    if (ctx->spans.sent.used >= SENT_MOST)
        dp_map_clear(&ctx->spans.sent);
    struct dp_map_slot *slot = dp_map_put(&ctx->spans.sent, PTR2UV(SvRV(self)));
    if (slot)
        slot->value = id;
}

/* The response of a request that a connection has sent; id 0: none is known. */
static struct dpx_subject response_of(pTHX_ struct dpx_ctx *ctx, SV *self)
{
    const struct dp_map_slot *slot = self && SvROK(self) && !is_of_lwp(aTHX)
                                         ? dp_map_find(&ctx->spans.sent, PTR2UV(SvRV(self)))
                                         : NULL;
    return (struct dpx_subject){ slot ? slot->value : 0, 0, slot != NULL };
}

/* ---- templates ---- */

/* Appends the name of a file, masked, or (text) if it has none that can be read. Returns true. */
static bool add_file(struct dp_buf *to, SV *sv)
{
    STRLEN len;
    const char *text = dpx_subject_text(sv, &len);
    if (text)
        dp_mask_path(to, text, len);
    else
        dp_buf_adds(to, "(text)");
    return true;
}

/* The handler of the template NAME.FORMAT: the one that is asked for, the first one that has a file
 * of that name, or the default. NULL: none can be read. */
static SV *handler_of(pTHX_ SV *renderer, SV *options, struct dp_buf *name)
{
    SV *handler = value_in(aTHX_ options, "handler");
    if (handler)
        return handler;
    AV *handlers = array_of(value_in(aTHX_ value_in(aTHX_ renderer, "templates"),
                                     dp_buf_cstr(name)));
    return handlers && AvFILLp(handlers) >= 0 ? AvARRAY(handlers)[0]
                                              : value_in(aTHX_ renderer, "default_handler");
}

/* Appends the name that Mojolicious gives to a template: NAME.FORMAT.HANDLER, or (text) for one
 * that is no file. Returns false if the name cannot be read, or memory is short. */
static bool add_rendered(pTHX_ struct dp_buf *to, struct dp_buf *scratch, SV *renderer,
                         SV *options)
{
    if (value_in(aTHX_ options, "inline")) {
        dp_buf_adds(to, "(text)");
        return true;
    }
    dp_buf_clear(scratch);
    if (!add_text(scratch, value_in(aTHX_ options, "template")))
        return false;
    dp_buf_addc(scratch, '.');
    add_text(scratch, value_in(aTHX_ options, "format"));
    SV *handler = scratch->err ? NULL : handler_of(aTHX_ renderer, options, scratch);
    dp_buf_addc(scratch, '.');
    add_text(scratch, handler);
    if (!scratch->err)
        dp_mask_path(to, scratch->ptr, scratch->len);
    return !scratch->err;
}

/* Is the caller a part of a library whose own call is the span: a handler of Mojolicious, or a
 * method that renders a file or a text by another one? */
static bool is_rendering(pTHX)
{
    static const char libraries[][33] = {
        "Mojolicious::Plugin::EPRenderer", "Mojolicious::Plugin::EPLRenderer", "Mojo::Template",
        "Text::Xslate::Engine", "Text::Xslate::PP"
    };
    const char *package = CopSTASHPV(PL_curcop);
    for (size_t i = 0; package && i < DP_ARRAY_LEN(libraries); i++)
        if (strEQ(package, libraries[i]))
            return true;
    return false;
}

/* ---- all of them ---- */

/* Appends what a call is about. Returns false if it is about nothing that can be read. */
static bool add_subject(pTHX_ struct dp_buf *to, struct dp_buf *scratch,
                        const struct dpx_detail_sub *sub, const struct dpx_args *args)
{
    SV *self = dpx_subject_argument(args, 0), *first = dpx_subject_argument(args, 1);
    SV *second = dpx_subject_argument(args, 2);
    AV *words;
    switch (sub->of) {
    case DPX_OF_REQUEST:
        return add_address(to, value_in(aTHX_ first, "_method"), value_in(aTHX_ first, "_uri"));
    case DPX_OF_ADDRESS:
        return add_address(to, first, second);
    case DPX_OF_MOJO:
        return !(second && SvOK(second)) && add_mojo(aTHX_ to, scratch, first);
    case DPX_OF_SOCKET:
        return add_on_socket(aTHX_ to, scratch, self, first, second);
    case DPX_OF_FILE:
        return !is_rendering(aTHX) && add_file(to, first);
    case DPX_OF_TEXT:
        return !is_rendering(aTHX) && add_file(to, NULL);
    case DPX_OF_SELF:
        return add_file(to, value_in(aTHX_ self, "name"));
    case DPX_OF_RENDERER:
        return add_rendered(aTHX_ to, scratch, self, dpx_subject_argument(args, 3));
    case DPX_OF_OPTIONS:
        return add_file(to, value_in(aTHX_ value_in(aTHX_ self, "options"), "filename"));
    case DPX_OF_COMPONENT:
        if (hash_of(first) && !SvOBJECT(SvRV(first)))
            first = second;
        return add_file(to, hash_of(first) ? value_in(aTHX_ first, "path") : first);
    case DPX_OF_FOURTH:
        return dpx_subject_command(to, dpx_subject_argument(args, 3), args->n > 4);
    case DPX_OF_THIRD:
        return dpx_subject_command(to, second, args->n > 3);
    case DPX_OF_COMMAND:
        words = array_of(self);
        return words ? AvFILLp(words) >= 0 && dpx_subject_command(to, AvARRAY(words)[0], true)
                     : dpx_subject_command(to, self, false);
    default:
        return false;
    }
}

struct dpx_subject dpx_subject_find(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                                    const struct dpx_args *args)
{
    struct dpx_subject s = { 0, 0, false };
    struct dp_buf *text = &ctx->spans.text;
    const char *word = dpx_detail_word(sub->kind);
    if (sub->kind == DPX_DETAIL_SQL)
        return dpx_subject_sql(aTHX_ ctx, sub, args);
    if (sub->of == DPX_OF_RESPONSE)
        return response_of(aTHX_ ctx, dpx_subject_argument(args, 0));
    dp_buf_clear(text);
    if (add_subject(aTHX_ text, &ctx->spans.key, sub, args) && !text->err)
        s.id = dpx_span_id(ctx, word, strlen(word), text->ptr, text->len, NULL);
    if (sub->of == DPX_OF_SOCKET && s.id)
        note_sent(ctx, dpx_subject_argument(args, 0), s.id);
    return s;
}
