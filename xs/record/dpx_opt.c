#include "dpx_opt.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_pmu_near.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, SIZE, CHOICE, TEXT };

struct option {
    const char *name;
    enum kind kind;
    size_t at;
    const char *classic;        /* its environment variable in the old Devel::DProf; or NULL */
    uint64_t least, most, otherwise;
    const char *choices;        /* of CHOICE: the words, in the order of their numbers */
    const char *help;
    bool told;                  /* of TEXT: whether the header has it, as $dprof_NAME */
    const char *names;          /* of TEXT: what it names, if no text is a mistake; or NULL */
    const char *bare;           /* the value of the bare name; or NULL */
    bool places;                /* determines where files are made, or that files are removed: a
                                 * program with more rights than its user takes it from no
                                 * environment */
};

static const struct option table[] = {
#define ROW(kind, field, name, ...) \
    { name, kind, offsetof(struct dpx_options, field), .help = __VA_ARGS__ },
    DPX_OPTIONS(ROW)
#undef ROW
};

static void set_number(struct dpx_options *opt, const struct option *o, uint64_t n)
{
    memcpy((char *)opt + o->at, &n, sizeof n);
}

static uint64_t number_of(const struct dpx_options *opt, const struct option *o)
{
    uint64_t n;
    memcpy(&n, (const char *)opt + o->at, sizeof n);
    return n;
}

static const char *text_of(const struct dpx_options *opt, const struct option *o)
{
    const char *text;
    memcpy(&text, (const char *)opt + o->at, sizeof text);
    return text;
}

static void set_text(struct dpx_options *opt, const struct option *o, const char *text)
{
    memcpy((char *)opt + o->at, &text, sizeof text);
}

void dpx_options_init(struct dpx_options *opt)
{
    memset(opt, 0, sizeof *opt);
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++)
        if (table[i].kind != TEXT)
            set_number(opt, &table[i], table[i].otherwise);
}

/* The n-th word of a list, or NULL. */
static const char *nth_word(const char *list, uint64_t n)
{
    for (; *list && n; n--)
        list += strlen(list) + 1;
    return *list ? list : NULL;
}

/* Adds to the text in to[size] as much as there is room for, so that no caller adds up lengths
 * itself. */
static void append_text(char *to, size_t size, const char *fmt, ...) DP_PRINTF(3, 4);
static void append_text(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;
    size_t len = strlen(to);
    va_start(ap, fmt);
    vsnprintf(to + len, size - len, fmt, ap);
    va_end(ap);
}

/* The text before the n-th word in a sentence. */
static const char *separator_before(const struct option *o, uint64_t n)
{
    return n == 0 ? "" : nth_word(o->choices, n + 1) ? ", " : " or ";
}

/* Sets the error for a value that an option does not accept, with those that it does. as: the
 * option's name as the user wrote it. Returns the error's code. */
static int refuse_value(struct dp_err *err, const char *as, const struct option *o,
                        const char *value)
{
    if (o->kind == CHOICE) {
        char words[64] = "";
        for (uint64_t n = 0; nth_word(o->choices, n); n++)
            append_text(words, sizeof words, "%s%s", separator_before(o, n),
                        nth_word(o->choices, n));
        return dp_err_set(err, DP_E_ARG, "%s=%s: it is %s", as, value, words);
    }
    return dp_err_set(err, DP_E_ARG, "%s=%s is not a whole number from %llu to %llu", as, value,
                      (unsigned long long)o->least, (unsigned long long)o->most);
}

/* Reads a value, and sets the option to it. as: the option's name as the user wrote it. Returns 0,
 * or DP_E_ARG with the reason in err. */
