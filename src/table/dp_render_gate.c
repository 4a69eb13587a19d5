#include "dp_render_gate.h"
#include "dp_render.h"
#include "dp_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- texts that all formats share ---- */

void dp_human(struct dp_buf *buf, const struct dp_diff *diff, size_t measure, double value)
{
    uint64_t hz = dp_diff_hz(diff, measure);
    dp_render_human(buf, value, hz, hz && diff->is_time);
}

void dp_gate_p(struct dp_buf *buf, double p)
{
    dp_buf_adds(buf, p < 0.00001 ? ", p < 0.00001" : ", p = ");
    if (p >= 0.00001)
        dp_render_real(buf, p, 5, false);
}

/* Appends a percentage with its sign. */
static void add_percent(struct dp_buf *buf, double percent)
{
    char num[DP_NUMBER_MAX];
    struct dp_cell cell = { .kind = DP_CELL_PERCENT, .real = percent, .sign = true };
    dp_buf_add(buf, num, dp_render_number(num, &cell, 0, true));
}

/* Appends `1.2 s -> 1.5 s (+25.00%)`. */
static void add_change(struct dp_buf *buf, const struct dp_finding *f, const struct dp_diff *diff)
{
    const struct dp_rule *rule = &diff->how->rules[f->rule];
    const struct dp_diff_values *v = &f->values;
    if (rule->kind != DP_RULE_GROWTH) {
        dp_buf_adds(buf, rule->kind == DP_RULE_NEW ? "is new" : "is gone");
        return;
    }
    dp_human(buf, diff, rule->measure, (double)v->base);
    dp_buf_adds(buf, " -> ");
    dp_human(buf, diff, rule->measure, (double)v->value);
    dp_buf_adds(buf, " (");
    if (v->base)
        add_percent(buf, 100 * ((double)v->value - (double)v->base) / (double)v->base);
    else
        dp_buf_adds(buf, v->base_there ? "from 0" : "new");
    if (v->verdict == DP_DIFF_TRUE)
        dp_gate_p(buf, v->p);
    dp_buf_adds(buf, ")");
}

const char *dp_gate_units(const char *unit)
{
    return !unit ? "runs" : strcmp(unit, "host") == 0 ? "hosts" : "processes";
}

static void add_needed(struct dp_buf *buf, const struct dp_gate *gate, const char *unit)
{
    dp_buf_addf(buf, "not enough %s: %zu a side needed", dp_gate_units(unit), gate->needed);
}

/* Appends a finding as a sentence without its end: what changed, by how much, and what a decision
 * lacks. */
static void add_finding(struct dp_buf *buf, const struct dp_finding *f, const struct dp_gate *gate,
                        const struct dp_diff *diff)
{
    const struct dp_name *sub = dp_gate_sub(f);
    dp_gate_name(buf, f);
    if (sub) {
        dp_buf_adds(buf, " in ");
        dp_buf_add(buf, sub->ptr, sub->len);
    }
    dp_buf_adds(buf, ": ");
    add_change(buf, f, diff);
    if (diff->n_sides > 2) {
        dp_buf_adds(buf, " in ");
        dp_buf_adds(buf, diff->sides[f->side].name);
    }
    if (f->undecided) {
        dp_buf_adds(buf, "; ");
        if (f->values.verdict == DP_DIFF_SMALL)
            dp_buf_adds(buf, "it is below --floor, and not tested");
        else
            add_needed(buf, gate, diff->how->units);
    }
}

static const char *rule_of(const struct dp_diff *diff, const struct dp_finding *f)
{
    return diff->how->rules[f->rule].text;
}

static bool is_failure(const struct dp_diff *diff, const struct dp_finding *f)
{
    return !f->undecided || diff->how->strict;
}

/* ---- escapes ---- */

static void add_escaped(struct dp_buf *to, const struct dp_buf *from)
{
    dp_text_escape(to, from->ptr, from->len);
}

/* Appends a name for TAP, where `#` would begin a directive. */
static void add_tap(struct dp_buf *to, const char *ptr, size_t len)
{
    struct dp_buf plain;
    dp_buf_init(&plain);
    dp_text_escape(&plain, ptr, len);
    for (size_t i = 0; i < plain.len; i++) {
        if (plain.ptr[i] == '#' || plain.ptr[i] == '\\')
            dp_buf_addc(to, '\\');
        dp_buf_addc(to, plain.ptr[i]);
    }
    dp_buf_release(&plain);
}

static void add_xml(struct dp_buf *to, const char *ptr, size_t len, bool lines)
{
    dp_text_markup(dp_buf_write, to, ptr, len, DP_MARKUP_XML | (lines ? DP_MARKUP_LINES : 0));
}

