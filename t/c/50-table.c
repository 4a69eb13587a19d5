/* Tables in every format: numbers, layout, hostile names read back, no memory. */
#include "tap.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_render.h"
#include "dp_table.h"
#include "dp_text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const struct dp_column columns[] = {
    { "Children", "children_pct", 0, false },
    { "Self", "self_pct", 0, false },
    { "Seconds", "self_sec", 0, false },
    { "Symbol", "symbol", 0, true },
};
enum { COLUMNS = 4, CALLS_HZ = 10000000 };

/* ---- printing into memory ---- */

static char *out;
static size_t out_len, out_cap;

static int collect(void *ctx, const void *ptr, size_t n)
{
    (void)ctx;
    if (out_len + n + 1 > out_cap) {
        out_cap = 2 * (out_len + n + 1);
        out = realloc(out, out_cap);
    }
    memcpy(out + out_len, ptr, n);
    out_len += n;
    out[out_len] = '\0';
    return 0;
}

static int print_how(const struct dp_table *t, const struct dp_table_how *how)
{
    static struct dp_sink sink;
    dp_sink_init(&sink, collect, NULL);
    out_len = 0;
    collect(NULL, "", 0);
    return dp_table_print(t, how, &sink);
}

static const char *print(const struct dp_table *t, int format)
{
    struct dp_table_how how = { .format = format, .title = "perl <x>" };
    int rc = print_how(t, &how);
    return rc < 0 ? dp_err_text(rc) : out;
}

static struct dp_cell text_cell(const char *str)
{
    return dp_cell_text(str, strlen(str));
}

static void add_row(struct dp_table *t, double children, double self, uint64_t ticks,
                    const char *name, size_t len)
{
    struct dp_cell *cells = dp_table_row(t);
    if (!cells)
        return;
    cells[0] = dp_cell_percent(children);
    cells[1] = dp_cell_percent(self);
    cells[2] = dp_cell_ticks(ticks);
    cells[3] = dp_cell_text(name, len);
}

static void make(struct dp_table *t)
{
    dp_table_init(t, columns, COLUMNS, CALLS_HZ);
    dp_table_fact(t, "Total", "total", dp_cell_ticks(12345678), "s");
    dp_table_fact(t, "Script", "script", text_cell("a b.pl"), NULL);
    dp_table_fact(t, "Missing", "missing", (struct dp_cell){ .kind = DP_CELL_EMPTY }, "s");
    add_row(t, 100, 25.5, 3148148, "(program)", 9);
    dp_table_last(t)->tint = 2;
    dp_table_last(t)->block = (struct dp_block){ "            |\n            ---main::a\n", 37,
                                                 "[\"main::a\"]", 11 };
    add_row(t, 74.5, 74.5, 9197530, "main::a, \"b\"", 12);
    dp_table_last(t)->tint = 1;
    struct dp_cell *cells = dp_table_row(t);
    cells[1] = dp_cell_percent(0.004);
}

/* ---- goldens ---- */

