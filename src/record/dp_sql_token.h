/* The tokens of an SQL statement, as far as a text without values needs them: where each literal,
 * name and comment ends, in the dialect of the database. */
#ifndef DP_SQL_TOKEN_H
#define DP_SQL_TOKEN_H

#include "dp_base.h"

enum dp_sql_dialect {
    DP_SQL_UNKNOWN,
    DP_SQL_STANDARD,            /* PostgreSQL, with standard_conforming_strings on */
    DP_SQL_MYSQL,               /* MySQL and MariaDB, without NO_BACKSLASH_ESCAPES */
    DP_SQL_SQLITE
};

enum dp_sql_kind {
    DP_SQL_END,
    DP_SQL_LITERAL,     /* a string with its prefix, a number, or a placeholder ? or $1 */
    DP_SQL_WORD,        /* a keyword or a bare name */
    DP_SQL_NAME,        /* a quoted name, with its quotes */
    DP_SQL_EITHER,      /* "...", which is a name or a string: the tokens around it say which */
    DP_SQL_BYTE         /* any other byte */
};

struct dp_sql_token {
    enum dp_sql_kind kind;
    const char *ptr;            /* borrowed from the statement */
    size_t len;
    bool spaced;                /* white space or a comment stands before it */
};

struct dp_sql_lexer {
    const char *sql;
    size_t len, at;             /* at: the first byte that no token has taken */
    enum dp_sql_dialect dialect;
    bool escapes;               /* the token before was an E'...', whose continuation has escapes */
    bool unsure;                /* dialects disagree whether a part of the text is a comment */
    size_t harmless;            /* up to here, dialects may disagree on what a comment is */
};

/* The statement is borrowed. */
void dp_sql_lexer_init(struct dp_sql_lexer *lexer, const char *sql, size_t len,
                       enum dp_sql_dialect dialect);

/* Takes the next token. A string without an end reaches to the statement's end. So does a literal
 * from which on the dialects disagree what is a string, if the dialect is unknown. */
void dp_sql_next(struct dp_sql_lexer *lexer, struct dp_sql_token *token);

/* Does a number follow, with nothing but white space before it? */
bool dp_sql_number_follows(const struct dp_sql_lexer *lexer);

#endif