/* Appends a text escaped for workflow commands; `:` and `,` are escaped only in properties. */
static void add_github(struct dp_buf *to, const char *ptr, size_t len, bool property)
{
    struct dp_buf plain;
    dp_buf_init(&plain);
    dp_text_escape(&plain, ptr, len);
    for (size_t i = 0; i < plain.len; i++) {
        char c = plain.ptr[i];
        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
            dp_buf_addf(to, "%%%02X", (unsigned)(unsigned char)c);
        else
            dp_buf_addc(to, c);
    }
    dp_buf_release(&plain);
}

/* ---- text, Markdown, JSON ---- */

static void add_number(struct dp_buf *buf, size_t n, const char *what)
{
    dp_render_grouped(buf, n);
    dp_buf_addf(buf, " %s%s", what, n == 1 ? "" : "s");
}

void dp_gate_verdict(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff)
{
    bool failed = gate->failed || (gate->undecided && diff->how->strict);
    dp_buf_adds(buf, failed ? "failed, " : gate->undecided ? "undecided, " : "passed, ");
    size_t undecided = 0;
    for (size_t i = 0; i < gate->n; i++)
        undecided += !is_failure(diff, &gate->findings[i]);
    if (gate->n)
        add_number(buf, gate->n, "finding");
    if (failed && undecided)
        dp_buf_addf(buf, ", %zu of them undecided", undecided);
    if (!gate->n)
        add_number(buf, diff->how->n_rules, "rule");
    if (gate->below) {
        dp_buf_adds(buf, "; ");
        add_number(buf, gate->below, "time");
        dp_buf_adds(buf, gate->below == 1 ? " that has grown by less than "
                                          : " that have grown by less than ");
        dp_render_given(buf, 1e3 * diff->how->time_floor);
        dp_buf_adds(buf, " ms or ");
        dp_render_given(buf, diff->how->time_floor_percent);
        dp_buf_adds(buf, gate->below == 1 ? " % of the total does not count (--time-floor)"
                                          : " % of the total do not count (--time-floor)");
    }
}

void dp_gate_text(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff,
                  const char *prefix)
{
    struct dp_buf line;
    dp_buf_init(&line);
    for (size_t i = 0; i < gate->n; i++) {
        const struct dp_finding *f = &gate->findings[i];
        line.len = 0;
        add_finding(&line, f, gate, diff);
        dp_buf_addf(buf, "%s%s", prefix, is_failure(diff, f) ? "FAIL  " : "?     ");
        dp_text_escape(buf, rule_of(diff, f), strlen(rule_of(diff, f)));
        dp_buf_adds(buf, ": ");
        add_escaped(buf, &line);
        dp_buf_adds(buf, "\n");
    }
    if (gate->n) {
        dp_buf_addf(buf, "%sGate: ", prefix);
        dp_gate_verdict(buf, gate, diff);
        dp_buf_adds(buf, "\n");
    } else {
        dp_buf_addf(buf, "%sok    %zu rule%s\n", prefix, diff->how->n_rules,
                    diff->how->n_rules == 1 ? "" : "s");
    }
    buf->err = buf->err ? buf->err : line.err;
    dp_buf_release(&line);
}

void dp_gate_facts(struct dp_table *table, struct dp_pool *texts, const struct dp_gate *gate,
                   const struct dp_diff *diff)
{
    struct dp_buf line;
    dp_buf_init(&line);
    for (size_t i = 0; i < gate->n; i++) {
        const struct dp_finding *f = &gate->findings[i];
        line.len = 0;
        dp_buf_adds(&line, rule_of(diff, f));
        dp_buf_adds(&line, ": ");
        add_finding(&line, f, gate, diff);
        uint32_t n = line.err ? DP_MAP_NONE : dp_pool_intern(texts, line.ptr, line.len);
        table->no_memory = table->no_memory || n == DP_MAP_NONE;
        if (n != DP_MAP_NONE)
            dp_table_fact(table, is_failure(diff, f) ? "Failed" : "Undecided", "finding",
                          dp_cell_text(dp_pool_name(texts, n)->ptr, line.len), NULL);
    }
    dp_buf_release(&line);
}