static void goldens(void)
{
    struct dp_table t;
    make(&t);
    is_s(print(&t, DP_TEXT),
         "# Total: 1.2345678 s\n# Script: a b.pl\n#\n"
         "Children    Self    Seconds  Symbol\n"
         "........  ......  .........  ............\n"
         "\n"
         " 100.00%  25.50%  0.3148148  (program)\n"
         "            |\n            ---main::a\n\n"
         "  74.50%  74.50%  0.9197530  main::a, \"b\"\n"
         "           0.00%\n", "text");
    struct dp_table_how how = { .format = DP_TEXT, .quiet = true, .colour = true };
    print_how(&t, &how);
    is_s(out, " \x1b[31m100.00%\x1b[m  \x1b[31m25.50%\x1b[m  0.3148148  (program)\n"
              "            |\n            ---main::a\n\n"
              "  \x1b[32m74.50%\x1b[m  \x1b[32m74.50%\x1b[m  0.9197530  main::a, \"b\"\n"
              "           0.00%\n", "text, rows only, in colours");
    how = (struct dp_table_how){ .format = DP_TEXT, .separator = ",", .colour = true };
    print_how(&t, &how);
    is_s(out, "# Total: 1.2345678 s\n# Script: a b.pl\n#\n"
              "# Children,Self,Seconds,Symbol\n"
              "100.00%,25.50%,0.3148148,(program)\n"
              "74.50%,74.50%,0.9197530,main::a. \"b\"\n"
              ",0.00%,,\n", "fields");
    is_s(print(&t, DP_CSV),
         "children_pct,self_pct,self_sec,symbol\n"
         "100.00,25.50,0.3148148,(program)\n"
         "74.50,74.50,0.9197530,\"main::a, \"\"b\"\"\"\n"
         ",0.00,,\n", "CSV");
    is_s(print(&t, DP_JSON),
         "{\n  \"total\": 1.2345678,\n  \"script\": \"a b.pl\",\n  \"missing\": null,\n"
         "  \"columns\": [{\"key\": \"children_pct\", \"title\": \"Children\"}, {\"key\":"
         " \"self_pct\", \"title\": \"Self\"},"
         " {\"key\": \"self_sec\", \"title\": \"Seconds\"}, {\"key\": \"symbol\", \"title\":"
         " \"Symbol\"}],\n  \"rows\": [\n"
         "    {\"children_pct\": 100.00, \"self_pct\": 25.50, \"self_sec\": 0.3148148, \"symbol\":"
         " \"(program)\","
         " \"chain\": [\"main::a\"]},\n"
         "    {\"children_pct\": 74.50, \"self_pct\": 74.50, \"self_sec\": 0.9197530, \"symbol\":"
         " \"main::a, \\\"b\\\"\"},\n"
         "    {\"children_pct\": null, \"self_pct\": 0.00, \"self_sec\": null, \"symbol\": null}\n"
         "  ]\n}\n",
         "JSON");
    is_s(print(&t, DP_MARKDOWN),
         "- Total: 1.2345678 s\n- Script: `a b.pl`\n\n"
         "| Children | Self | Seconds | Symbol |\n| ---: | ---: | ---: | :--- |\n"
         "| 100.00% | 25.50% | 0.3148148 | `(program)` |\n"
         "| 74.50% | 74.50% | 0.9197530 | `main::a, \"b\"` |\n"
         "|  | 0.00% |  |  |\n", "Markdown");
    const char *page = print(&t, DP_HTML);
    ok(strncmp(page, "<!DOCTYPE html>\n<html lang=\"en\">\n", 33) == 0
           && strstr(page, "<meta charset=\"utf-8\">")
           && strstr(page, "<title>perl &lt;x&gt;</title>"),
       "HTML: language, charset, title");
    ok(!strstr(page, "<script") && !strstr(page, "http:") && !strstr(page, "https:")
           && !strstr(page, "url(") && !strstr(page, "@import"),
       "no script, no request");
    ok(strstr(page, "prefers-color-scheme: dark") && strstr(page, "@media print")
           && strstr(page, "tabular-nums"),
       "its style");
    ok(strstr(page, "<dt>Total</dt><dd>1.2345678 s</dd>") && !strstr(page, "Missing"), "facts");
    ok(strstr(page,
              "<tr><td class=\"hot\">100.00%</td><td class=\"hot\">25.50%</td><td>0.3148148</td>"
              "<td class=\"l\">(program)</td></tr>\n<tr class=\"below\"><td class=\"b\""
              " colspan=\"4\"><pre>\n"
              "            |\n            ---main::a\n</pre></td></tr>\n")
           != NULL,
       "a row and what stands below it");
    ok(strstr(page, "main::a, &quot;b&quot;") != NULL, "escaped");
    dp_table_release(&t);
}

static void quiet(void)
{
    struct dp_table t;
    struct dp_table_how how = { .quiet = true };
    make(&t);
    how.format = DP_CSV;
    print_how(&t, &how);
    ok(strncmp(out, "100.00,", 7) == 0, "CSV: no header");
    how.format = DP_MARKDOWN;
    print_how(&t, &how);
    ok(strncmp(out, "| Children", 10) == 0, "Markdown: no facts");
    how.format = DP_JSON;
    print_how(&t, &how);
    ok(strstr(out, "\"total\"") != NULL, "JSON: always whole");
    how.format = DP_TEXT;
    how.separator = ";";
    print_how(&t, &how);
    ok(strncmp(out, "100.00%;", 8) == 0, "fields: rows only");
    how.format = 99;
    is_i(print_how(&t, &how), DP_E_ARG, "no such format");
    dp_table_release(&t);
}

