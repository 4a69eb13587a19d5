#include "dp_sql_token.h"
#include "dp_char.h"
#include "dp_text.h"

#include <string.h>

void dp_sql_lexer_init(struct dp_sql_lexer *lexer, const char *sql, size_t len,
                       enum dp_sql_dialect dialect)
{
    *lexer = (struct dp_sql_lexer){ .sql = sql, .len = len, .dialect = dialect };
}

/* A byte of the statement, or NUL beyond its end. NUL is white space, so it ends most tokens. */
static char byte_at(const struct dp_sql_lexer *lexer, size_t at)
{
    return at < lexer->len ? lexer->sql[at] : '\0';
}

static bool holds_at(const struct dp_sql_lexer *lexer, size_t at, const char *word)
{
    size_t n = strlen(word);
    return at <= lexer->len && n <= lexer->len - at && memcmp(lexer->sql + at, word, n) == 0;
}

static bool is_white(char c) { return dp_is_space(c) || c == '\n' || c == '\v' || c == '\0'; }

/* Bytes of characters beyond ASCII are letters to every database. */
static bool is_first(char c) { return dp_is_letter(c) || c == '_' || (unsigned char)c >= 0x80; }
static bool is_inner(char c) { return is_first(c) || dp_is_digit(c); }
/* PostgreSQL, MySQL and Oracle have names with a $ inside. */
static bool is_named(char c) { return is_inner(c) || c == '$'; }

static size_t line_end(const struct dp_sql_lexer *lexer, size_t at)
{
    const char *end = memchr(lexer->sql + at, '\n', lexer->len - at);
    return end ? (size_t)(end - lexer->sql) : lexer->len;
}

/* Takes everything: nobody can say where this literal ends. */
static void take_rest(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    token->kind = DP_SQL_LITERAL;
    lexer->at = lexer->len;
}

/* ---- comments ---- */

/* Is a text the same to all dialects behind it, whether they skip the text as a comment or not? Not
 * if a literal, a name or a comment may begin in the text. */
static bool is_harmless(const char *ptr, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (ptr[i] && strchr("'\"`[$\\\r", ptr[i]))
            return false;
        if (i && ((ptr[i - 1] == '/' && ptr[i] == '*') || (ptr[i - 1] == '-' && ptr[i] == '-')))
            return false;
    }
    return true;
}

/* Is the rest of the line harmless? Each line is read once. */
static bool is_line_harmless(struct dp_sql_lexer *lexer)
{
    if (lexer->at < lexer->harmless)
        return true;
    size_t end = line_end(lexer, lexer->at), from = lexer->at + 1;
    if (lexer->sql[lexer->at] == '-')
        from++;
    if (from < end && !is_harmless(lexer->sql + from, end - from))
        return false;
    lexer->harmless = end;
    return true;
}

/* Skips a comment that ends with the line. PostgreSQL takes a \r for a line's end, the others do
 * not: an unknown dialect cannot say where code begins again. False: in this doubt. */
static bool skip_line(struct dp_sql_lexer *lexer)
{
    size_t end = line_end(lexer, lexer->at);
    const char *from = lexer->sql + lexer->at, *cr = memchr(from, '\r', end - lexer->at);
    if (cr && lexer->dialect == DP_SQL_STANDARD)
        end = (size_t)(cr - lexer->sql);
    else if (cr && lexer->dialect == DP_SQL_UNKNOWN && (size_t)(cr - lexer->sql) + 1 < end)
        return false;
    lexer->at = end;
    return true;
}

/* Does a comment with this text inside, from `at` on, run as code in some versions of MySQL? */
static bool is_code(const struct dp_sql_lexer *lexer, size_t at)
{
    return (lexer->dialect == DP_SQL_MYSQL || lexer->dialect == DP_SQL_UNKNOWN)
           && (byte_at(lexer, at) == '!' || holds_at(lexer, at, "M!"));
}

