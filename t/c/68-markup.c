/* Text in XML and HTML, decimals, classes of characters: against models that go byte by byte. */
#include "dp_buf.h"
#include "dp_char.h"
#include "dp_num.h"
#include "dp_render.h"
#include "dp_text.h"
#include "random.h"
#include "tap.h"

#include <ctype.h>
#include <string.h>

static const char *markup(const char *text, size_t len, unsigned flags)
{
    static struct dp_buf buf;
    dp_buf_clear(&buf);
    dp_text_markup(dp_buf_write, &buf, text, len, flags);
    return dp_buf_cstr(&buf);
}

static void examples(void)
{
    static const char all[] =
        "a&b<c>\"d\"'e'\n\x01\xff\xc3\xa9\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae\\";
    size_t n = sizeof all - 1;
    is_s(markup(all, n, 0), "a&amp;b&lt;c&gt;&quot;d&quot;'e'\\x0a\\x01\\xff\xc3\xa9\xef\xbf\xbe"
         "\xef\xbf\xbf\\x{202e}\\", "HTML");
    is_s(markup(all, n, DP_MARKUP_APOSTROPHE | DP_MARKUP_LINES), "a&amp;b&lt;c&gt;&quot;d&quot;"
         "&#39;e&#39;\n\\x01\\xff\xc3\xa9\xef\xbf\xbe\xef\xbf\xbf\\x{202e}\\", "with apostrophes");
    is_s(markup(all, n, DP_MARKUP_XML), "a&amp;b&lt;c&gt;&quot;d&quot;'e'\\x0a\\x01\\xff\xc3\xa9"
         "\\x{fffe}\\x{ffff}\\x{202e}\\", "XML");
    is_s(markup(all, n, DP_MARKUP_XML | DP_MARKUP_ASCII), "a&amp;b&lt;c&gt;&quot;d&quot;'e'\\x0a"
         "\\x01\\xff&#233;\\x{fffe}\\x{ffff}\\x{202e}\\", "XML that is ASCII");
    is_s(markup("\xf0\x9f\x90\xaa", 4, DP_MARKUP_ASCII), "&#128042;", "a character of four bytes");
    is_s(markup("", 0, 0), "", "nothing");
}

/* Markup of text that dp_text_escape has made. */
static void add_naive(struct dp_buf *to, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '&')
            dp_buf_adds(to, "&amp;");
        else if (text[i] == '<')
            dp_buf_adds(to, "&lt;");
        else if (text[i] == '>')
            dp_buf_adds(to, "&gt;");
        else if (text[i] == '"')
            dp_buf_adds(to, "&quot;");
        else
            dp_buf_addc(to, text[i]);
}

static void any_bytes(void)
{
    static const char some[] = "ab&<>\"'\n\\\x01\x7f\x80\xc3\xa9\xe2\x80\xae\xef\xbf\xbe\xff";
    struct dp_buf shown, want;
    dp_buf_init(&shown);
    dp_buf_init(&want);
    size_t wrong = 0;
    for (int run = 0; run < 20000; run++) {
        char text[24];
        size_t len = rnd(sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] = some[rnd(sizeof some - 1)];
        dp_buf_clear(&shown);
        dp_buf_clear(&want);
        dp_text_escape(&shown, text, len);
        add_naive(&want, shown.ptr, shown.len);
        wrong += strcmp(markup(text, len, 0), dp_buf_cstr(&want)) != 0;
    }
    is_u(wrong, 0, "any bytes are marked up as they are shown");
    dp_buf_release(&shown);
    dp_buf_release(&want);
}

static void characters(void)
{
    size_t wrong = 0;
    for (int c = 0; c < 128; c++) {
        char ch = (char)c;
        wrong += dp_is_digit(ch) != !!isdigit(c) || dp_is_letter(ch) != !!isalpha(c)
                 || dp_is_upper(ch) != !!isupper(c) || dp_is_lower(ch) != !!islower(c)
                 || dp_is_word(ch) != (isalnum(c) || c == '_')
                 || dp_is_blank(ch) != !!isblank(c)
                 || dp_is_space(ch) != (isspace(c) && c != '\n' && c != '\v')
                 || (dp_num_hexdigit(ch) >= 0) != !!isxdigit(c);
    }
    is_u(wrong, 0, "classes of ASCII are those of the C library in its own locale");
    for (int c = 128; c < 256; c++)
        wrong += dp_is_word((char)c) || dp_is_space((char)c) || dp_num_hexdigit((char)c) >= 0;
    is_u(wrong, 0, "other bytes are in no class");
}

static void numbers(void)
{
    char got[DP_BUF_DIGITS + 1], want[40];
    size_t wrong = 0;
    for (int run = 0; run < 10000; run++) {
        unsigned digits = 1 + rnd(9);
        uint64_t n = rnd(1000000000);
        uint64_t below = 1;
        for (unsigned i = 0; i < digits; i++)
            below *= 10;
        *dp_buf_putd(got, n, digits) = '\0';
        snprintf(want, sizeof want, "%0*llu", (int)digits, (unsigned long long)(n % below));
        wrong += strcmp(got, want) != 0;
    }
    is_u(wrong, 0, "decimals have zeros in front");
    is_s(dp_render_time_unit(10, 10, 1)->name, "s", "a second");
    is_s(dp_render_time_unit(9, 10, 1)->name, "ms", "less than a second");
    is_s(dp_render_time_unit(9, 10, 0.9)->name, "s", "... that is shown as one");
    is_s(dp_render_time_unit(1, 1e6, 1)->name, "us", "a microsecond");
    is_s(dp_render_time_unit(999, 1e9, 1)->name, "ns", "nanoseconds");
    is_s(dp_render_time_unit(0, 10, 1)->name, "ns", "no time is less than any unit");
}

int main(void)
{
    examples();
    any_bytes();
    characters();
    numbers();
    return tap_done();
}
