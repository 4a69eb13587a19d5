/* JSON that is written as it comes, and handed to the sink now and then. */
#ifndef DP_JSON_H
#define DP_JSON_H

#include "dp_buf.h"
#include "dp_io.h"
#include "dp_table.h"

/* Whoever writes puts values into `line': by dp_json_string, dp_buf_addu, dp_buf_adds. */
struct dp_json {
    struct dp_buf line;
    struct dp_sink *out;
    bool more;                  /* the list or object that is open has something already */
};

void dp_json_init(struct dp_json *j, struct dp_sink *out);
/* Hands over the rest and frees. Returns 0 or a DP_E. */
int dp_json_end(struct dp_json *j);

/* Opens a list or an object, and closes it: `[' or `{', and `]' or `}'. */
void dp_json_open(struct dp_json *j, char bracket);
void dp_json_close(struct dp_json *j, char bracket);

/* Begins an element of the list, in the same line or in a new one. */
void dp_json_item(struct dp_json *j);
void dp_json_row(struct dp_json *j);
/* Begins a member of the object. */
void dp_json_key(struct dp_json *j, const char *key);

/* Members whose values are texts or numbers. */
void dp_json_text(struct dp_json *j, const char *key, const char *ptr, size_t len);
void dp_json_number(struct dp_json *j, const char *key, uint64_t n);
/* A member whose value is JSON already. */
void dp_json_raw(struct dp_json *j, const char *key, const char *json);

/* Milliseconds, exactly, of so many nanoseconds. */
void dp_json_ms(struct dp_json *j, uint64_t ns);

#endif
