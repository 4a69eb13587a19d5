#define PERL_NO_GET_CONTEXT
#include "dpx_lines.h"
#include "dprof/line_pair.h"
#include "dprof/lines.h"

struct rows {
    AV *list, *calls;           /* calls: those of the last row */
    SV *text;
    DPX_PERL_MEMBER
};

static SV *sub_sv(pTHX_ uint32_t sub)
{
    return sub == DP_LINE_NO_SUB ? newSV(0) : newSVuv(sub);
}

/* Adds the row of a line; dp_line_rows calls it. push_call adds the row's calls, which follow. */
static int push_line(void *ctx, const struct dp_line_row *row)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    AV *av = newAV();
    rows->calls = newAV();
    av_push(rows->list, newRV_noinc((SV *)av));
    av_push(av, dpx_name_sv(aTHX_ row->file, row->file_len));
    av_push(av, newSVuv(row->line));
    av_push(av, sub_sv(aTHX_ row->sub));
    av_push(av, newSVuv(row->count));
    av_push(av, newSVuv(row->self));
    av_push(av, newSVuv(row->incl));
    av_push(av, newSVuv(row->calls));
    av_push(av, newRV_noinc((SV *)rows->calls));
    return 0;
}

/* Takes a call from C, and appends it as [sub, calls, inclusive] to the line's list. */
static int push_call(void *ctx, const struct dp_line_call_row *row)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    AV *av = newAV();
    av_push(rows->calls, newRV_noinc((SV *)av));
    av_push(av, sub_sv(aTHX_ row->sub));
    av_push(av, newSVuv(row->calls));
    av_push(av, newSVuv(row->incl));
    return 0;
}

AV *dpx_line_rows(pTHX_ const struct dp_prof *prof, IV metric, UV counter)
{
    struct rows rows;
    rows.list = (AV *)sv_2mortal((SV *)newAV());
    DPX_PERL_SET(&rows);
    dpx_check(aTHX_ dp_line_rows(prof, (enum dp_metric)metric, counter, push_line, push_call,
                                  &rows));
    return rows.list;
}

AV *dpx_aligned_texts(pTHX_ const char *old, size_t old_len, const char *later, size_t later_len)
{
    AV *av = (AV *)sv_2mortal((SV *)newAV());
    uint32_t *to;
    size_t n;
    dpx_check(aTHX_ dp_line_texts(old, old_len, later, later_len, &to, &n));
    for (size_t i = 0; i < n; i++)
        av_push(av, newSVuv(to[i]));
    dp_line_texts_free(to);
    return av;
}

/* Takes a source from C, and appends it as [file, size, CRC-32] to the list. */
static int take_source(void *ctx, const char *file, size_t len, uint64_t size, uint32_t crc)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    AV *av = newAV();
    av_push(rows->list, newRV_noinc((SV *)av));
    av_push(av, dpx_name_sv(aTHX_ file, len));
    av_push(av, newSVuv(size));
    av_push(av, newSVuv(crc));
    return 0;
}

AV *dpx_line_sources(pTHX_ const struct dp_prof *prof)
{
    struct rows rows;
    rows.list = (AV *)sv_2mortal((SV *)newAV());
    DPX_PERL_SET(&rows);
    dpx_check(aTHX_ dp_line_sources(prof, take_source, &rows));
    return rows.list;
}

static void take_text(void *ctx, const char *ptr, size_t len)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    rows->text = newSVpvn(ptr, len);
}

SV *dpx_line_text(pTHX_ const struct dp_prof *prof, SV *file)
{
    struct rows rows = { .text = NULL };
    STRLEN len;
    const char *ptr = SvPV(file, len);
    DPX_PERL_SET(&rows);
    dpx_check(aTHX_ dp_line_text(prof, ptr, len, take_text, &rows));
    return rows.text ? rows.text : newSV(0);
}

/* Takes the name of a file from C, and appends it to the list. */
static int take_file(void *ctx, const char *name, size_t len)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    av_push(rows->list, dpx_name_sv(aTHX_ name, len));
    return 0;
}

AV *dpx_line_files(pTHX_ const struct dp_prof *prof)
{
    struct rows rows = { .list = (AV *)sv_2mortal((SV *)newAV()) };
    DPX_PERL_SET(&rows);
    dpx_check(aTHX_ dp_line_files(prof, take_file, &rows));
    return rows.list;
}