static void separators(void)
{
    struct dp_table t;
    struct dp_table_how how = { .format = DP_TEXT, .quiet = true };
    dp_table_init(&t, columns + 3, 1, 1);
    *dp_table_row(&t) = text_cell("a::b \xe2\x94\x82::\xe2\x94\x82");
    how.separator = "::";
    print_how(&t, &how);
    is_s(out, "a..b \xe2\x94\x82..\xe2\x94\x82\n",
         "the first character of a separator is none of a name");
    how.separator = "\xe2\x94\x82-";
    print_how(&t, &how);
    is_s(out, "a::b .::.\n", "the whole of it");
    how.separator = "\xe2";
    is_i(print_how(&t, &how), 0, "half a character");
    how.separator = "";
    print_how(&t, &how);
    is_s(out, "a::b \xe2\x94\x82::\xe2\x94\x82\n", "none");
    how.separator = ".";
    is_i(print_how(&t, &how), DP_E_ARG, "a dot is refused");
    dp_table_release(&t);
}

static void layout(void)
{
    static const struct dp_column cols[] = { { "N", "n", 6, false },
                                             { "Name", "name", 0, true },
                                             { "Where", "where", 0, true } };
    static char wide[300];
    struct dp_table t;
    dp_table_init(&t, cols, 3, 1);
    struct dp_cell *cells = dp_table_row(&t);
    cells[0] = dp_cell_count(7);
    cells[1] = text_cell("\xe6\x97\xa5\xe6\x9c\xac");       /* two wide ones */
    cells[2] = text_cell("x");
    cells = dp_table_row(&t);
    cells[1] = text_cell("e\xcc\x81");                      /* one, accented */
    cells[2] = text_cell("y");
    cells = dp_table_row(&t);
    cells[0] = dp_cell_count(1234567);
    cells[1] = text_cell("\xd0\xb4\xd0\xb0");
    dp_table_last(&t)->indent = 1;
    dp_table_row(&t);
    memset(wide, 'w', sizeof wide);
    cells = dp_table_row(&t);
    cells[1] = dp_cell_text(wide, sizeof wide);
    cells[2] = text_cell("z");
    const char *text = print(&t, DP_TEXT);
    static const char want[] = "      N  Name  Where\n.......  ....  .....\n\n"
                               "      7  \xe6\x97\xa5\xe6\x9c\xac  x\n"
                               "         e\xcc\x81     y\n"
                               "1234567    \xd0\xb4\xd0\xb0\n"
                               "\n"
                               "         www";
    ok(strncmp(text, want, sizeof want - 1) == 0, "columns of a terminal");
    is_s(text + strlen(text) - 7, "wwww  z\n" + 1, "what is too wide juts out");
    struct dp_table empty;
    dp_table_init(&empty, cols, 3, 1);
    is_s(print(&empty, DP_TEXT), "     N  Name  Where\n......  ....  .....\n\n",
         "no rows; the least width");
    is_s(print(&empty, DP_CSV), "n,name,where\n", "CSV without rows");
    is_s(strstr(print(&empty, DP_JSON), "\"rows\""), "\"rows\": []\n}\n", "JSON without rows");
    dp_table_release(&empty);
    t.n_rows = 3;
    is_s(print(&t, DP_CSV),
         "n,name,where,level\n7,\xe6\x97\xa5\xe6\x9c\xac,x,0\n,e\xcc\x81,y,0\n1234567,"
         "\xd0\xb4\xd0\xb0,,1\n",
         "levels in CSV");
    ok(strstr(print(&t, DP_JSON), "\"where\": null, \"level\": 1}") != NULL, "in JSON");
    ok(strstr(print(&t, DP_MARKDOWN), "| 1234567 | &nbsp;&nbsp;`\xd0\xb4\xd0\xb0` |  |") != NULL,
       "in Markdown");
    ok(strstr(print(&t, DP_HTML),
              "<td class=\"l\" style=\"padding-left: calc(.7em + 2ch)\">\xd0\xb4")
           != NULL,
       "in HTML");
    dp_table_release(&t);
    is_u(dp_text_columns("\xf0\x9f\x98\x80", 4), 2, "a picture is wide");
    is_u(dp_text_columns("\xea\xb0\x80\xef\xbd\xb1", 6), 3, "so is Hangul, half-width kana is not");
    is_u(dp_text_columns("\xff", 1), 1, "no character");
}

