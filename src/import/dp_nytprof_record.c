#include "dp_nytprof_record.h"

#include <string.h>

enum { TEXT_MAX = (int)(DP_LIMIT_LINE / 2) };   /* bytes of a name or a line of source */

/* Fields: u a number, n a time, s a text. */
static const struct form {
    char tag;
    const char *fields;
} forms[] = {
    { '+', "uuu" },
    { '*', "uuuuu" },
    { '-', "" },
    { '@', "uuuuuus" },
    { 'S', "uus" },
    { '>', "uu" },
    { '<', "unns" },
    { 's', "usuu" },
    { 'c', "uusunnnus" },
    { 'P', "uun" },
    { 'p', "un" },
};

/* Returns the form of the records with a tag, or NULL. */
static const struct form *form_of(char tag)
{
    for (size_t i = 0; i < DP_ARRAY_LEN(forms); i++)
        if (forms[i].tag == tag)
            return &forms[i];
    return NULL;
}

int dp_nytprof_need(struct dp_reader *r, size_t n)
{
    while (DP_UNLIKELY(r->in.end - r->in.pos < n)) {
        long got = dp_reader_refill(r);
        if (got <= 0)
            return got < 0 ? (int)got : DP_E_TRUNCATED;
    }
    return 0;
}

/* Reads a number. Its first byte says how many bytes follow; the highest come first. */
static int read_number(struct dp_reader *r, size_t *at, uint32_t *out)
{
    int rc = dp_nytprof_need(r, *at + 1);
    if (rc < 0)
        return rc;
    unsigned char c = (unsigned char)r->in.buf[r->in.pos + (*at)++];
    unsigned more = c < 0x80 ? 0 : c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xff ? 3 : 4;
    static const unsigned char bits[] = { 0x7f, 0x7f, 0x1f, 0x0f, 0 };
    uint32_t v = c & bits[more];
    if ((rc = dp_nytprof_need(r, *at + more)) < 0)
        return rc;
    for (; more; more--)
        v = v << 8 | (unsigned char)r->in.buf[r->in.pos + (*at)++];
    *out = v;
    return 0;
}

double dp_nytprof_swapped(double v)
{
    unsigned char from[sizeof v], to[sizeof v];
    memcpy(from, &v, sizeof v);
    for (size_t i = 0; i < sizeof v; i++)
        to[i] = from[sizeof v - 1 - i];
    memcpy(&v, to, sizeof v);
    return v;
}

/* Reads a field that is a double in the machine's byte order, and moves *at behind it. */
static int time_field(struct dp_reader *r, size_t *at, double *out)
{
    int rc = dp_nytprof_need(r, *at + sizeof *out);
    if (rc < 0)
        return rc;
    memcpy(out, r->in.buf + r->in.pos + *at, sizeof *out);
    *at += sizeof *out;
    return 0;
}

/* Reads a text. at: after the record's first byte; the text is that many bytes from there. */
static int text_field(struct dp_reader *r, size_t *at, size_t *from, size_t *len)
{
    uint32_t n;
    int rc = dp_nytprof_need(r, *at + 1);
    if (rc < 0)
        return rc;
    char tag = r->in.buf[r->in.pos + (*at)++];
    if (tag != '\'' && tag != '"')
        return dp_reader_fail(r, DP_E_SYNTAX, *at - 1, "there is no text where one should be");
    if ((rc = read_number(r, at, &n)) < 0)
        return rc;
    if (n > TEXT_MAX)
        return dp_reader_fail(r, DP_E_LIMIT, *at, "a text has %lu bytes", (unsigned long)n);
    if ((rc = dp_nytprof_need(r, *at + n)) < 0)
        return rc;
    *from = *at;
    *len = n;
    *at += n;
    return 0;
}

/* Reads the next record: its tag, numbers and texts. Reading may move the buffer, so texts get
 * their addresses at the end. */
int dp_nytprof_record(struct dp_reader *r, bool swapped, struct dp_nytprof_record *rec)
{
    size_t u = 0, n = 0, s = 0, at = 1, from[DP_NYTPROF_TEXTS], len[DP_NYTPROF_TEXTS];
    char tag = r->in.buf[r->in.pos];
    const struct form *form = form_of(tag);
    int rc = 0;
    if (!form)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "no record begins with the byte 0x%02x",
                              (unsigned char)tag);
    for (const char *field = form->fields; rc == 0 && *field; field++) {
        if (*field == 'u') {
            rc = read_number(r, &at, &rec->u[u++]);
        } else if (*field == 'n') {
            rc = time_field(r, &at, &rec->n[n]);
            if (rc == 0 && swapped)
                rec->n[n] = dp_nytprof_swapped(rec->n[n]);
            n++;
        } else {
            rc = text_field(r, &at, &from[s], &len[s]);
            s++;
        }
    }
    for (size_t i = 0; rc == 0 && i < s; i++)
        rec->s[i] = (struct dp_text){ r->in.buf + r->in.pos + from[i], len[i] };
    rec->tag = tag;
    rec->len = at;
    return rc;
}
