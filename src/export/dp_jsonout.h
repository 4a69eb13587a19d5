/* JSON that is written as it comes, and handed to the sink now and then. */
#ifndef DP_JSONOUT_H
#define DP_JSONOUT_H

#include "dp_buf.h"
#include "dp_io.h"
#include "dp_table.h"

/* Whoever writes puts values into `line': by dp_json_string, dp_buf_addu, dp_buf_adds. */
struct dp_jsonout {
    struct dp_buf line;
    struct dp_sink *out;
    bool more;                  /* the list or object that is open has something already */
};

void dp_jsonout_init(struct dp_jsonout *j, struct dp_sink *out);
/* Hands over the rest and frees. Returns 0 or a DP_E. */
int dp_jsonout_end(struct dp_jsonout *j);

/* Opens a list or an object, and closes it: `[' or `{', and `]' or `}'. */
void dp_jsonout_open(struct dp_jsonout *j, char bracket);
void dp_jsonout_close(struct dp_jsonout *j, char bracket);

/* Begins an element of the list, in the same line or in a new one. */
void dp_jsonout_item(struct dp_jsonout *j);
void dp_jsonout_row(struct dp_jsonout *j);
/* Begins a member of the object. */
void dp_jsonout_key(struct dp_jsonout *j, const char *key);

/* Members whose values are texts or numbers. */
void dp_jsonout_text(struct dp_jsonout *j, const char *key, const char *ptr, size_t len);
void dp_jsonout_number(struct dp_jsonout *j, const char *key, uint64_t n);
/* A member whose value is JSON already. */
void dp_jsonout_raw(struct dp_jsonout *j, const char *key, const char *json);

/* Milliseconds, exactly, of so many nanoseconds. */
void dp_jsonout_ms(struct dp_jsonout *j, uint64_t ns);

#endif