/* ---- numbers ---- */

static const char *number(struct dp_cell cell, uint64_t hz, bool people)
{
    static char to[DP_NUMBER_MAX + 1];
    to[dp_render_number(to, &cell, hz, people)] = '\0';
    return to;
}

static struct dp_cell real(double v, unsigned decimals, bool sign)
{
    return (struct dp_cell){ .kind = DP_CELL_REAL, .real = v, .decimals = decimals, .sign = sign };
}

static struct dp_cell percent(double v, bool sign)
{
    return (struct dp_cell){ .kind = DP_CELL_PERCENT, .real = v, .sign = sign };
}

static void numbers(void)
{
    is_s(number(percent(1.23, true), 1, true), "+1.23%", "more");
    is_s(number(percent(-0.5, true), 1, true), "-0.50%", "less");
    is_s(number(percent(-0.5, false), 1, false), "-0.50", "for machines");
    is_s(number(percent(1.23, true), 1, false), "1.23", "where a plus is no number");
    is_s(number(percent(-0.001, true), 1, true), "0.00%", "nothing");
    is_s(number(percent(100, false), 1, true), "100.00%", "all");
    is_s(number(percent(NAN, false), 1, true), "", "not a number");
    is_s(number(percent(-INFINITY, false), 1, true), "", "no end of it");
    is_s(number(real(1, 6, false), 1, true), "1.000000", "a ratio");
    is_s(number(real(-0.0, 9, false), 1, true), "0.000000000", "minus nothing");
    is_s(number(real(0.9999999, 6, false), 1, true), "1.000000", "carried");
    is_s(number(real(2.5, 0, true), 1, true), "+2", "no decimals, half to even");
    is_u(strlen(number(real(-DBL_MAX, 1000, false), 1, true)), 1 + 309 + 1 + 40, "the longest");
    struct dp_cell count = dp_cell_count(UINT64_MAX);
    is_s(number(count, 1, false), "18446744073709551615", "2^64-1");
    count.negative = true;
    is_s(number(count, 1, true), "-18446744073709551615", "and less");
    count = dp_cell_count(0);
    count.sign = count.negative = true;
    is_s(number(count, 1, true), "0", "zero has no sign");
    struct dp_cell ticks = dp_cell_ticks(5);
    ticks.sign = true;
    is_s(number(ticks, 100, true), "+0.05", "ticks more");
    ticks.negative = true;
    is_s(number(ticks, 100, false), "-0.05", "ticks less");
}

/* The C library agrees on every double, near halves too. */
static void doubles(void)
{
    char want[64];
    uint64_t seed = 12345;
    unsigned wrong = 0;
    for (int i = 0; i < 300000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        unsigned decimals = (unsigned)(seed >> 60) % 8;
        double v = (double)(seed >> 40) / (i % 3 == 0 ? 2000 : i % 3 == 1 ? 8 : 77777);
        if (i % 7 == 0)
            v = -v;
        snprintf(want, sizeof want, "%.*f", (int)decimals, v);
        if (strspn(want, "-0.") == strlen(want) && want[0] == '-')
            memmove(want, want + 1, strlen(want));
        wrong += strcmp(number(real(v, decimals, false), 1, true), want) != 0;
    }
    is_u(wrong, 0, "rounded as the C library does");
}

static const char *seconds(uint64_t ticks, uint64_t hz)
{
    return number(dp_cell_ticks(ticks), hz, true);
}

