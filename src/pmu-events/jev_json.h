/* Reads the JSON of event lists, token by token. Lists written by hand have missing and superfluous
 * commas, and raw tabs in strings. So commas and colons count as blanks here, and a string may
 * contain any byte but NUL. Nesting is left to the caller: nothing here recurses. */
#ifndef JEV_JSON_H
#define JEV_JSON_H

#include "jev.h"

enum jev_kind {
    JEV_END, JEV_ARRAY, JEV_ARRAY_END, JEV_OBJECT, JEV_OBJECT_END, JEV_STRING, JEV_WORD
};

struct jev_token {
    enum jev_kind kind;
    const char *ptr;            /* for a string: the text between the quotes, with its escapes */
    size_t len;
    unsigned long line;         /* where it begins */
};

struct jev_json {
    struct jev *jev;
    const char *path;           /* for messages */
    const char *ptr, *end;      /* the unread rest */
    unsigned long line;
};

/* Starts. data is borrowed for as long as tokens are in use. */
void jev_json_init(struct jev_json *json, struct jev *jev, const char *path, const char *data,
                   size_t len);

/* Reads the next token; at the end always JEV_END. Returns 0, or -1 with an error noted: for a byte
 * that no list may contain, a string without end, an unknown escape. */
int jev_json_next(struct jev_json *json, struct jev_token *token);

/* The name of a kind, for messages: "a string". */
const char *jev_json_kind(enum jev_kind kind);

/* Decodes a string and appends it to a text: lone surrogates become U+FFFD. With `flat`, raw tabs
 * and line ends, and the blanks around them, become one blank. */
int jev_json_decode(struct jev_json *json, const struct jev_token *token, bool flat,
                    struct jev_text *out);

#endif