void dp_gate_markdown(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff)
{
    struct dp_buf line;
    bool failed = gate->failed || (gate->undecided && diff->how->strict);
    dp_buf_init(&line);
    dp_buf_adds(buf, failed ? "### \xe2\x9d\x8c Gate failed\n\n"
                     : gate->undecided ? "### \xe2\x9d\x94 Gate undecided\n\n"
                     : "### \xe2\x9c\x85 Gate passed\n\n");
    for (size_t i = 0; i < gate->n; i++) {
        const struct dp_finding *f = &gate->findings[i];
        line.len = 0;
        dp_buf_adds(&line, rule_of(diff, f));
        dp_buf_adds(&line, ": ");
        add_finding(&line, f, gate, diff);
        dp_buf_adds(buf, is_failure(diff, f) ? "- **failed** " : "- **undecided** ");
        dp_render_markdown_code(buf, line.ptr, line.len);
        dp_buf_adds(buf, "\n");
    }
    dp_buf_adds(buf, gate->n ? "\n" : "");
    buf->err = buf->err ? buf->err : line.err;
    dp_buf_release(&line);
}

/* Appends a value as a number of JSON: seconds if the rule is about a time. */
static void json_number(struct dp_buf *buf, const struct dp_diff *diff, const struct dp_rule *rule,
                        uint64_t value)
{
    char num[DP_NUMBER_MAX];
    uint64_t hz = dp_diff_hz(diff, rule->measure);
    struct dp_cell cell = hz ? dp_cell_ticks(value) : dp_cell_count(value);
    dp_buf_add(buf, num, dp_render_number(num, &cell, hz, false));
}

void dp_gate_json(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff)
{
    struct dp_buf name;
    dp_buf_init(&name);
    dp_buf_adds(buf, "[");
    for (size_t i = 0; i < gate->n; i++) {
        const struct dp_finding *f = &gate->findings[i];
        const struct dp_rule *rule = &diff->how->rules[f->rule];
        name.len = 0;
        dp_gate_name(&name, f);
        dp_buf_adds(buf, i ? ", {\"rule\": " : "{\"rule\": ");
        dp_json_string(buf, rule->text, strlen(rule->text));
        dp_buf_addf(buf, ", \"undecided\": %s, \"side\": %" PRIu32 ", \"name\": ",
                    f->undecided ? "true" : "false", f->side);
        dp_json_string(buf, name.ptr, name.len);
        if (dp_gate_sub(f)) {
            dp_buf_adds(buf, ", \"sub\": ");
            dp_json_string(buf, dp_gate_sub(f)->ptr, dp_gate_sub(f)->len);
        }
        if (rule->kind == DP_RULE_GROWTH) {
            dp_buf_adds(buf, ", \"baseline\": ");
            json_number(buf, diff, rule, f->values.base);
            dp_buf_adds(buf, ", \"value\": ");
            json_number(buf, diff, rule, f->values.value);
        }
        dp_buf_adds(buf, "}");
    }
    dp_buf_adds(buf, "]");
    buf->err = buf->err ? buf->err : name.err;
    dp_buf_release(&name);
}

/* ---- a test for each rule ---- */

/* Counts the findings of a rule: those that make the gate fail, and those that too few runs leave
 * open. */
static void count_findings(const struct dp_gate *gate, const struct dp_diff *diff, size_t rule,
                           size_t *failed, size_t *undecided)
{
    *failed = *undecided = 0;
    for (size_t i = 0; i < gate->n; i++)
        if (gate->findings[i].rule == rule) {
            *failed += is_failure(diff, &gate->findings[i]);
            *undecided += !is_failure(diff, &gate->findings[i]);
        }
}

/* Appends the comparison as comments of TAP, because each other line would be taken for a test. */
static void add_tap_comments(struct dp_buf *buf, const char *ptr, size_t len)
{
    while (len) {
        const char *end = memchr(ptr, '\n', len);
        size_t n = end ? (size_t)(end - ptr) : len;
        dp_buf_adds(buf, n && *ptr != '#' ? "#  " : n ? "" : "#");
        dp_buf_add(buf, ptr, n);
        dp_buf_adds(buf, "\n");
        ptr += n + (end != NULL);
        len -= n + (end != NULL);
    }
}

/* Appends the findings of one rule. */
static void rule_findings(struct dp_buf *buf, const struct dp_gate *gate,
                          const struct dp_diff *diff, size_t rule, const char *prefix)
{
    struct dp_buf line;
    dp_buf_init(&line);
    for (size_t i = 0; i < gate->n; i++) {
        if (gate->findings[i].rule != rule)
            continue;
        line.len = 0;
        add_finding(&line, &gate->findings[i], gate, diff);
        dp_buf_adds(buf, prefix);
        add_escaped(buf, &line);
        dp_buf_adds(buf, "\n");
    }
    buf->err = buf->err ? buf->err : line.err;
    dp_buf_release(&line);
}

