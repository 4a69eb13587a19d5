/* Joins ES modules to one script: join OUTPUT MODULE ... A page contains this script and runs it
 * from file://, where a browser loads no modules. In the script each module follows the modules
 * that it imports, whatever the order of the arguments is. A module becomes a function that is
 * called once and returns its exports; the module's other names are local to it.
 *
 * This program parses lines, not JavaScript: an import begins a line, ends at the next semicolon
 * and renames nothing; `export` begins a line, before a function, a class or a const of one name.
 * File names and exports are unique. The script is part of each page, so empty lines, comments and
 * blanks at the beginning of a line are left out. A comment behind code follows two blanks. No text
 * may span several lines, or have two blanks and two slashes. The output file appears when it is
 * complete. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct module {
    const char *path;
    char *text;
    bool is_done;
};

static struct module *modules;
static int n_modules;

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "join: %s: %s\n", path, what);
    exit(1);
}

static char *read_all(const char *path)
{
    FILE *in = fopen(path, "rb");
    char *data = NULL;
    size_t len = 0, got;
    if (!in) {
        perror(path);
        exit(1);
    }
    do {
        data = realloc(data, len + 65537);
        if (!data)
            fail(path, "out of memory");
        got = fread(data + len, 1, 65536, in);
        len += got;
    } while (got);
    if (ferror(in))
        fail(path, "read error");
    fclose(in);
    data[len] = '\0';
    if (strlen(data) != len)
        fail(path, "a module has no NUL bytes");
    return data;
}

static bool begins(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0;
}

static const char *next_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the line after an import, and its module in *from. */
static const char *read_import(const struct module *m, const char *at, struct module **from)
{
    const char *end = strchr(at, ';'), *quote = strchr(at, '\'');
    const char *close = quote ? strchr(quote + 1, '\'') : NULL;
    char name[256];
    if (!end || !close || close > end || close - quote > (long)sizeof name)
        fail(m->path, "an import has no '...'; at its end");
    snprintf(name, sizeof name, "%.*s", (int)(close - quote - 1), quote + 1);
    *from = NULL;
    for (int k = 0; k < n_modules; k++)
        if (strcmp(base_name(modules[k].path), base_name(name)) == 0)
            *from = &modules[k];
    if (!*from)
        fail(m->path, "it imports a module that is not among the arguments");
    return next_line(end);
}

static bool is_ready(const struct module *m)
{
    for (const char *at = m->text; *at;) {
        struct module *from;
        if (!begins(at, "import ")) {
            at = next_line(at);
            continue;
        }
        at = read_import(m, at, &from);
        if (!from->is_done)
            return false;
    }
    return true;
}

/* Returns whether a line is empty, or begins with a comment. */
static bool says_nothing(const char *at)
{
    at += strspn(at, " ");
    return *at == '\n' || begins(at, "//");
}

/* Writes a line, without a comment behind its code. */
static void write_line(FILE *out, const char *at, const char *next)
{
    const char *end = strstr(at, "  //");
    if (end && end < next) {
        while (end[-1] == ' ')
            end--;
        fprintf(out, "%.*s\n", (int)(end - at), at);
    } else {
        fwrite(at, 1, (size_t)(next - at), out);
    }
}

/* Writes the names of a module's exports, as a list. Returns their number. */
static int write_exports(FILE *out, const struct module *m)
{
    int n = 0;
    for (const char *at = m->text; *at; at = next_line(at)) {
        size_t len = 0;
        if (!begins(at, "export "))
            continue;
        const char *name = at + 7;
        name += begins(name, "async ") ? 6 : 0;
        if (!begins(name, "function ") && !begins(name, "class ") && !begins(name, "const "))
            fail(m->path, "an export is a function, a class or a const");
        name = strchr(name, ' ') + 1;
        while (isalnum((unsigned char)name[len]) || name[len] == '_' || name[len] == '$')
            len++;
        if (!len)
            fail(m->path, "an export has no name");
        if (out)
            fprintf(out, "%s%.*s", n ? ", " : "{ ", (int)len, name);
        n++;
    }
    if (out && n)
        fputs(" }", out);
    return n;
}

static void write_module(FILE *out, const struct module *m)
{
    int n = write_exports(NULL, m);
    if (n) {
        fputs("const ", out);
        write_exports(out, m);
        fputs(" = ", out);
    }
    fputs("(() => {\n", out);
    for (const char *at = m->text, *next; *at; at = next) {
        struct module *from;
        if (begins(at, "import ")) {
            next = read_import(m, at, &from);
            continue;
        }
        at += begins(at, "export ") ? 7 : 0;
        next = next_line(at);
        if (says_nothing(at))
            continue;
        write_line(out, at + strspn(at, " "), next);
    }
    if (n) {
        fputs("return ", out);
        write_exports(out, m);
        fputs(";\n", out);
    }
    fputs("})();\n", out);
}

static void read_modules(char **paths, int n)
{
    n_modules = n;
    modules = calloc((size_t)n, sizeof *modules);
    if (!modules)
        fail("modules", "out of memory");
    for (int k = 0; k < n; k++) {
        modules[k].path = paths[k];
        modules[k].text = read_all(paths[k]);
        for (int i = 0; i < k; i++)
            if (strcmp(base_name(paths[i]), base_name(paths[k])) == 0)
                fail(paths[k], "another module has this name");
    }
}

int main(int argc, char **argv)
{
    char temporary[4096];
    if (argc < 3) {
        fputs("usage: join OUTPUT MODULE ...\n", stderr);
        return 2;
    }
    read_modules(argv + 2, argc - 2);
    snprintf(temporary, sizeof temporary, "%s.new", argv[1]);
    FILE *out = fopen(temporary, "wb");
    if (!out) {
        perror(temporary);
        return 1;
    }
    fputs("'use strict';\n", out);
    for (int left = n_modules, before = 0; left;) {
        if (left == before)
            fail(argv[1], "modules import each other in a circle");
        before = left;
        for (int k = 0; k < n_modules; k++) {
            if (modules[k].is_done || !is_ready(&modules[k]))
                continue;
            write_module(out, &modules[k]);
            modules[k].is_done = true;
            left--;
        }
    }
    if (fclose(out) != 0 || rename(temporary, argv[1]) != 0) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
