/* The findings of a gate, for people and for machines that run tests. */
#ifndef DP_RENDER_GATE_H
#define DP_RENDER_GATE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_gate.h"
#include "dp_pool.h"
#include "dp_table.h"

/* Appends a value in a suitable unit: 1.23 ms. The value is rounded. */
void dp_human(struct dp_buf *buf, const struct dp_diff *diff, size_t measure, double value);

/* Appends `, p = 0.00123`. */
void dp_gate_p(struct dp_buf *buf, double p);

/* Appends the gate's result, in one line without its end: `failed, 3 findings`. */
void dp_gate_verdict(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff);

/* Appends the growth that a rule's test could have detected, and the number of runs that would
 * detect what the rule forbids. */
void dp_gate_power(struct dp_buf *buf, const struct dp_power *power, const struct dp_diff *diff);

/* The word for several runs: runs of a store belong to hosts, or to processes. */
const char *dp_gate_units(const char *unit);

/* Append findings as lines of text, as a list of Markdown, or as a JSON array of objects. Lines of
 * text begin with `FAIL` if the gate fails by the finding, or with `?` if there are too few runs to
 * decide. Without findings, there is one line with `ok` and the number of rules. */
void dp_gate_text(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff,
                  const char *prefix);
void dp_gate_markdown(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff);
void dp_gate_json(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff);

/* Adds findings as facts of a table; the pool keeps their texts. */
void dp_gate_facts(struct dp_table *table, struct dp_pool *texts, const struct dp_gate *gate,
                   const struct dp_diff *diff);

/* Whole outputs, with a test for each rule. table: the comparison as text. */
void dp_gate_tap(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff,
                 const char *table, size_t len);
void dp_gate_junit(struct dp_buf *buf, const struct dp_gate *gate, const struct dp_diff *diff,
                   const char *table, size_t len);
/* Appends annotations in GitHub's format, at the sub's file and line, or at the finding's line. */
void dp_gate_github(struct dp_buf *buf, const struct dp_gate *gate, struct dp_diff *diff);

#endif
