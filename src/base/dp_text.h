/* Names in a form that people can see safely. */
#ifndef DP_TEXT_H
#define DP_TEXT_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_io.h"

/* Appends a name with control bytes and invalid UTF-8 as \x1b. */
void dp_text_escape(struct dp_buf *buf, const char *ptr, size_t len);
void dp_text_print(struct dp_sink *sink, const char *ptr, size_t len);

/* Hands over a name as dp_text_escape shows it, with entities for & < > and ", for XML and HTML.
 * Flags: */
enum dp_markup {
    DP_MARKUP_APOSTROPHE = 1,   /* an entity for ', too */
    DP_MARKUP_LINES = 2,        /* line ends are kept */
    DP_MARKUP_XML = 4,          /* U+FFFE and U+FFFF, which XML lacks, are made visible */
    DP_MARKUP_ASCII = 8         /* characters outside of ASCII become numbers */
};
void dp_text_markup(dp_write_fn *to, void *ctx, const char *ptr, size_t len, unsigned flags);

/* The number of bytes at the beginning that are printable ASCII, which only markup has to
 * escape. */
size_t dp_text_plain(const char *ptr, size_t len);

/* The length in bytes of the well-formed UTF-8 character at ptr; 0 if there is none. */
size_t dp_text_char(const char *ptr, size_t len);
/* The code point of a well-formed character of n bytes. */
uint32_t dp_text_code(const char *ptr, size_t n);
/* Is it a control character, or a mark that changes the direction of writing? */
bool dp_text_is_unseen(const char *ptr, size_t n);

/* Are the first len bytes of both equal, apart from the case of ASCII letters? strncasecmp would
 * depend on the locale: in Turkish, I is not the capital of i. */
bool dp_text_alike(const char *a, const char *b, size_t len);

/* Replaces the locale's decimal point by a point, in the text that printf made from a double, up to
 * its NUL. */
void dp_text_point(char *number);
/* Writes a real with so many decimals to to[size], NUL-terminated, independent of the locale.
 * Returns the length. */
size_t dp_text_real(char *to, size_t size, double v, unsigned decimals);

/* Does the text contain the word? */
bool dp_text_holds(const char *ptr, size_t len, const char *word);

/* The length in bytes of the package in front of a sub's name: the part before the last `::`
 * outside of the brackets that may contain a place. 0: there is none. */
size_t dp_text_package(const char *ptr, size_t len);

/* The number of terminal columns of valid UTF-8: two for wide characters, none for combining
 * ones. */
size_t dp_text_columns(const char *ptr, size_t len);

/* The number of bytes to put on a line of `room` characters: all, or up to a `::` that leaves the
 * line at least half full, or as many as fit; never 0 for len > 0. */
size_t dp_text_break(const char *ptr, size_t len, size_t room);

#endif