/* Skips the comment that begins here, up to its end or that of the statement. False: its end is in
 * doubt. */
static bool skip_comment(struct dp_sql_lexer *lexer)
{
    size_t from = lexer->at + 2, at = from, depth = 1;
    while (at < lexer->len && depth) {
        if (holds_at(lexer, at, "*/")) {
            depth--;
            at += 2;
        } else if (holds_at(lexer, at, "/*") && lexer->dialect == DP_SQL_UNKNOWN) {
            return false;
        } else if (holds_at(lexer, at, "/*") && lexer->dialect == DP_SQL_STANDARD) {
            depth++;
            at += 2;
        } else {
            at++;
        }
    }
    if (is_code(lexer, from)
        && (memchr(lexer->sql + from, '#', at - from)
            || !is_harmless(lexer->sql + from, at - from)))
        return false;
    lexer->at = at;
    return true;
}

/* Skips a comment that -- begins. To MySQL, `5--1` is a sum. False: there is none, or its end is in
 * doubt; *doubt says which. */
static bool skip_dashes(struct dp_sql_lexer *lexer, bool *doubt)
{
    size_t behind = lexer->at + 2;
    char next = byte_at(lexer, behind);
    bool everywhere = (unsigned char)next <= ' ' || next == '\x7f';
    *doubt = false;
    if (!everywhere && lexer->dialect == DP_SQL_MYSQL)
        return false;
    if ((everywhere || lexer->dialect != DP_SQL_UNKNOWN || is_line_harmless(lexer))
        && skip_line(lexer))
        return true;
    *doubt = true;
    return false;
}

/* Skips white space and comments. False: dialects disagree on where a comment ends. */
static bool skip_space(struct dp_sql_lexer *lexer)
{
    for (; lexer->at < lexer->len;) {
        bool doubt = false;
        if (is_white(lexer->sql[lexer->at])) {
            lexer->at++;
        } else if (holds_at(lexer, lexer->at, "/*")) {
            if (!skip_comment(lexer))
                return false;
        } else if (lexer->sql[lexer->at] == '#' && lexer->dialect == DP_SQL_MYSQL) {
            skip_line(lexer);
        } else if (!holds_at(lexer, lexer->at, "--") || !skip_dashes(lexer, &doubt)) {
            return !doubt;
        }
    }
    return true;
}

/* ---- literals and names in quotes ---- */

/* Takes a token up to the quote that ends it; a doubled quote is a part of it. */
static void take_quoted(struct dp_sql_lexer *lexer, struct dp_sql_token *token,
                        enum dp_sql_kind kind, bool escapes)
{
    char quote = lexer->sql[lexer->at++];
    bool unknown = lexer->dialect == DP_SQL_UNKNOWN && quote != '`';
    token->kind = kind;
    for (; lexer->at < lexer->len; lexer->at++) {
        char c = lexer->sql[lexer->at];
        if (c == '\\' && escapes) {
            lexer->at++;
        } else if (c == '\\' && unknown && byte_at(lexer, lexer->at + 1) == quote) {
            break;
        } else if (c == quote) {
            if (byte_at(lexer, lexer->at + 1) != quote) {
                lexer->at++;
                return;
            }
            lexer->at++;
        }
    }
    take_rest(lexer, token);
}

/* Takes '...' or, to MySQL, "...". */
static void take_string(struct dp_sql_lexer *lexer, struct dp_sql_token *token, bool escapes)
{
    bool extended = lexer->dialect == DP_SQL_STANDARD && escapes;
    take_quoted(lexer, token, DP_SQL_LITERAL, escapes || lexer->dialect == DP_SQL_MYSQL);
    lexer->escapes = extended;
}

static void take_double(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    if (lexer->dialect == DP_SQL_MYSQL)
        take_string(lexer, token, false);
    else
        take_quoted(lexer, token, lexer->dialect == DP_SQL_STANDARD ? DP_SQL_NAME : DP_SQL_EITHER,
                    false);
}

