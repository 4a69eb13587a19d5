/* Reads the JSON of event lists, token by token. Lists written by hand have missing and superfluous
 * commas, and raw tabs in strings; so commas and colons are blanks here, and a string may hold any
 * byte but NUL. Nesting is left to the caller: nothing here recurses. */
#ifndef JEV_JSON_H
#define JEV_JSON_H

#include "jev.h"

enum jev_kind {
    JEV_END, JEV_ARRAY, JEV_ARRAY_END, JEV_OBJECT, JEV_OBJECT_END, JEV_STRING, JEV_WORD
};

struct jev_token {
    enum jev_kind kind;
    const char *ptr;            /* a string's: what stands between the quotes, with its escapes */
    size_t len;
    unsigned long line;         /* where it begins */
};

struct jev_json {
    struct jev *jev;
    const char *path;           /* for messages */
    const char *ptr, *end;      /* what is left */
    unsigned long line;
};

/* data is borrowed for as long as tokens are in use. */
void jev_json_init(struct jev_json *json, struct jev *jev, const char *path, const char *data,
                   size_t len);

/* Reads the next token; at the end always JEV_END. Returns 0, or -1 with an error noted: for a byte
 * that no list may have, a string without end, an unknown escape. */
int jev_json_next(struct jev_json *json, struct jev_token *token);

/* "a string", for messages. */
const char *jev_json_kind(enum jev_kind kind);

/* Adds what a string stands for to a text: escapes decoded, lone surrogates as U+FFFD. With `flat`,
 * raw tabs and line ends, and the blanks around them, become one blank. */
int jev_json_decode(struct jev_json *json, const struct jev_token *token, bool flat,
                    struct jev_text *out);

#endif