static void times(void)
{
    is_s(seconds(12345678, 10000000), "1.2345678", "100 ns");
    is_s(seconds(10000000, 10000000), "1.0000000", "as many decimals as ticks have");
    is_s(seconds(7, 1), "7", "whole seconds");
    is_s(seconds(7, 0), "7", "no rate at all");
    is_s(seconds(UINT64_C(1) << 62, UINT64_C(1000000000000)), "4611686.018427387904",
         "the longest time");
    is_s(seconds(UINT64_MAX, 10000000), "1844674407370.9551615", "beyond what a double holds");
    is_s(seconds(1, 128), "0.0078125", "no power of ten, yet exact");
    is_s(seconds(2, 3), "0.7", "rounded");
    is_s(seconds(299, 300), "0.997", "and told from the next");
    is_s(seconds(298, 300), "0.993", "tick");
    is_s(seconds(98, 99), "0.99", "up");
    is_s(seconds(199, 1000001), "0.0001990", "a carry");
    unsigned same = 0, far = 0;
    char last[80] = "";
    for (uint64_t i = 0; i < 3000; i++) {
        same += strcmp(last, seconds(i, 2999)) == 0;
        snprintf(last, sizeof last, "%s", seconds(i, 2999));
        far += fabs(strtod(last, NULL) - (double)i / 2999) > 0.00005 + 1e-12;
    }
    is_u(same, 0, "no two ticks look the same");
    is_u(far, 0, "nor far from what they are");
}

/* ---- readers of each format ---- */

/* A JSON value at *p; strict. Strings are decoded into str, the last one stays. */
static char str[100000];
static size_t str_len;

static void blanks(const char **p) { *p += strspn(*p, " \n"); }

static void put_code(uint32_t c)
{
    char *to = str + str_len;
    if (c < 0x80) {
        to[0] = (char)c;
        str_len += 1;
    } else if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        str_len += 2;
    } else {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        str_len += 3;
    }
}

static bool json_string(const char **p)
{
    str_len = 0;
    if (*(*p)++ != '"')
        return false;
    for (; **p != '"'; (*p)++) {
        if ((unsigned char)**p < 0x20)
            return false;
        if (**p != '\\') {
            str[str_len++] = **p;
            continue;
        }
        (*p)++;
        if (**p == '"' || **p == '\\') {
            str[str_len++] = **p;
        } else if (**p == 'u' && strspn(*p + 1, "0123456789abcdef") >= 4) {
            char hex[5] = "";
            memcpy(hex, *p + 1, 4);
            unsigned long c = strtoul(hex, NULL, 16);
            if (c >= 0xd800 && c < 0xe000)
                return false;           /* a lone surrogate; we write no pairs */
            put_code((uint32_t)c);
            *p += 4;
        } else {
            return false;
        }
    }
    (*p)++;
    return true;
}

static bool json_number(const char **p)
{
    const char *from = *p += **p == '-';
    size_t n = strspn(*p, "0123456789");
    *p += n;
    if (n == 0 || (n > 1 && *from == '0'))
        return false;
    if (**p != '.')
        return true;
    n = strspn(++*p, "0123456789");
    *p += n;
    return n > 0;
}

static bool json_value(const char **p);

static bool json_list(const char **p, char end, bool keys)
{
    (*p)++;
    blanks(p);
    if (**p == end)
        return (*p)++, true;
    for (;;) {
        blanks(p);
        if (keys) {
            if (!json_string(p) || *(*p)++ != ':')
                return false;
            blanks(p);
        }
        if (!json_value(p))
            return false;
        blanks(p);
        if (**p == end)
            return (*p)++, true;
        if (*(*p)++ != ',')
            return false;
    }
}

static bool json_value(const char **p)
{
    switch (**p) {
    case '{': return json_list(p, '}', true);
    case '[': return json_list(p, ']', false);
    case '"': return json_string(p);
    case 'n': *p += 4; return memcmp(*p - 4, "null", 4) == 0;
    }
    return json_number(p);
}

static bool is_json(const char *p)
{
    bool good = json_value(&p);
    blanks(&p);
    return good && *p == '\0';
}

/* Everything printed is UTF-8, and nothing but newlines is a control or turns the direction. */
static bool is_clean(const char *p, size_t len)
{
    for (size_t i = 0, n; i < len; i += n)
        if ((n = dp_text_char(p + i, len - i)) == 0
            || (p[i] != '\n' && dp_text_is_unseen(p + i, n)))
            return false;
    return true;
}

static size_t lines(void)
{
    size_t n = 0;
    for (size_t i = 0; i < out_len; i++)
        n += out[i] == '\n';
    return n;
}

