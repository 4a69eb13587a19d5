#include "dp_jsonout.h"

#include <string.h>

enum { LINE = 4096 };           /* largest number of bytes that are held back, together with their
                                 * line */

void dp_jsonout_init(struct dp_jsonout *j, struct dp_sink *out)
{
    dp_buf_init(&j->line);
    j->out = out;
    j->more = false;
}

/* Hands over the line. An error of the buffer remains. */
static void hand_over(struct dp_jsonout *j)
{
    dp_sink_add(j->out, j->line.ptr, j->line.len);
    j->line.len = 0;
}

int dp_jsonout_end(struct dp_jsonout *j)
{
    hand_over(j);
    int rc = j->line.err ? j->line.err : j->out->err;
    dp_buf_release(&j->line);
    return rc;
}

void dp_jsonout_open(struct dp_jsonout *j, char bracket)
{
    dp_buf_addc(&j->line, bracket);
    j->more = false;
}

void dp_jsonout_close(struct dp_jsonout *j, char bracket)
{
    dp_buf_addc(&j->line, bracket);
    j->more = true;
}

void dp_jsonout_item(struct dp_jsonout *j)
{
    if (j->line.len >= LINE)
        hand_over(j);
    if (j->more)
        dp_buf_addc(&j->line, ',');
    j->more = true;
}

void dp_jsonout_row(struct dp_jsonout *j)
{
    dp_jsonout_item(j);
    dp_buf_addc(&j->line, '\n');
}

void dp_jsonout_key(struct dp_jsonout *j, const char *key)
{
    dp_jsonout_item(j);
    dp_json_string(&j->line, key, strlen(key));
    dp_buf_addc(&j->line, ':');
}

void dp_jsonout_text(struct dp_jsonout *j, const char *key, const char *ptr, size_t len)
{
    dp_jsonout_key(j, key);
    dp_json_string(&j->line, ptr, len);
}

void dp_jsonout_number(struct dp_jsonout *j, const char *key, uint64_t n)
{
    dp_jsonout_key(j, key);
    dp_buf_addu(&j->line, n);
}

void dp_jsonout_raw(struct dp_jsonout *j, const char *key, const char *json)
{
    dp_jsonout_key(j, key);
    dp_buf_adds(&j->line, json);
}

void dp_jsonout_ms(struct dp_jsonout *j, uint64_t ns)
{
    dp_buf_addu(&j->line, ns / 1000000);
    char decimals[7] = ".";
    size_t len = sizeof decimals;
    dp_buf_putd(decimals + 1, ns % 1000000, 6);
    while (len && decimals[len - 1] == (len > 1 ? '0' : '.'))
        len--;
    dp_buf_add(&j->line, decimals, len);
}
