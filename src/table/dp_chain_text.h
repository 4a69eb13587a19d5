/* Call chains as text and as JSON. */
#ifndef DP_CHAIN_TEXT_H
#define DP_CHAIN_TEXT_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_chain.h"
#include "dprof/report.h"

/* Appends chains as text. of: the row's own value; hz: ticks per second, 0 if the metric is not a
 * time. */
void dp_chain_text(struct dp_buf *buf, const struct dp_chain *chain, const struct dp_overhead *over,
                   const struct dp_report *how, uint64_t of, uint64_t hz);

/* Appends chains as JSON: [{"name":..., "value":..., "own":..., "kids":[...]}, ...] */
void dp_chain_json(struct dp_buf *buf, const struct dp_chain *chain, const struct dp_overhead *over,
                   uint64_t hz);

#endif