/* A field of CSV at *p into str. */
static char csv_field(const char **p)
{
    bool quoted = **p == '"';
    str_len = 0;
    for (*p += quoted; **p; (*p)++) {
        if (quoted && **p == '"') {
            if ((*p)[1] != '"') {
                (*p)++;
                break;
            }
            (*p)++;
        } else if (!quoted && (**p == ',' || **p == '\n' || **p == '"')) {
            break;
        }
        str[str_len++] = **p;
    }
    return *(*p)++;
}

/* A cell of GitHub's table at *p into str: an escaped pipe is one of the text. */
static char md_cell(const char **p)
{
    str_len = 0;
    for (; **p && **p != '\n' && **p != '|'; (*p)++) {
        if (**p == '\\' && (*p)[1] == '|')
            (*p)++;
        str[str_len++] = **p;
    }
    return *(*p)++;
}

/* str: a cell that is one code span. Leaves what it shows. */
static bool md_code(void)
{
    size_t from = 1, to = str_len - 1, n = 0, run = 0;
    if (str_len < 2 || str[0] != ' ' || str[to] != ' ')
        return false;
    while (str[from + n] == '`')
        n++;
    from += n;
    to -= n;
    if (!n || to <= from || str[from - 1] != '`' || memcmp(str + to, str + from - n, n) != 0)
        return false;
    for (size_t i = from; i <= to; i++) {       /* no run inside closes it */
        if (i < to && str[i] == '`') {
            run++;
            continue;
        }
        if (run == n || (i == to && run))
            return false;
        run = 0;
    }
    bool blank = true;
    for (size_t i = from; i < to; i++)
        blank = blank && str[i] == ' ';
    if (!blank && str[from] == ' ' && str[to - 1] == ' ')
        from++, to--;
    memmove(str, str + from, to - from);
    str_len = to - from;
    return true;
}

