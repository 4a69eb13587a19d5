#include "dp_perf_name.h"
#include "dp_num.h"

#include <string.h>

static bool begins_with(struct dp_text t, const char *with)
{
    size_t n = strlen(with);
    return t.len >= n && memcmp(t.ptr, with, n) == 0;
}

static bool ends_with(struct dp_text t, const char *with)
{
    size_t n = strlen(with);
    return t.len >= n && memcmp(t.ptr + t.len - n, with, n) == 0;
}

/* Does the text contain Lorg/x/Y;::method, as perf-map-agent writes a class? */
static bool has_java_class(struct dp_text t)
{
    const char *p = t.ptr, *end = t.ptr + t.len;
    while (p < end && (p = memchr(p, ';', (size_t)(end - p))) != NULL)
        if (begins_with((struct dp_text){ p, (size_t)(end - p++) }, ";::"))
            return true;
    return false;
}

static bool is_hex(char c) { return dp_num_hexdigit(c) >= 0; }

struct dp_text dp_perf_no_offset(struct dp_text name)
{
    size_t at = name.len;
    while (at && is_hex(name.ptr[at - 1]))
        at--;
    if (at >= 3 && at < name.len && memcmp(name.ptr + at - 3, "+0x", 3) == 0)
        name.len = at - 3;
    return name;
}

/* ---- parameters ---- */

/* Returns where the bracket that ends the text opens; its length if there is none. */
static size_t opening_bracket(struct dp_text t, char open, char close)
{
    size_t depth = 0;
    for (size_t i = t.len; i-- > 0;) {
        depth += t.ptr[i] == close;
        if (t.ptr[i] == open && --depth == 0)
            return i;
        if (!depth)
            break;
    }
    return t.len;
}

/* Removes words that may follow parameters: const, [clone .cold], (.isra.0), and the type that a
 * Java function returns. */
static struct dp_text no_qualifiers(struct dp_text t)
{
    static const char *const words[] = { " ", "&", " const", " volatile", " noexcept" };
    size_t before;
    do {
        before = t.len;
        for (size_t i = 0; i < DP_ARRAY_LEN(words); i++)
            if (ends_with(t, words[i]))
                t.len -= strlen(words[i]);
        size_t at = opening_bracket(t, '[', ']');
        struct dp_text behind = { t.ptr + at, t.len - at };
        if (behind.len && at && (t.ptr[at - 1] == ')' || begins_with(behind, "[clone ")))
            t.len = at;
        at = opening_bracket(t, '(', ')');
        if (at + 1 < t.len && t.ptr[at + 1] == '.')
            t.len = at;
    } while (t.len < before);
    return t;
}

/* Removes ()I, ()[[J, ()Ljava/lang/Object;, the JVM's notation of the type that a function returns.
 * The end of a class may be missing if its writer cut the name. */
static struct dp_text no_java_type(struct dp_text t)
{
    const char *close = NULL;
    for (size_t i = t.len; i-- > 0 && !close;)
        if (t.ptr[i] == ')')
            close = t.ptr + i;
    if (!close)
        return t;
    const char *p = close + 1, *end = t.ptr + t.len;
    while (p < end && *p == '[')
        p++;
    bool is_one = p + 1 == end && memchr("BCDFIJSVZ", *p, 9);
    bool is_class = p < end && *p == 'L' && !memchr(p, ' ', (size_t)(end - p));
    if (is_one || is_class)
        t.len = (size_t)(close + 1 - t.ptr);
    return t;
}

/* Returns where the first unclosed bracket opens: the writer cut a long name. */
static size_t unclosed_bracket(struct dp_text t)
{
    size_t depth = 0, at = t.len;
    for (size_t i = t.len; i-- > 0;) {
        depth += t.ptr[i] == ')';
        if (t.ptr[i] == '(' && depth)
            depth--;
        else if (t.ptr[i] == '(')
            at = i;
    }
    return at;
}

/* Removes a function's parameters, which are the brackets at its end. Brackets before them are a
 * part of the name: those of a namespace, of a template, of operator(). */
static struct dp_text no_parameters(struct dp_text name)
{
    if (begins_with(name, "RegExp:"))   /* node's name for the code of that expression */
        return name;
    struct dp_text t = { name.ptr, unclosed_bracket(name) };
    if (t.len < name.len && t.len && !ends_with(t, "operator"))
        return no_qualifiers(t);
    t = no_qualifiers(no_java_type(name));
    size_t at = opening_bracket(t, '(', ')');
    struct dp_text before = { t.ptr, at };
    if (at == t.len || !at || ends_with(before, "::") || ends_with(before, "operator"))
        return name;
    while (before.len && before.ptr[before.len - 1] == ' ')
        before.len--;
    return before;
}

/* ---- names ---- */

void dp_perf_name(struct dp_buf *to, struct dp_text name, bool java)
{
    if (opening_bracket(name, '(', ')') == 0)
        return;
    name = no_parameters(name);
    size_t i = java && name.len && *name.ptr == 'L' && memchr(name.ptr, '/', name.len);
    for (; i < name.len; i++)
        if (name.ptr[i] != '"' && name.ptr[i] != '\'')
            dp_buf_addc(to, name.ptr[i] == ';' ? ':' : name.ptr[i]);
}

void dp_perf_unknown(struct dp_buf *to, struct dp_text file)
{
    file = dp_perf_no_offset(file);
    size_t at = file.len;
    while (at && file.ptr[at - 1] != '/')
        at--;
    bool known = !(begins_with(file, "[unknown]") && ends_with(file, "[unknown]")) && at < file.len;
    dp_buf_addc(to, '[');
    dp_buf_adds(to, known ? "" : "unknown");
    if (known)
        dp_buf_add(to, file.ptr + at, file.len - at);
    dp_buf_addc(to, ']');
}

struct dp_text dp_perf_inlined(struct dp_text *name, bool java)
{
    struct dp_text all = *name;
    name->len = 0;
    if (java || has_java_class(all))
        for (size_t i = all.len; i-- > 1;)
            if (all.ptr[i] == '>' && all.ptr[i - 1] == '-') {
                name->len = i - 1;
                return (struct dp_text){ all.ptr + i + 1, all.len - i - 1 };
            }
    return all;
}
