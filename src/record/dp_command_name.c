/* The name of the program in a command of the shell. */
#include "dp_mask_text.h"
#include "dp_char.h"

#include <string.h>

/* Reading a command, word by word. */
struct shell {
    const char *ptr;
    size_t len, at;
    struct dp_buf word;         /* the word without its quotes */
    bool expands;               /* it has a variable */
    bool syntax;                /* its end is in doubt: it has a quote without end, or code */
    bool quoted;                /* its first byte or its = is quoted */
};

static bool is_between(char c) { return dp_is_blank(c) || c == '\n'; }

/* Adds a byte that is quoted or not. */
static void add_byte(struct shell *s, char c, bool quoted)
{
    s->quoted = s->quoted || (quoted && (!s->word.len || c == '='));
    dp_buf_addc(&s->word, c);
}

/* Sees what the shell expands: $NAME ends with its letters; the others, as $(...) and $'...', may
 * have blanks and quotes inside. */
static void see_expansion(struct shell *s, char c)
{
    char next = s->at + 1 < s->len ? s->ptr[s->at + 1] : ' ';
    s->expands = s->expands || c == '$';
    s->syntax = s->syntax || c == '`' || (c == '$' && strchr("({['\"", next));
}

/* Takes what is in quotes; the opening quote is at s->at. */
static void take_in_quotes(struct shell *s)
{
    char quote = s->ptr[s->at++];
    for (; s->at < s->len && s->ptr[s->at] != quote; s->at++) {
        char c = s->ptr[s->at];
        if (quote == '"') {
            see_expansion(s, c);
            if (c == '\\' && s->at + 1 < s->len)
                c = s->ptr[++s->at];
        }
        add_byte(s, c, true);
    }
    if (s->at++ >= s->len)
        s->syntax = true;
}

static bool is_line_joined(const struct shell *s)
{
    return s->len - s->at >= 2 && s->ptr[s->at] == '\\' && s->ptr[s->at + 1] == '\n';
}

/* Is the word the name of a function, as in `f() { ...`, or the number of a file, as in `2>x`? */
static bool is_word_special(const struct shell *s)
{
    char next = s->at < s->len ? s->ptr[s->at] : ' ';
    size_t digits = 0;
    while (digits < s->word.len && dp_is_digit(s->word.ptr[digits]))
        digits++;
    return next == '(' || ((next == '<' || next == '>') && digits == s->word.len);
}

/* Takes the next word, up to a blank or an operator. False: there is none. */
static bool take_shell_word(struct shell *s)
{
    while (s->at < s->len && (is_between(s->ptr[s->at]) || is_line_joined(s)))
        s->at += is_line_joined(s) ? 2 : 1;
    size_t from = s->at;
    dp_buf_clear(&s->word);
    s->quoted = s->expands = s->syntax = false;
    while (s->at < s->len && !is_between(s->ptr[s->at]) && !strchr(";&|<>()", s->ptr[s->at])) {
        char c = s->ptr[s->at];
        if (c == '\'' || c == '"') {
            take_in_quotes(s);
            continue;
        }
        bool escape = c == '\\' && s->at + 1 < s->len;
        see_expansion(s, c);
        s->syntax = s->syntax || (c == '#' && s->at == from);
        if (is_line_joined(s))
            s->at++;
        else
            add_byte(s, escape ? s->ptr[++s->at] : c, escape);
        s->at++;
    }
    if (s->at > s->len)
        s->at = s->len;
    s->syntax = s->syntax || is_word_special(s);
    return s->at > from;
}

static bool is_shell_word(const struct shell *s, const char *word)
{
    return !s->word.err && s->word.len == strlen(word)
           && (!s->word.len || memcmp(s->word.ptr, word, s->word.len) == 0);
}

/* Words that begin a construct of the shell. */
static const char *const constructs[] = {
    "if", "for", "while", "until", "case", "select", "function", "coproc", "!", "[[", NULL
};