/* Takes $tag$...$tag$, or else a placeholder $1 or an amount of money; false: neither. The tag has
 * no $, so the search for it goes back nowhere. */
static bool take_dollar(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    size_t end = lexer->at + 1;
    if (dp_is_digit(byte_at(lexer, end))) {
        while (is_inner(byte_at(lexer, end)) || byte_at(lexer, end) == '.')
            end++;
        token->kind = DP_SQL_LITERAL;
        lexer->at = end;
        return true;
    }
    while (is_inner(byte_at(lexer, end)))
        end++;
    if (byte_at(lexer, end) != '$' || lexer->dialect == DP_SQL_MYSQL
        || lexer->dialect == DP_SQL_SQLITE)
        return false;
    const char *tag = lexer->sql + lexer->at;
    size_t n = ++end - lexer->at;
    for (; n <= lexer->len - end; end++)
        if (lexer->sql[end] == '$' && memcmp(lexer->sql + end, tag, n) == 0) {
            token->kind = DP_SQL_LITERAL;
            lexer->at = end + n;
            return true;
        }
    take_rest(lexer, token);
    return true;
}

/* Takes [name] of SQLite, SQL Server and Access; false: the bracket is one of an array. */
static bool take_bracket(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    bool plain = true, first = is_first(byte_at(lexer, lexer->at + 1));
    const char *from = lexer->sql + lexer->at;
    if (lexer->dialect == DP_SQL_SQLITE) {
        const char *end = memchr(from, ']', lexer->len - lexer->at);
        token->kind = first ? DP_SQL_NAME : DP_SQL_LITERAL;
        if (end)
            lexer->at = (size_t)(end - lexer->sql) + 1;
        else
            take_rest(lexer, token);
        return true;
    }
    if (lexer->dialect != DP_SQL_UNKNOWN || !first)
        return false;
    /* What is a name in brackets to one database may be an array of strings to another. */
    size_t end = lexer->at + 1;
    for (; end < lexer->len && lexer->sql[end] != ']'; end++) {
        plain = plain && (is_inner(lexer->sql[end]) || lexer->sql[end] == ' ');
        if (lexer->sql[end] == '[' || !is_harmless(lexer->sql + end, 1)
            || holds_at(lexer, end, "--") || holds_at(lexer, end, "/*")
            || lexer->sql[end] == '#') {
            take_rest(lexer, token);
            return true;
        }
    }
    if (!plain || end == lexer->len)
        return false;
    token->kind = DP_SQL_NAME;
    lexer->at = end + 1;
    return true;
}

/* ---- words and numbers ---- */

/* Does the word make a string of the quote behind it: N'', B'', X'', E'', U&'', _utf8''? */
static bool is_prefix(const char *word, size_t len)
{
    return (len == 1 && strchr("nNbBxXeE", *word)) || (len > 1 && *word == '_');
}

/* Does the word begin a string of Oracle's? q'[it's]' has its own quotes inside; no other dialect
 * knows it. */
static bool is_oracle(const char *word, size_t len)
{
    return (len == 1 && dp_text_alike(word, "q", 1)) || (len == 2 && dp_text_alike(word, "nq", 2));
}

/* Takes a word, or the string that it begins. */
static void take_word(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    const char *word = lexer->sql + lexer->at;
    size_t end = lexer->at;
    while (is_named(byte_at(lexer, end)))
        end++;
    size_t len = end - lexer->at;
    char next = byte_at(lexer, end);
    bool string = next == '\'' || (next == '"' && lexer->dialect == DP_SQL_MYSQL);
    lexer->at = end;
    token->kind = DP_SQL_WORD;
    if (string && lexer->dialect == DP_SQL_UNKNOWN && is_oracle(word, len)) {
        take_rest(lexer, token);
    } else if (string && is_prefix(word, len)) {
        bool extended = lexer->dialect == DP_SQL_STANDARD && dp_text_alike(word, "e", 1)
                        && len == 1;
        take_string(lexer, token, extended);
    } else if (len == 1 && dp_text_alike(word, "u", 1) && holds_at(lexer, end, "&'")) {
        lexer->at++;
        take_string(lexer, token, false);
    }
}

