/* dprofreport's options and profiles, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_report.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_keys.h"
#include "dp_err.h"

/* Takes a fact to be printed above a table: label, key and text. */
static bool take_fact(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_report_fact *fact = to;
    SV *label = dpx_element(aTHX_ from, at), *key = dpx_element(aTHX_ from, at + 1),
       *text = dpx_element(aTHX_ from, at + 2);
    STRLEN len;
    if (!label || !key || !text)
        return false;
    fact->label = dpx_text(aTHX_ label, &len);
    fact->key = dpx_text(aTHX_ key, &len);
    fact->text = dpx_text(aTHX_ text, &len);
    fact->len = len;
    return true;
}
DPX_ELEMENT(dp_report_fact, 3, NULL, take_fact);

/* Reads a name from the list at `at'. Returns false if the element is missing. */
static bool take_name(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_report_name *name = to;
    SV *sv = dpx_element(aTHX_ from, at);
    STRLEN len;
    if (!sv)
        return false;
    name->ptr = dpx_text(aTHX_ sv, &len);
    name->len = len;
    return true;
}
static DPX_ELEMENT(dp_report_name, 1, NULL, take_name);

DPX_KEYS(dp_report_how, DP_REPORT_HOW_OPTIONS, "a table")

DPX_KEYS(dp_report, DP_REPORT_OPTIONS, "a report")

void dpx_report(pTHX_ struct dp_report *how, HV *from)
{
    Zero(how, 1, struct dp_report);
    dpx_keys_take(aTHX_ how, dpx_keys_dp_report(), from);
    for (size_t i = 0; i < how->n_fields; i++)
        if (how->fields[i] < 0 || (size_t)how->fields[i] >= DP_FIELD_KEY + how->over.n_keys)
            croak("fields of a report: there is no column %d", how->fields[i]);
}

DPX_KEYS(dp_given_table, DP_GIVEN_OPTIONS, "a table")

/* Reads a column of a table, [title, key, is it text], from Perl. Croaks without a title or key. */
static void take_column(pTHX_ struct dp_given_column *column, AV *from)
{
    SV *title = from ? dpx_element(aTHX_ from, 0) : NULL,
       *key = from ? dpx_element(aTHX_ from, 1) : NULL;
    STRLEN len;
    if (!title || !key)
        croak("a column of a table lacks its title or its key");
    column->title = dpx_text(aTHX_ title, &len);
    column->key = dpx_text(aTHX_ key, &len);
    column->left = (title = dpx_element(aTHX_ from, 2)) && SvTRUE(title);
}

/* Takes a cell: a text, or [number, text for people] where each may be undef; or undef, no
 * value. */
static void take_cell(pTHX_ struct dp_given_cell *cell, SV *sv)
{
    AV *pair = sv ? dpx_list_of(aTHX_ sv) : NULL;
    SV *number = pair ? dpx_element(aTHX_ pair, 0) : NULL,
       *text = pair ? dpx_element(aTHX_ pair, 1) : sv;
    STRLEN len = 0, number_len = 0;
    cell->text = text ? dpx_text(aTHX_ text, &len) : "";
    cell->len = len;
    cell->is_number = pair || !sv;
    if (number) {
        SV *both = sv_2mortal(newSVpvn(cell->text, len));
        const char *ptr = SvPV(number, number_len);
        sv_catpvn(both, ptr, number_len);
        cell->text = SvPV_nolen(both);
        cell->number_len = number_len;
    }
}

void dpx_given_table(pTHX_ struct dp_given_table *table, AV *columns, AV *rows, HV *how)
{
    Zero(table, 1, struct dp_given_table);
    dpx_keys_take(aTHX_ table, dpx_keys_dp_given_table(), how);
    size_t n = table->n_columns = (size_t)(av_len(columns) + 1);
    table->n_rows = (size_t)(av_len(rows) + 1);
    struct dp_given_column *to = dpx_array(aTHX_ n, sizeof *to);
    struct dp_given_cell *cells = dpx_array(aTHX_ n * table->n_rows, sizeof *cells);
    table->columns = to;
    table->cells = cells;
    for (size_t c = 0; c < n; c++)
        take_column(aTHX_ &to[c], dpx_list_of(aTHX_ dpx_element(aTHX_ columns, (SSize_t)c)));
    for (size_t r = 0; r < table->n_rows; r++) {
        AV *row = dpx_list_of(aTHX_ dpx_element(aTHX_ rows, (SSize_t)r));
        if (!row)
            croak("row %lu of a table is no reference to an array", (unsigned long)r);
        for (size_t c = 0; c < n; c++)
            take_cell(aTHX_ cells++, dpx_element(aTHX_ row, (SSize_t)c));
    }
}

/* Takes a side of a view, number n: a list of profile, flags of its subs, script, pid, thread, and
 * the counter that is shown. All but the profile may be undef. Croaks if the flags are not as many
 * as the profile has subs. */
static void take_side(pTHX_ struct dp_part *side, AV *from, SSize_t n, bool waiting)
{
    const char **texts[] = { &side->script, &side->pid, &side->thread };
    SV *sv = from ? dpx_element(aTHX_ from, 0) : NULL;
    STRLEN len;
    if (!sv)
        croak("side %ld has no profile", (long)n);
    side->prof = waiting ? dpx_prof_waiting(aTHX_ sv) : dpx_prof_of(aTHX_ sv);
    if ((sv = dpx_element(aTHX_ from, 1))) {
        struct dp_sub_info info;
        side->flags = (const unsigned char *)SvPV(sv, len);
        if (!len || dp_prof_sub(side->prof, len - 1, &info)
            || (len > 1 && !dp_prof_sub(side->prof, len - 2, &info)))
            croak("flags of side %ld: %lu do not fit", (long)n, (unsigned long)len);
    }
    for (int k = 0; k < 3; k++)
        if ((sv = dpx_element(aTHX_ from, 2 + k)))
            *texts[k] = dpx_text(aTHX_ sv, &len);
    if ((sv = dpx_element(aTHX_ from, 5)))
        side->counter = (size_t)SvUV(sv);
}

const struct dp_part *dpx_sides(pTHX_ AV *from, bool waiting)
{
    SSize_t n = av_len(from) + 1;
    struct dp_part *sides = dpx_array(aTHX_ (size_t)n, sizeof *sides);
    if (!n)
        croak("no profiles");
    for (SSize_t i = 0; i < n; i++)
        take_side(aTHX_ &sides[i], dpx_list_of(aTHX_ dpx_element(aTHX_ from, i)), i,
                  waiting);
    return sides;
}
