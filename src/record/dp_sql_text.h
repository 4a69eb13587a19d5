/* SQL statements without the values in them: statements that differ only in values get one text,
 * and no value gets into a profile. */
#ifndef DP_SQL_TEXT_H
#define DP_SQL_TEXT_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_sql_token.h"

/* Appends a statement of len bytes, which may be any, without comments and with a single blank for
 * white space. Each string, number and numbered placeholder is a `?`; `:name` remains. A list of
 * them after IN is `IN (?)`. Equal rows in succession, after VALUES or IN, are one row. A
 * sign belongs to its number after an operator, a comma, an opening parenthesis or a keyword.
 *
 * In doubt, a text is a value. A string without an end takes the rest of the statement. With
 * DP_SQL_UNKNOWN, a `?` also takes the rest from where the dialects disagree on the end of a string
 * or comment: a backslash before a quote, a comment in a comment. "..." is a string in MySQL and a
 * name in STANDARD. In the other two it is a name next to a `.`, after FROM (but not that of a
 * function's arguments), JOIN, INTO, UPDATE, TABLE, AS, or after a name that is quoted or has a
 * `.`; and a string elsewhere.
 *
 * The time is linear in len. When memory is short, to->err says so. */
void dp_sql_text(struct dp_buf *to, const char *sql, size_t len, enum dp_sql_dialect dialect);

#endif
