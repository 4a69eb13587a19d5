#include "dpx_say.h"
#include "dp_text.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void dpx_say(const char *fmt, ...)
{
    char text[1024];
    struct stat st;
    if (fstat(2, &st) < 0 || st.st_dev != dpx_run.stderr_dev || st.st_ino != dpx_run.stderr_ino)
        return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text - 1, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if (n > (int)sizeof text - 2)
        n = (int)sizeof text - 2;
    text[n++] = '\n';
    if (write(2, text, (size_t)n) < 0) {
        /* there is no other place for the message */
    }
}

/* Appends a number with a decimal point. Perl keeps the locale of numbers at "C", but C code that a
 * program loads may set another. */
void dpx_say_real(struct dp_buf *to, double value, int decimals)
{
    char text[64];
    dp_buf_add(to, text, dp_text_real(text, sizeof text, value, (unsigned)decimals));
}