static int take_value(struct dpx_options *opt, const struct option *o, const char *as,
                      const char *value, struct dp_err *err)
{
    if (o->kind == TEXT) {
        set_text(opt, o, *value ? value : NULL);
        return 0;
    }
    if (o->kind == CHOICE) {
        for (uint64_t n = 0; nth_word(o->choices, n); n++)
            if (strcmp(nth_word(o->choices, n), value) == 0) {
                set_number(opt, o, n);
                return 0;
            }
        return refuse_value(err, as, o, value);
    }
    char *end;
    unsigned long long n = strtoull(value, &end, 10);
    if (o->kind == SIZE && end > value && *end && strchr("KMG", *end)) {
        unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
        n = n > UINT64_MAX >> shift ? UINT64_MAX : n << shift;
        end++;
    }
    if (end == value || *end || *value < '0' || *value > '9' || n < o->least || n > o->most)
        return refuse_value(err, as, o, value);
    set_number(opt, o, n);
    return 0;
}

/* Sets the error for an option without a value, with how it is written: `out=FILE`, `mode=trace or
 * mode=tree`, `limit=N`. Returns the error's code. */
static int needs_value(struct dp_err *err, const struct option *o)
{
    char how[96] = "";
    for (uint64_t n = 0; o->kind == CHOICE && nth_word(o->choices, n); n++)
        append_text(how, sizeof how, "%s%s=%s", separator_before(o, n), o->name,
                    nth_word(o->choices, n));
    if (o->kind != CHOICE)
        append_text(how, sizeof how, "%s=%s", o->name,
                    o->kind != TEXT ? "N"
                    : o->names ? o->names
                    : "...");
    return dp_err_set(err, DP_E_ARG, "%s needs a value: %s", o->name, how);
}

/* Is this an option of Devel::NYTProf alone? */
static bool is_of_nytprof(const char *item, size_t len)
{
    static const char *const names[] = {
        "addpid", "addtimestamp", "blocks", "calls", "endatexit", "evals", "file", "findcaller",
        "forkdepth", "leave", "libcexit", "log", "nameanonsubs", "nameevals", "optimize", "perldb",
        "posix_exit", "savesrc", "sigexit", "slowops", "stmts", "subs", "usecputime", "use_db_sub",
    };
    for (size_t i = 0; i < DP_ARRAY_LEN(names); i++)
        if (strlen(names[i]) == len && memcmp(names[i], item, len) == 0)
            return true;
    return false;
}

/* Sets the error for an option that does not exist, with names that the user may have meant: other
 * options, and the modes, which may be written alone. Returns the error's code. */
static int refuse_unknown(struct dp_err *err, const char *item, size_t len)
{
    struct dp_pmu_near near;
    char meant[200];
    dp_pmu_near_init(&near, item, len);
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++)
        dp_pmu_near_add(&near, table[i].name);
    for (uint64_t n = 0; nth_word(table[0].choices, n); n++)
        dp_pmu_near_add(&near, nth_word(table[0].choices, n));
    dp_pmu_near_add(&near, "help");
    dp_pmu_near_write(&near, "; ", meant, sizeof meant);
    if (is_of_nytprof(item, len))
        return dp_err_set(err, DP_E_ARG, "%.*s is an option of Devel::NYTProf; "
                          "perldoc Devel::DProf::FromNYTProf says what is here in its place",
                          (int)len, item);
    return dp_err_set(err, DP_E_ARG, "unknown option %.40s%s", item,
                      *meant ? meant : "; -d:DProf=help lists the options");
}

int dpx_options_take(struct dpx_options *opt, const char *item, struct dp_err *err)
{
    const char *equals = strchr(item, '=');
    size_t len = equals ? (size_t)(equals - item) : strlen(item);
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++) {
        const struct option *o = &table[i];
        if (strlen(o->name) == len && memcmp(o->name, item, len) == 0) {
            const char *value = equals ? equals + 1 : o->bare;
            /* an empty regex or list takes back what the environment says */
            if (!value || (!*value && o->names))
                return needs_value(err, o);
            return take_value(opt, o, o->name, value, err);
        }
        if (!equals && o->kind == CHOICE && strcmp(o->name, "mode") == 0)
            for (uint64_t n = 0; nth_word(o->choices, n); n++)
                if (strcmp(nth_word(o->choices, n), item) == 0)
                    return take_value(opt, o, o->name, item, err);
    }
    return refuse_unknown(err, item, len);
}