static bool is_construct(const struct shell *s)
{
    for (const char *const *w = constructs; *w; w++)
        if (is_shell_word(s, *w) && !s->quoted)
            return true;
    return s->word.len && *s->word.ptr == '{' && !s->quoted;
}

/* Is the word VAR=value? The value of an element, VAR[1]=, and of VAR+= counts, too. */
static bool is_assignment(const struct shell *s, bool after_env)
{
    const char *end = s->word.len ? memchr(s->word.ptr, '=', s->word.len) : NULL;
    size_t at = 0, len = end ? (size_t)(end - s->word.ptr) : 0;
    if (!len || after_env)
        return len > 0;
    while (at < len && dp_is_word(s->word.ptr[at]) && (at || !dp_is_digit(s->word.ptr[at])))
        at++;
    if (at && at < len && s->word.ptr[at] == '[' && memchr(s->word.ptr, ']', len))
        return !s->quoted;
    return at && !s->quoted && (at == len || (at + 1 == len && s->word.ptr[at] == '+'));
}

/* Programs that run the program after them: which of their options have no value, and which have
 * one, in the same word or the next. */
struct runner {
    const char *name, *flags, *values;
};
static const struct runner runners[] = {
    { "exec", "cl", "a" }, { "env", "i0v", "uC" }, { "nice", "0123456789", "n" },
    { "time", "pvaq", "fo" }, { "command", "p", "" }, { NULL, NULL, NULL }
};

static const struct runner *runner_of(const struct shell *s)
{
    const struct runner *r = runners;
    while (r->name && !is_shell_word(s, r->name))
        r++;
    return r->name ? r : NULL;
}

/* Skips the option that is the word. False: it is not known whether the next word is its value. */
static bool skip_option(struct shell *s, const struct runner *r)
{
    const char *p = s->word.ptr;
    size_t len = s->word.len;
    if (len > 2 && p[1] == '-')
        return memchr(p, '=', len) != NULL;
    if (len == 1 || p[1] == '-')
        return true;
    for (size_t i = 1; i < len; i++) {
        if (p[i] && strchr(r->values, p[i]))
            return i + 1 < len || (take_shell_word(s) && !s->syntax);
        if (!p[i] || !strchr(r->flags, p[i]))
            return false;
    }
    return true;
}

/* Finds the word of the program, and leaves it in s->word. *runner: the runner before it if only
 * that can be named, else NULL. False: the command begins with syntax of the shell, or has no
 * program. */
static bool find_program(struct shell *s, const struct runner **runner)
{
    const struct runner *next;
    for (*runner = NULL; take_shell_word(s);) {
        bool env = *runner && strcmp((*runner)->name, "env") == 0;
        if (s->syntax)
            return false;
        if (is_assignment(s, env))
            continue;
        if (*runner && s->word.len && *s->word.ptr == '-') {
            if (!skip_option(s, *runner))
                return true;
        } else if ((next = runner_of(s)) != NULL) {
            *runner = next;
        } else {
            *runner = NULL;
            return !s->expands && !is_construct(s);
        }
    }
    return *runner != NULL;
}

void dp_command_name(struct dp_buf *to, const char *command, size_t len)
{
    const char *end = len ? memchr(command, '\0', len) : NULL;
    struct shell s = { .ptr = command, .len = end ? (size_t)(end - command) : len };
    const struct runner *runner;
    dp_buf_init(&s.word);
    bool found = find_program(&s, &runner);
    size_t name = s.word.len;
    while (name && s.word.ptr[name - 1] != '/')
        name--;
    if (s.word.err && !to->err)
        to->err = s.word.err;
    else if (found && runner)
        dp_buf_adds(to, runner->name);
    else if (found && name < s.word.len && !memchr(s.word.ptr, '=', s.word.len))
        dp_mask_path(to, s.word.ptr + name, s.word.len - name);
    else
        dp_buf_adds(to, "(shell)");
    dp_buf_release(&s.word);
}
