#include "dp_json.h"

#include <string.h>

enum { LINE = 4096 };           /* so much is kept back at the most, and what belongs to it */

void dp_json_init(struct dp_json *j, struct dp_sink *out)
{
    dp_buf_init(&j->line);
    j->out = out;
    j->more = false;
}

/* An error of the buffer stays. */
static void hand_over(struct dp_json *j)
{
    dp_sink_add(j->out, j->line.ptr, j->line.len);
    j->line.len = 0;
}

int dp_json_end(struct dp_json *j)
{
    hand_over(j);
    int rc = j->line.err ? j->line.err : j->out->err;
    dp_buf_release(&j->line);
    return rc;
}

void dp_json_open(struct dp_json *j, char bracket)
{
    dp_buf_addc(&j->line, bracket);
    j->more = false;
}

void dp_json_close(struct dp_json *j, char bracket)
{
    dp_buf_addc(&j->line, bracket);
    j->more = true;
}

void dp_json_item(struct dp_json *j)
{
    if (j->line.len >= LINE)
        hand_over(j);
    if (j->more)
        dp_buf_addc(&j->line, ',');
    j->more = true;
}

void dp_json_row(struct dp_json *j)
{
    dp_json_item(j);
    dp_buf_addc(&j->line, '\n');
}

void dp_json_key(struct dp_json *j, const char *key)
{
    dp_json_item(j);
    dp_json_string(&j->line, key, strlen(key));
    dp_buf_addc(&j->line, ':');
}

void dp_json_text(struct dp_json *j, const char *key, const char *ptr, size_t len)
{
    dp_json_key(j, key);
    dp_json_string(&j->line, ptr, len);
}

void dp_json_number(struct dp_json *j, const char *key, uint64_t n)
{
    dp_json_key(j, key);
    dp_buf_addu(&j->line, n);
}

void dp_json_raw(struct dp_json *j, const char *key, const char *json)
{
    dp_json_key(j, key);
    dp_buf_adds(&j->line, json);
}

void dp_json_ms(struct dp_json *j, uint64_t ns)
{
    dp_buf_addu(&j->line, ns / 1000000);
    unsigned rest = (unsigned)(ns % 1000000), digit = 100000;
    if (rest)
        dp_buf_addc(&j->line, '.');
    for (; rest; rest %= digit, digit /= 10)
        dp_buf_addc(&j->line, (char)('0' + rest / digit));
}
