#include "dp_sql_text.h"
#include "dp_char.h"
#include "dp_text.h"

#include <string.h>

/* A list after IN: where it is, as long as it holds only literals. */
enum in_list { IN_NONE, IN_WORD, IN_OPEN, IN_ITEM };
/* Rows after VALUES, or after IN: ROWS_ROW is inside of one, ROWS_END behind one. */
enum rows { ROWS_NONE, ROWS_START, ROWS_ROW, ROWS_END, ROWS_COMMA };

struct writer {
    struct dp_buf *to;
    struct dp_sql_lexer lexer;
    enum dp_sql_kind before;    /* the token before; DP_SQL_END: there is none */
    char byte;                  /* its byte, if it is one */
    bool operand;               /* it ends an operand, so that a sign after it is an operator */
    bool names;                 /* "..." after it is a name */
    bool distinct;              /* it is DISTINCT: FROM after it has a value */
    bool skipped;               /* white space before a sign that is not written */
    uint64_t selects;           /* a bit for each open parenthesis: a FROM in it has tables */
    enum in_list in;
    size_t in_at;               /* the text's length behind IN */
    enum rows rows;
    size_t row_at, row_depth;   /* where the row begins in the text */
    size_t kept_at, kept_end;   /* the row before it; kept_end 0: there is none */
};

/* ---- words ---- */

static bool is_word(const struct dp_sql_token *token, const char *word)
{
    return token->len == strlen(word) && dp_text_alike(token->ptr, word, token->len);
}

static bool is_one_of(const struct dp_sql_token *token, const char *const *words)
{
    for (; *words; words++)
        if (is_word(token, *words))
            return true;
    return false;
}

/* Keywords before an operand. To leave one out costs a `-` in the text. */
static const char *const before_operand[] = {
    "ALL", "AND", "BETWEEN", "BY", "CASE", "DEFAULT", "DISTINCT", "DIV", "ELSE", "FETCH", "FIRST",
    "HAVING", "IN", "IS", "LIKE", "LIMIT", "MOD", "NEXT", "NOT", "OFFSET", "ON", "OR", "RETURN",
    "RETURNING", "SELECT", "SET", "THEN", "TOP", "UNION", "VALUES", "WHEN", "WHERE", "XOR", NULL
};
static const char *const before_name[] = { "AS", "INTO", "JOIN", "TABLE", "UPDATE", NULL };
/* A FROM after one of these has tables; EXTRACT(YEAR FROM ...) and IS DISTINCT FROM have values. */
static const char *const before_tables[] = { "DELETE", "SELECT", NULL };

/* ---- lists and rows that become one ---- */

static void cut(struct writer *w, size_t len)
{
    if (!w->to->err)
        w->to->len = len;
}

/* Follows a list after IN; on its end, replaces it. */
static void follow_list(struct writer *w, const struct dp_sql_token *token)
{
    char c = token->kind == DP_SQL_BYTE ? *token->ptr : '\0';
    bool literal = token->kind == DP_SQL_LITERAL;
    switch (w->in) {
    case IN_NONE: break;
    case IN_WORD: w->in = c == '(' ? IN_OPEN : IN_NONE; break;
    case IN_OPEN: w->in = literal ? IN_ITEM : IN_NONE; break;
    case IN_ITEM:
        if (c == ')') {
            cut(w, w->in_at);
            dp_buf_adds(w->to, " (?)");
        }
        w->in = c == ',' ? IN_OPEN : IN_NONE;
    }
}

/* The next byte of a row that counts: a blank beside a parenthesis or comma does not. */
static size_t counting(const char *text, size_t at, size_t end)
{
    while (at < end && text[at] == ' '
           && (strchr("(,)", text[at - 1]) || (at + 1 < end && strchr("(,)", text[at + 1]))))
        at++;
    return at;
}

static bool are_rows_equal(const char *text, size_t a, size_t a_end, size_t b, size_t b_end)
{
    for (;; a++, b++) {
        a = counting(text, a, a_end);
        b = counting(text, b, b_end);
        if (a == a_end || b == b_end)
            return a == a_end && b == b_end;
        if (text[a] != text[b])
            return false;
    }
}

/* Ends a row: removes it, with the comma before it, if it equals the row before. */
static void end_row(struct writer *w)
{
    w->rows = ROWS_END;
    if (w->to->err)
        return;
    if (w->kept_end && are_rows_equal(w->to->ptr, w->kept_at, w->kept_end, w->row_at, w->to->len)) {
        cut(w, w->kept_end);
    } else {
        w->kept_at = w->row_at;
        w->kept_end = w->to->len;
    }
}

