#define PERL_NO_GET_CONTEXT
#include "dpx_constants.h"
#include "dpx_keys.h"
#include "dprof/classic.h"
#include "dprof/line_pair.h"
#include "dprof/lines.h"
#include "dprof/report.h"
#include "dprof/stacks.h"

#include <string.h>

struct row {
    const char *name, *word, *other;
    IV value;
};

#define ROW(id, word, ...) { #id, word, NULL, (IV)(id) },
#define ROW_OTHER(id, word, other, ...) { #id, word, other, (IV)(id) },
static const struct row
    times_of[] = { DP_TIME_LIST(ROW_OTHER) }, metrics[] = { DP_METRIC_LIST(ROW_OTHER) },
    keys[] = { DP_KEY_LIST(ROW) }, fields[] = { DP_FIELD_LIST(ROW_OTHER) },
    formats[] = { DP_FORMAT_LIST(ROW) }, chains[] = { DP_CHAIN_LIST(ROW) },
    chain_values[] = { DP_CHAIN_VALUE_LIST(ROW) }, computes[] = { DP_COMPUTE_LIST(ROW) },
    views[] = { DP_VIEW_LIST(ROW) }, rules[] = { DP_RULE_LIST(ROW) },
    orders[] = { DP_ORDER_LIST(ROW) }, roles[] = { DP_ROLE_LIST(ROW) },
    writes[] = { DP_WRITE_LIST(ROW) }, separates[] = { DP_SEPARATE_LIST(ROW) },
    palettes[] = { DP_PALETTE_LIST(ROW) }, flame_orders[] = { DP_FLAME_ORDER_LIST(ROW) },
    flame_widths[] = { DP_FLAME_WIDTH_LIST(ROW) }, fates[] = { DP_FATE_LIST(ROW) },
    lines[] = { DP_LINES_LIST(ROW) };

/* Constants that have no words. */
#define ALONE(id) { #id, NULL, NULL, (IV)(id) },
#define CODE(id, value, text) ALONE(id)
static const struct row alone[] = {
    DP_ERRORS(CODE)
    ALONE(DP_FORCE) ALONE(DP_F_SHOWN) ALONE(DP_F_PARENT) ALONE(DP_F_CUT)
    ALONE(DP_FIELD_KEY) ALONE(DP_RULE_CALLS) ALONE(DP_RULE_LIMITS) ALONE(DP_DIFF_BY_CHANGE)
};

#define LIST(name, of) { name, of, C_ARRAY_LENGTH(of) }
static const struct {
    const char *name;
    const struct row *rows;
    size_t n;
} lists[] = {
    LIST("metric", metrics), LIST("time", times_of), LIST("key", keys), LIST("field", fields),
    LIST("format", formats), LIST("chain", chains), LIST("chain_value", chain_values),
    LIST("compute", computes), LIST("view", views), LIST("rule", rules), LIST("order", orders),
    LIST("role", roles), LIST("write", writes), LIST("separate", separates),
    LIST("palette", palettes), LIST("flame_order", flame_orders),
    LIST("flame_width", flame_widths), LIST("fate", fates), LIST("lines", lines),
    LIST("alone", alone)
};

bool dpx_constants_make(pTHX_ const char *package, const char *name)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(lists); i++)
        for (size_t k = 0; k < lists[i].n; k++)
            if (strcmp(lists[i].rows[k].name, name) == 0) {
                newCONSTSUB(gv_stashpv(package, GV_ADD), name, newSViv(lists[i].rows[k].value));
                return true;
            }
    return false;
}

void dpx_constants_words(pTHX_ const char *list, bool others, AV *to)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(lists); i++) {
        if (strcmp(lists[i].name, list) != 0)
            continue;
        for (int other = 0; other <= others; other++)
            for (size_t k = 0; k < lists[i].n; k++) {
                const struct row *row = &lists[i].rows[k];
                const char *word = other ? row->other : row->word;
                if (!word || !*word)
                    continue;
                av_push(to, newSVpv(word, 0));
                av_push(to, newSViv(row->value));
            }
        return;
    }
    croak("there is no list of words called '%s'", list);
}

void dpx_constants_keys(pTHX_ const char *view, AV *to)
{
    static const struct {
        const char *name;
        dpx_keys_of *keys;
    } views_of[] = {
        { "names", dpx_keys_dp_label_how }, { "trace", dpx_keys_dp_trace_how },
        { "classic", dpx_keys_dpx_classic }, { "report", dpx_keys_dp_report },
        { "pair", dpx_keys_dp_pair_how }, { "diff", dpx_keys_dp_diff_how },
        { "fold", dpx_keys_dpx_fold }, { "flame", dpx_keys_dpx_flame },
        { "export", dpx_keys_dpx_export }, { "table", dpx_keys_dp_given_table }
    };
    for (size_t i = 0; i < C_ARRAY_LENGTH(views_of); i++)
        if (strcmp(views_of[i].name, view) == 0) {
            dpx_keys_list(aTHX_ views_of[i].keys(), to);
            return;
        }
    croak("there is no view called '%s'", view);
}