const char *dpx_options_clash(const struct dpx_options *o)
{
#define CLASH(when, why) \
    if (when) \
        return why;
    DPX_CLASHES(CLASH)
#undef CLASH
    return NULL;
}

/* Writes PERL_DPROF_NAME. */
static void environment_name(char *to, size_t size, const struct option *o)
{
    size_t len = (size_t)snprintf(to, size, "%s", "PERL_DPROF_");
    for (const char *p = o->name; *p && len + 1 < size; p++)
        to[len++] = *p == '-' ? '_' : (char)(*p - 'a' + 'A');
    to[len] = '\0';
}

int dpx_options_environment(struct dpx_options *opt, bool safe, struct dp_err *err)
{
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++) {
        const struct option *o = &table[i];
        char name[48];
        environment_name(name, sizeof name, o);
        const char *as = name, *value = getenv(name);
        if (!value && o->classic) {
            as = o->classic;
            value = getenv(o->classic);
        }
        if (!value || !*value || (safe && (o->kind == TEXT || o->places)))
            continue;
        int rc = take_value(opt, o, as, value, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void put_value(struct dp_buf *to, const struct option *o, uint64_t n)
{
    if (o->kind == CHOICE)
        dp_buf_adds(to, nth_word(o->choices, n));
    else
        dp_buf_addu(to, n);
}

void dpx_options_help(struct dp_buf *to)
{
    dp_buf_adds(to, "perl -d:DProf=OPTION,OPTION,... program\n\n");
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++) {
        const struct option *o = &table[i];
        char what[48] = "";
        append_text(what, sizeof what, "%s=%s", o->name,
                    o->kind == TEXT ? "..."
                    : o->kind == CHOICE ? ""
                    : "N");
        for (uint64_t n = 0; o->kind == CHOICE && nth_word(o->choices, n); n++)
            append_text(what, sizeof what, "%s%s", n ? "|" : "", nth_word(o->choices, n));
        dp_buf_addf(to, "  %-24s %s", what, o->help);
        if (o->kind != TEXT) {
            dp_buf_adds(to, " [");
            put_value(to, o, o->otherwise);
            dp_buf_adds(to, "]");
        }
        dp_buf_adds(to, "\n");
    }
    dp_buf_adds(to,
                "\ntree is short for mode=tree. 0 is no limit, no checkpoint; limits take K, M\n"
                "or G behind the number. Each option can be set in the environment, as\n"
                "PERL_DPROF_NAME in capitals; the command line goes first. Regexes with commas\n"
                "must stand there. More: perldoc Devel::DProf\n");
}

int dpx_options_keep(struct dpx_options *opt)
{
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++) {
        const struct option *o = &table[i];
        const char *text = o->kind == TEXT ? text_of(opt, o) : NULL;
        if (!text)
            continue;
        size_t size = strlen(text) + 1;
        char *copy = dp_mem_alloc(size);
        if (!copy)
            return DP_E_NOMEM;
        set_text(opt, o, memcpy(copy, text, size));
    }
    return 0;
}

void dpx_options_header(const struct dpx_options *opt, struct dp_buf *to)
{
    bool first = true;
    dp_buf_adds(to, "$dprof_options='");
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++) {
        const struct option *o = &table[i];
        if (o->kind == TEXT)
            continue;
        dp_buf_addf(to, "%s%s=", first ? "" : ",", o->name);
        put_value(to, o, number_of(opt, o));
        first = false;
    }
    dp_buf_adds(to, "'; ");
    for (size_t i = 0; i < DP_ARRAY_LEN(table); i++) {
        const char *text = table[i].told ? text_of(opt, &table[i]) : NULL;
        if (!text)
            continue;
        dp_buf_addf(to, "$dprof_%s=", table[i].name);
        dp_fmt_quote(to, text, strlen(text));
        dp_buf_addc(to, ';');
    }
}