/* The text of the last td, decoded. */
static bool html_cell(void)
{
    static const struct { const char *as; char c; } entities[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&#39;", '\'' } };
    const char *end = strstr(out, "</td></tr>\n</tbody>"), *p = strstr(out, "<td class=\"l\">");
    if (!end || !p)
        return false;
    str_len = 0;
    for (p += 14; p < end; p++) {
        if (strchr("<>\"'", *p))
            return false;
        char c = *p;
        if (c == '&') {
            size_t i = 0;
            while (i < 5 && strncmp(p, entities[i].as, strlen(entities[i].as)) != 0)
                i++;
            if (i == 5)
                return false;
            c = entities[i].c;
            p += strlen(entities[i].as) - 1;
        }
        str[str_len++] = c;
    }
    return true;
}

/* ---- hostile names ---- */

static bool shows(const struct dp_buf *want, size_t skip)
{
    return str_len - skip == want->len && memcmp(str + skip, want->ptr, want->len) == 0;
}

static void name_in_csv(const struct dp_table *t, const char *what, const struct dp_buf *want,
                        bool formula)
{
    const char *p = print(t, DP_CSV);
    bool good = is_clean(out, out_len) && lines() == 2;
    for (int c = 0; c < 2 * COLUMNS && good; c++)
        good = csv_field(&p) == (c % COLUMNS == COLUMNS - 1 ? '\n' : ',');
    ok(good && *p == '\0' && shows(want, formula) && (!formula || str[0] == '\''), "CSV: %s", what);
}

/* Only what is no UTF-8 is not as it was. */
static void name_in_json(const struct dp_table *t, const char *what, const char *ptr, size_t len)
{
    static struct dp_buf want;
    const char *p = print(t, DP_JSON);
    dp_buf_clear(&want);
    for (size_t i = 0, n; i < len; i += n ? n : 1)
        if ((n = dp_text_char(ptr + i, len - i)) != 0)
            dp_buf_add(&want, ptr + i, n);
        else
            dp_buf_addf(&want, "\\x%02x", (unsigned char)ptr[i]);
    dp_buf_cstr(&want);
    bool good = is_json(p) && is_clean(out, out_len) && !memchr(out, '<', out_len);
    p = strstr(p, "\"symbol\": ") + 10;
    good = json_string(&p) && good;
    ok(good && shows(&want, 0), "JSON: %s", what);
}

static void name_in_markdown(const struct dp_table *t, const char *what, const struct dp_buf *want)
{
    const char *p = strstr(print(t, DP_MARKDOWN), "\n| 1.00%") + 2;
    bool good = is_clean(out, out_len) && lines() == 3;
    for (int c = 0; c < COLUMNS && good; c++)
        good = md_cell(&p) == '|';
    ok(good && *p == '\n' && (want->len ? md_code() && shows(want, 0) : str_len == 2),
       "Markdown: %s", what);
}

static void name_in_text(const struct dp_table *t, const char *what, const struct dp_buf *want)
{
    struct dp_table_how how = { .format = DP_TEXT, .separator = "\t" };
    print(t, DP_TEXT);
    bool good = is_clean(out, out_len) && lines() == 4 && out_len > want->len
                && memcmp(out + out_len - 1 - want->len, want->ptr, want->len) == 0;
    print_how(t, &how);
    how.quiet = true;
    char *p = strrchr(out, '\t');
    good = good && lines() == 2 && p && strlen(p) == want->len + 2
           && memcmp(p + 1, want->ptr, want->len) == 0;
    ok(good, "text: %s", what);
}

static void hostile_one(const char *what, const char *ptr, size_t len, bool formula)
{
    static struct dp_buf want;
    struct dp_table t;
    dp_buf_clear(&want);
    dp_text_escape(&want, ptr, len);
    dp_buf_cstr(&want);
    dp_table_init(&t, columns, COLUMNS, CALLS_HZ);
    add_row(&t, 1, 1, 1, ptr, len);
    name_in_text(&t, what, &want);
    name_in_csv(&t, what, &want, formula);
    name_in_json(&t, what, ptr, len);
    name_in_markdown(&t, what, &want);
    print(&t, DP_HTML);
    ok(html_cell() && is_clean(out, out_len) && shows(&want, 0), "HTML: %s", what);
    dp_table_release(&t);
}

#define HOSTILE(what, s, formula) hostile_one(what, s, sizeof s - 1, formula)

static void hostile(void)
{
    static char big[10000], ticks[600];
    HOSTILE("nothing", "", false);
    HOSTILE("a script's end", "</script><!--<script>", false);
    HOSTILE("markup", "<img src=x onerror='a(\"&lt;\")'>", false);
    HOSTILE("pipes", "a|b\\|c\\\\|d|", false);
    HOSTILE("newlines", "a\nb\r\n| x |\n", false);
    HOSTILE("direction", "a\xe2\x80\xae" "b\xe2\x81\xa6", false);
    HOSTILE("line separators", "a\xe2\x80\xa8" "b\xe2\x80\xa9\xc2\x85", false);
    HOSTILE("NUL", "a\0b", false);
    HOSTILE("a terminal's", "\x1b[31m\x9b\x7f\xc2\x9b", false);
    HOSTILE("no UTF-8", "\xff\xc3(\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82", false);
    HOSTILE("UTF-8", "\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80", false);
    HOSTILE("a formula", "=cmd|' /C calc'!A0", true);
    HOSTILE("plus", "+1", true);
    HOSTILE("minus", "-1", true);
    HOSTILE("at", "@SUM(1)", true);
    HOSTILE("a tab", "\tx", true);
    HOSTILE("a return", "\rx", true);
    HOSTILE("blanks", "  =1+1", true);
    HOSTILE("other blanks", "\xc2\xa0\xe3\x80\x80=1", true);
    HOSTILE("full width", "\xef\xbc\x9d" "1", true);
    HOSTILE("an apostrophe", "'a", false);
    HOSTILE("only blanks", "   ", false);
    HOSTILE("blanks around", " a ", false);
    HOSTILE("percents", "%s%n%d%", false);
    HOSTILE("quotes", "\"\"a\",\"b\\\"", false);
    HOSTILE("backticks", "`a``b```", false);
    HOSTILE("one backtick", "`", false);
    HOSTILE("a mention", "@org/team #12 https://example.org www.example.org", true);
    HOSTILE("formatting", "*a* _b_ ~c~ [d](e) ![f](g) &amp; \\* $x$", false);
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = "a|`<\"\n\xff"[(i * i + i / 3) % 7];
    hostile_one("10,000 bytes", big, sizeof big, false);
    memset(ticks, '`', sizeof ticks);
    /* every length of a fence, up to 32 */
    for (size_t at = 0, run = 1; at <= 560; at += ++run)
        ticks[at] = '.';
    struct dp_table t;
    dp_table_init(&t, columns, COLUMNS, CALLS_HZ);
    add_row(&t, 1, 1, 1, ticks, 594);
    ok(strstr(print(&t, DP_MARKDOWN), "` .\\x60.\\x60\\x60.") != NULL,
       "Markdown: no fence is left");
    dp_table_release(&t);
}

/* Titles, keys and labels may be names of counters that a file made up. */
static void hostile_titles(void)
{
    static const struct dp_column cols[] = { { "a|<b>\n\xff,", "k\"\n\xff</script>,", 0, true },
                                             { "x", "x", 0, false } };
    struct dp_table t;
    dp_table_init(&t, cols, 2, 1);
    dp_table_fact(&t, "l\n<i>|", "f\"\\\n", text_cell("v\n|`</script>"), "u\n*");
    for (int format = DP_TEXT; format <= DP_HTML; format++) {
        const char *s = print(&t, format);
        ok(is_clean(out, out_len)
               && !strstr(s, "</script>")
                      == (format != DP_CSV && format != DP_MARKDOWN && format != DP_TEXT),
           "titles in format %d", format);
    }
    ok(is_json(print(&t, DP_JSON)), "JSON is JSON");
    is_s(print(&t, DP_TEXT),
         "# l\\x0a<i>|: v\\x0a|`</script> u\\x0a*\n#\na|<b>\\x0a\\xff,  x\n.............."
         "  .\n\n"
             + 0,
         "text");
    is_s(print(&t, DP_MARKDOWN),
         "- `l\\x0a<i>|`: ``v\\x0a|`</script>`` `u\\x0a*`\n\n| `a\\|<b>\\x0a\\xff,` | x |\n| :---"
         " | ---: |\n",
         "Markdown");
    is_s(print(&t, DP_CSV), "\"k\"\"\\x0a\\xff</script>,\",x\n", "CSV");
    dp_table_release(&t);
}

/* ---- what fails ---- */

static int refuse(void *ctx, const void *ptr, size_t n)
{
    (void)ctx, (void)ptr, (void)n;
    return DP_E_IO;
}

static void no_memory(void)
{
    static const char *const separators[] = { NULL, ";" };
    unsigned failed = 0, printed = 0, odd = 0;
    long before = dp_mem_live();
    for (int format = DP_TEXT; format <= DP_HTML; format++)
        for (long n = 0; n < 60; n++) {
            struct dp_table t;
            struct dp_table_how how = { .format = format, .separator = separators[n % 2] };
            dp_table_init(&t, columns, COLUMNS, CALLS_HZ);
            dp_mem_fail_after(n / 2);
            dp_table_fact(&t, "L\n", "k", text_cell("v\n"), NULL);
            for (int i = 0; i < 40; i++)
                add_row(&t, 1, 1, 1, "name\n<>|", 8);
            int rc = print_how(&t, &how);
            dp_mem_fail_after(-1);
            failed += rc == DP_E_NOMEM;
            printed += rc == 0;
            odd += rc != 0 && rc != DP_E_NOMEM;
            dp_table_release(&t);
        }
    ok(failed > 5 * 10 && printed > 5 * 10 && !odd, "memory that ends: said so, or printed");
    is_i(dp_mem_live(), before, "and nothing kept");
    static struct dp_sink sink;
    struct dp_table_how how = { .format = DP_TEXT };
    struct dp_table t;
    make(&t);
    dp_sink_init(&sink, refuse, NULL);
    is_i(dp_table_print(&t, &how, &sink), DP_E_IO, "output that cannot be written");
    dp_table_release(&t);
    is_i(dp_mem_live(), before, "nothing kept");
}

int main(void)
{
    goldens();
    quiet();
    separators();
    layout();
    numbers();
    doubles();
    times();
    hostile();
    hostile_titles();
    no_memory();
    free(out);
    return tap_done();
}