/* Follows rows behind VALUES, or behind IN; end_row removes one that equals the row before it. */
static void follow_rows(struct writer *w, const struct dp_sql_token *token)
{
    char c = token->kind == DP_SQL_BYTE ? *token->ptr : '\0';
    switch (w->rows) {
    case ROWS_NONE: break;
    case ROWS_START:
        w->kept_end = 0;
        /* fall through */
    case ROWS_COMMA:
        w->rows = c == '(' ? ROWS_ROW : ROWS_NONE;
        w->row_at = w->to->len - (c == '(');
        w->row_depth = 1;
        break;
    case ROWS_ROW:
        w->row_depth += c == '(';
        w->row_depth -= c == ')';
        if (!w->row_depth)
            end_row(w);
        break;
    case ROWS_END: w->rows = c == ',' ? ROWS_COMMA : ROWS_NONE;
    }
}

/* Follows lists and rows beyond a token that the text has. */
static void follow(struct writer *w, const struct dp_sql_token *token)
{
    bool list = w->in == IN_WORD;
    follow_list(w, token);
    follow_rows(w, token);
    if (list && w->in == IN_OPEN && w->rows != ROWS_ROW)
        w->rows = ROWS_START;
    if (token->kind != DP_SQL_WORD || w->byte == '.')
        return;
    if (is_word(token, "IN")) {
        w->in = IN_WORD;
        w->in_at = w->to->len;
    } else if (is_word(token, "VALUES") && w->rows != ROWS_ROW) {
        w->rows = ROWS_START;
    }
}

/* ---- tokens ---- */

static bool is_plain_name(const struct writer *w)
{
    const struct dp_sql_lexer *lexer = &w->lexer;
    return (w->names && !lexer->unsure)
           || (lexer->at < lexer->len && lexer->sql[lexer->at] == '.');
}

/* Is the token no more than the sign of a number, or the colon of a placeholder like :1? */
static bool is_sign(const struct writer *w, const struct dp_sql_token *token)
{
    if (token->kind != DP_SQL_BYTE || w->operand || w->byte == ':')
        return false;
    char c = *token->ptr, next = w->lexer.at < w->lexer.len ? w->lexer.sql[w->lexer.at] : ' ';
    return c == ':' ? dp_is_digit(next)
                    : (c == '-' || c == '+') && dp_sql_number_follows(&w->lexer);
}

static void write_token(struct writer *w, const struct dp_sql_token *token)
{
    bool literal = token->kind == DP_SQL_LITERAL;
    bool spaced = token->spaced || w->skipped || (literal && w->before == DP_SQL_WORD);
    if (spaced && w->before != DP_SQL_END)
        dp_buf_addc(w->to, ' ');
    if (literal)
        dp_buf_addc(w->to, '?');
    else
        dp_buf_add(w->to, token->ptr, token->len);
}

/* Keeps what the next token has to know of this one. */
static void remember(struct writer *w, const struct dp_sql_token *token)
{
    bool word = token->kind == DP_SQL_WORD, qualified = w->byte == '.';
    char c = token->kind == DP_SQL_BYTE ? *token->ptr : '\0';
    if (c == '(')
        w->selects <<= 1;
    else if (c == ')')
        w->selects >>= 1;
    if (word && !qualified && is_one_of(token, before_tables))
        w->selects |= 1;
    w->operand = c ? c == ')' || c == ']'
                   : !word || qualified || !is_one_of(token, before_operand);
    w->names = token->kind == DP_SQL_NAME || c == '.'
               || (word && (qualified || is_one_of(token, before_name)
                            || (is_word(token, "FROM") && (w->selects & 1) && !w->distinct)));
    w->distinct = word && is_word(token, "DISTINCT");
    w->before = token->kind;
    w->byte = c;
    w->skipped = false;
}

void dp_sql_text(struct dp_buf *to, const char *sql, size_t len, enum dp_sql_dialect dialect)
{
    struct writer w = { .to = to, .before = DP_SQL_END, .selects = 1 };
    struct dp_sql_token token;
    dp_sql_lexer_init(&w.lexer, sql, len, dialect);
    for (dp_sql_next(&w.lexer, &token); token.kind != DP_SQL_END; dp_sql_next(&w.lexer, &token)) {
        if (is_sign(&w, &token)) {
            w.skipped = w.skipped || token.spaced;
            continue;
        }
        if (token.kind == DP_SQL_EITHER)
            token.kind = is_plain_name(&w) ? DP_SQL_NAME : DP_SQL_LITERAL;
        write_token(&w, &token);
        follow(&w, &token);
        remember(&w, &token);
    }
}
