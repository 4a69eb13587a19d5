/* Writes JSON piece by piece, and hands it to the sink from time to time. */
#ifndef DP_JSONOUT_H
#define DP_JSONOUT_H

#include "dp_buf.h"
#include "dp_io.h"
#include "dp_table.h"

/* A JSON writer. Callers put values into `line': with dp_json_string, dp_buf_addu, dp_buf_adds. */
struct dp_jsonout {
    struct dp_buf line;
    struct dp_sink *out;
    bool more;                  /* the open list or object has an element already */
};

void dp_jsonout_init(struct dp_jsonout *j, struct dp_sink *out);
/* Hands over the rest and frees the writer. Returns 0 or a DP_E. */
int dp_jsonout_end(struct dp_jsonout *j);

/* Opens and closes a list or an object: `[' or `{', and `]' or `}'. */
void dp_jsonout_open(struct dp_jsonout *j, char bracket);
void dp_jsonout_close(struct dp_jsonout *j, char bracket);

/* Begins an element of the list, on the same line or on a new one. */
void dp_jsonout_item(struct dp_jsonout *j);
void dp_jsonout_row(struct dp_jsonout *j);
/* Begins a member of the object. */
void dp_jsonout_key(struct dp_jsonout *j, const char *key);

/* Writes a member whose value is a text or a number. */
void dp_jsonout_text(struct dp_jsonout *j, const char *key, const char *ptr, size_t len);
void dp_jsonout_number(struct dp_jsonout *j, const char *key, uint64_t n);
/* Writes a member whose value is JSON already. */
void dp_jsonout_raw(struct dp_jsonout *j, const char *key, const char *json);

/* Writes nanoseconds as milliseconds, exactly. */
void dp_jsonout_ms(struct dp_jsonout *j, uint64_t ns);

#endif