void dp_gate_tap(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff,
                 const char *table, size_t len)
{
    const struct dp_diff_how *how = diff->how;
    add_tap_comments(buf, table, len);
    for (size_t r = 0; r < how->n_rules; r++) {
        size_t failed, undecided;
        count_findings(gate, diff, r, &failed, &undecided);
        dp_buf_addf(buf, "%sok %zu - ", failed ? "not " : "", r + 1);
        add_tap(buf, how->rules[r].text, strlen(how->rules[r].text));
        dp_buf_adds(buf, "\n");
        rule_findings(buf, gate, diff, r, "#   ");
    }
    if (how->n_rules)
        dp_buf_addf(buf, "1..%zu\n", how->n_rules);
    else
        dp_buf_adds(buf, "ok 1 - compared\n1..1\n");
}

void dp_gate_junit(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff,
                   const char *table, size_t len)
{
    const struct dp_diff_how *how = diff->how;
    struct dp_buf text;
    size_t failures = 0, skipped = 0, failed, undecided;
    dp_buf_init(&text);
    for (size_t r = 0; r < how->n_rules; r++) {
        count_findings(gate, diff, r, &failed, &undecided);
        failures += failed > 0;
        skipped += !failed && undecided;
    }
    dp_buf_addf(buf,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite"
                " name=\"dprofdiff\" tests=\"%zu\" failures=\"%zu\""
                " errors=\"0\" skipped=\"%zu\">\n",
                how->n_rules ? how->n_rules : 1, failures, skipped);
    for (size_t r = 0; r < how->n_rules; r++) {
        count_findings(gate, diff, r, &failed, &undecided);
        dp_buf_adds(buf, "<testcase classname=\"dprofdiff\" name=\"");
        add_xml(buf, how->rules[r].text, strlen(how->rules[r].text), false);
        dp_buf_adds(buf, "\">");
        text.len = 0;
        rule_findings(&text, gate, diff, r, "");
        if (failed) {
            dp_buf_addf(buf, "<failure message=\"%zu crossed it\">\n", failed);
            add_xml(buf, text.ptr, text.len, true);
            dp_buf_adds(buf, "</failure>");
        } else if (undecided) {
            dp_buf_adds(buf, "<skipped message=\"");
            add_needed(buf, gate, diff->how->units);
            dp_buf_adds(buf, "\"/>");
        }
        dp_buf_adds(buf, "</testcase>\n");
    }
    if (!how->n_rules)
        dp_buf_adds(buf, "<testcase classname=\"dprofdiff\" name=\"compared\"></testcase>\n");
    dp_buf_adds(buf, "<system-out>\n");
    add_xml(buf, table, len, true);
    dp_buf_adds(buf, "</system-out>\n</testsuite>\n</testsuites>\n");
    buf->err = buf->err ? buf->err : text.err;
    dp_buf_release(&text);
}

/* ---- GitHub ---- */

/* Appends the file and the line at which GitHub shows a finding; nothing if they are unknown. */
static void add_place(struct dp_buf *buf, struct dp_diff *diff, const struct dp_gate *gate,
                      const struct dp_finding *f)
{
    struct dp_diff_place place;
    uint32_t entry = f->entry;
    if (f->diff == gate->lines)
        diff = gate->lines;
    if (entry == DP_GATE_TOTAL || !dp_diff_place(diff, entry, &place) || place.file->ptr[0] == '(')
        return;                 /* (eval) is not a file */
    dp_buf_adds(buf, " file=");
    add_github(buf, place.file->ptr, place.file->len, true);
    dp_buf_addf(buf, ",line=%" PRIu64, place.line);
}

void dp_gate_github(struct dp_buf *buf, const struct dp_gate *gate, struct dp_diff *diff)
{
    struct dp_buf line;
    dp_buf_init(&line);
    for (size_t i = 0; i < gate->n; i++) {
        const struct dp_finding *f = &gate->findings[i];
        line.len = 0;
        add_finding(&line, f, gate, diff);
        dp_buf_adds(buf, is_failure(diff, f) ? "::error" : "::warning");
        size_t begin = buf->len;
        add_place(buf, diff, gate, f);
        dp_buf_adds(buf, buf->len > begin ? ",title=" : " title=");
        add_github(buf, rule_of(diff, f), strlen(rule_of(diff, f)), true);
        dp_buf_adds(buf, "::");
        add_github(buf, line.ptr, line.len, false);
        dp_buf_adds(buf, "\n");
    }
    buf->err = buf->err ? buf->err : line.err;
    dp_buf_release(&line);
}