/* Takes a number with all that sticks to it, and with the sign of its exponent. */
static void take_number(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    size_t at = lexer->at, digits = at;
    while (dp_is_digit(byte_at(lexer, digits)) || byte_at(lexer, digits) == '.'
           || byte_at(lexer, digits) == '_')
        digits++;
    at = digits;
    if ((byte_at(lexer, at) == 'e' || byte_at(lexer, at) == 'E')
        && (byte_at(lexer, at + 1) == '+' || byte_at(lexer, at + 1) == '-'))
        at += 2;
    while (is_named(byte_at(lexer, at)) || byte_at(lexer, at) == '.')
        at++;
    token->kind = DP_SQL_LITERAL;
    lexer->at = at;
}

static bool is_number(const struct dp_sql_lexer *lexer, size_t at)
{
    char c = byte_at(lexer, at);
    return dp_is_digit(c) || (c == '.' && dp_is_digit(byte_at(lexer, at + 1)));
}

bool dp_sql_number_follows(const struct dp_sql_lexer *lexer)
{
    size_t at = lexer->at;
    while (at < lexer->len && is_white(lexer->sql[at]))
        at++;
    return is_number(lexer, at);
}

/* Does something stand directly before a point, so that the point divides names? */
static bool is_qualified(const struct dp_sql_lexer *lexer)
{
    char before = lexer->at ? lexer->sql[lexer->at - 1] : ' ';
    return lexer->sql[lexer->at] == '.'
           && (is_named(before) || (before && strchr("\"`])", before)));
}

/* Takes ? or, to SQLite, ?1. */
static void take_placeholder(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    token->kind = DP_SQL_LITERAL;
    lexer->at++;
    while (dp_is_digit(byte_at(lexer, lexer->at)))
        lexer->at++;
}

/* Takes a byte that begins no other token. A # may begin a comment: then all that follows it is in
 * doubt, unless that makes no difference. */
static void take_byte(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    token->kind = DP_SQL_BYTE;
    if (lexer->sql[lexer->at] == '#' && lexer->dialect == DP_SQL_UNKNOWN) {
        /* an operator, a part of a name, or MySQL's comment */
        lexer->unsure = true;
        if (!is_line_harmless(lexer)) {
            take_rest(lexer, token);
            return;
        }
    }
    lexer->at++;
}

/* Takes the token that begins here; there is a byte. */
static void take_token(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    char c = lexer->sql[lexer->at];
    bool escapes = lexer->escapes;
    lexer->escapes = false;
    if (c == '\'')
        take_string(lexer, token, escapes);
    else if (c == '"')
        take_double(lexer, token);
    else if (c == '`')
        take_quoted(lexer, token, DP_SQL_NAME, false);
    else if (is_first(c))
        take_word(lexer, token);
    else if (is_number(lexer, lexer->at) && !is_qualified(lexer))
        take_number(lexer, token);
    else if (c == '?')
        take_placeholder(lexer, token);
    else if (!(c == '$' && take_dollar(lexer, token))
             && !(c == '[' && take_bracket(lexer, token)))
        take_byte(lexer, token);
}

void dp_sql_next(struct dp_sql_lexer *lexer, struct dp_sql_token *token)
{
    size_t from = lexer->at;
    bool sure = skip_space(lexer);
    *token = (struct dp_sql_token){ .kind = DP_SQL_END, .ptr = lexer->sql + lexer->at,
                                    .spaced = lexer->at > from };
    size_t start = lexer->at;
    if (!sure)
        take_rest(lexer, token);
    else if (lexer->at < lexer->len)
        take_token(lexer, token);
    token->len = lexer->at - start;
}
