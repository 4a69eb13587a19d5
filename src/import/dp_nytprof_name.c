#include "dp_nytprof_name.h"
#include "dp_num.h"

#include <string.h>

static const char anon[] = "__ANON__", begin[] = "BEGIN@", core[] = "CORE:";

/* Ops whose names differ from their Perl names. */
static const struct {
    const char *op, *name;
} ops[] = {
    { "prtf", "printf" },           { "sselect", "select" },        { "rcatline", "readline" },
    { "pipe_op", "pipe" },          { "open_dir", "opendir" },      { "sockpair", "socketpair" },
    { "gsockopt", "getsockopt" },   { "ssockopt", "setsockopt" },   { "enterwrite", "write" },
    { "leavewrite", "write" },
    { "ftrread", "-R" },            { "ftrwrite", "-W" },           { "ftrexec", "-X" },
    { "fteread", "-r" },            { "ftewrite", "-w" },           { "fteexec", "-x" },
    { "ftis", "-e" },               { "ftsize", "-s" },             { "ftmtime", "-M" },
    { "ftatime", "-A" },            { "ftctime", "-C" },            { "ftrowned", "-O" },
    { "fteowned", "-o" },           { "ftzero", "-z" },             { "ftsock", "-S" },
    { "ftchr", "-c" },              { "ftblk", "-b" },              { "ftfile", "-f" },
    { "ftdir", "-d" },              { "ftpipe", "-p" },             { "ftsuid", "-u" },
    { "ftsgid", "-g" },             { "ftsvtx", "-k" },             { "ftlink", "-l" },
    { "fttty", "-t" },              { "fttext", "-T" },             { "ftbinary", "-B" },
    { "ghbyname", "gethostbyname" },    { "ghbyaddr", "gethostbyaddr" },
    { "ghostent", "gethostent" },       { "gnbyname", "getnetbyname" },
    { "gnbyaddr", "getnetbyaddr" },     { "gnetent", "getnetent" },
    { "gpbyname", "getprotobyname" },   { "gpbynumber", "getprotobynumber" },
    { "gprotoent", "getprotoent" },     { "gsbyname", "getservbyname" },
    { "gsbyport", "getservbyport" },    { "gservent", "getservent" },
    { "gpwnam", "getpwnam" },           { "gpwuid", "getpwuid" },
    { "gpwent", "getpwent" },           { "ggrnam", "getgrnam" },
    { "ggrgid", "getgrgid" },           { "ggrent", "getgrent" },
    { "shostent", "sethostent" },       { "snetent", "setnetent" },
    { "sprotoent", "setprotoent" },     { "sservent", "setservent" },
    { "ehostent", "endhostent" },       { "enetent", "endnetent" },
    { "eprotoent", "endprotoent" },     { "eservent", "endservent" },
    { "spwent", "setpwent" },           { "epwent", "endpwent" },
    { "sgrent", "setgrent" },           { "egrent", "endgrent" },
};

static struct dp_text constant(const char *str)
{
    return (struct dp_text){ str, strlen(str) };
}

static bool starts_with(struct dp_text t, const char *with)
{
    size_t n = strlen(with);
    return t.len >= n && memcmp(t.ptr, with, n) == 0;
}

static bool is_text(struct dp_text t, const char *str)
{
    return t.len == strlen(str) && starts_with(t, str);
}

static struct dp_text text_from(struct dp_text t, size_t n)
{
    return (struct dp_text){ t.ptr + n, t.len - n };
}

struct dp_text dp_nytprof_file(struct dp_text file)
{
    const char *close = starts_with(file, "(eval ") ? memchr(file.ptr, ')', file.len) : NULL;
    size_t n = close ? (size_t)(close - file.ptr) + 1 : 0;
    if (n && n < file.len && file.ptr[n] == '[')
        file.len = n;
    return file;
}

/* Splits __ANON__[FILE:LINE] into name and place. Returns false for a name of another form. */
static bool split_anonymous(struct dp_subdef *def, struct dp_text name)
{
    size_t n = strlen(anon) + 1, colon = name.len;
    uint64_t line;
    if (!starts_with(name, anon) || name.len <= n || name.ptr[n - 1] != '['
        || name.ptr[name.len - 1] != ']')
        return false;
    while (colon > n && name.ptr[colon - 1] != ':')
        colon--;
    if (colon <= n + 1 || !dp_num_dec(name.ptr + colon, name.len - 1 - colon, &line))
        return false;
    def->name = constant(anon);
    def->file = dp_nytprof_file((struct dp_text){ name.ptr + n, colon - 1 - n });
    def->line = line;
    return true;
}

/* Makes def a builtin as our recorder writes it: in the package CORE, without a place. op: the name
 * that NYTProf gives it, sometimes perl's internal one. */
static void set_builtin(struct dp_subdef *def, struct dp_text op)
{
    def->builtin = true;
    def->xs = false;            /* NYTProf reports builtins as XS subs */
    def->package = constant("CORE");
    def->name = op;
    def->file = (struct dp_text){ "", 0 };
    def->line = 0;
    for (size_t i = 0; i < DP_ARRAY_LEN(ops); i++)
        if (is_text(op, ops[i].op))
            def->name = constant(ops[i].name);
}

/* Returns where the last part of a name begins; file names after it may contain colons, too. */
static size_t last_part(struct dp_text name)
{
    size_t at = 0;
    for (size_t i = 0; i < name.len && name.ptr[i] != '['; i++)
        if (i && name.ptr[i] == ':' && name.ptr[i - 1] == ':')
            at = i + 1;
    return at;
}

void dp_nytprof_name(struct dp_subdef *def, struct dp_text name)
{
    size_t at = last_part(name), digits = strlen(begin);
    struct dp_text last = text_from(name, at);
    def->package = (struct dp_text){ name.ptr, at ? at - 2 : 0 };
    def->name = last;
    if (starts_with(last, core) && last.len > strlen(core)) {
        set_builtin(def, text_from(last, strlen(core)));
    } else if (is_text(def->package, "CORE")) {
        set_builtin(def, last);
    } else if (starts_with(last, begin)) {
        while (digits < last.len && dp_is_digit(last.ptr[digits]))
            digits++;
        if (digits > strlen(begin) && (digits == last.len || last.ptr[digits] == '.'))
            def->name.len = strlen(begin) - 1;
    } else {
        split_anonymous(def, last);
    }
}
