/* Writes a number of distinct folded stacks of a made-up program, 5 to 60 frames deep. A stack
 * shares its beginning with one written before and adds a few frames of its own, so that there are
 * about 1.85 contexts per stack, as in profiles of real programs; almost half of the stacks were
 * seen once. Names have about 24 bytes. `after` is the same program some time later: 8 % of the
 * stacks are gone, as many are new, all that passes JSON::PP takes 1.6 times as long, Template half
 * as long, and the rest differs by chance. Stacks are in the order of a sorted file; with
 * `unsorted`, as they come. The same arguments give the same bytes. Usage: gen-folded [stacks
 * [before|after [sorted|unsorted]]] > out.folded */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 6000, LEAST = 5, MOST = 60 };

struct node { uint32_t parent, kid, next, name, count; unsigned char depth, which; };
enum { OTHER, JSON, TEMPLATE };

static const char *const packages[] = {
    "JSON::PP", "Template::Context", "DBIx::Class::Row", "HTTP::Message", "Moose::Meta::Class",
    "Text::CSV_PP", "DateTime::Duration", "Mojo::Reactor::Poll", "Catalyst::Action",
    "PPI::Token::Quote", "Pod::Simple", "Getopt::Long"
};
static const char *const verbs[] = {
    "parse", "render", "fetch", "build", "validate", "normalize", "flush", "lookup", "dispatch",
    "encode"
};
static char names[NAMES][64];
static struct node *nodes;
static uint32_t count = 1;
static uint64_t state = 42;

static uint32_t rnd(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(((state >> 32) * n) >> 32);
}

static uint64_t mixed(uint64_t k)
{
    k ^= k >> 33, k *= UINT64_C(0xff51afd7ed558ccd);
    k ^= k >> 33, k *= UINT64_C(0xc4ceb9fe1a85ec53);
    return k ^ k >> 33;
}

static void make_names(void)
{
    size_t np = sizeof packages / sizeof *packages, nv = sizeof verbs / sizeof *verbs;
    for (unsigned i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof names[i], "%s::%s_%u", packages[i % np], verbs[i / np % nv], i);
}

static uint32_t add(uint32_t parent)
{
    uint32_t name, n = count++;
    for (;;) {
        uint32_t k;
        /* A sub calls a few others near its own number, and the same ones in every context. */
        uint32_t others = rnd(nodes[parent].depth < 8 ? 30 : 400);
        name = (uint32_t)(mixed(nodes[parent].name * UINT64_C(1000) + others) % NAMES);
        for (k = nodes[parent].kid; k && nodes[k].name != name; k = nodes[k].next)
            ;
        if (!k)
            break;
        if (!rnd(4)) {
            name = rnd(NAMES);
            for (k = nodes[parent].kid; k && nodes[k].name != name; k = nodes[k].next)
                ;
            if (!k)
                break;
        }
    }
    unsigned which = name % 12 == 0 ? JSON : name % 12 == 1 ? TEMPLATE : OTHER;
    nodes[n] = (struct node){ parent, 0, nodes[parent].kid, name, 0,
                              (unsigned char)(nodes[parent].depth + 1),
                              (unsigned char)(which ? which : nodes[parent].which) };
    return nodes[parent].kid = n;
}

static void write_stack(uint32_t n, int after)
{
    static char line[MOST * 64 + 32];
    uint32_t path[MOST + 4];
    int depth = 0;
    size_t len = 0;
    uint64_t was = nodes[n].count, is = was, luck = mixed(n);
    if (luck % 100 < 8)
        was = 0;                /* new */
    else if (luck % 100 < 16)
        is = 0;                 /* gone */
    if (is && nodes[n].which)
        is = nodes[n].which == JSON ? (is * 16 + luck / 100 % 10) / 10 : (is + 1) / 2;
    else if (is)
        is += is > 3 ? luck / 100 % (is / 4 + 1) : 0;
    if (after)
        was = is;
    if (!was)
        return;
    for (uint32_t k = n; k; k = nodes[k].parent)
        path[depth++] = nodes[k].name;
    while (depth--) {
        size_t l = strlen(names[path[depth]]);
        memcpy(line + len, names[path[depth]], l);
        len += l;
        line[len++] = ';';
    }
    len--;
    len += (size_t)sprintf(line + len, " %llu\n", (unsigned long long)was);
    fwrite(line, 1, len, stdout);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(names[nodes[*(const uint32_t *)a].name], names[nodes[*(const uint32_t *)b].name]);
}

static void write_sorted(int after)
{
    uint32_t *stack = malloc((count + 1) * sizeof *stack), depth = 0;
    stack[depth++] = 0;
    while (depth) {
        uint32_t n = stack[--depth], from = depth;
        if (nodes[n].count)
            write_stack(n, after);
        for (uint32_t k = nodes[n].kid; k; k = nodes[k].next)
            stack[depth++] = k;
        qsort(stack + from, depth - from, sizeof *stack, by_name);
        for (uint32_t i = from, j = depth; i + 1 < j; i++) {
            uint32_t t = stack[i];
            stack[i] = stack[--j];
            stack[j] = t;
        }
    }
    free(stack);
}

int main(int argc, char **argv)
{
    uint32_t stacks = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000, done = 0;
    int after = argc > 2 && strcmp(argv[2], "after") == 0;
    int unsorted = argc > 3 && strcmp(argv[3], "unsorted") == 0;
    uint32_t total = stacks + stacks / 11;      /* 8 % of the stacks are in only one of the files */
    nodes = calloc((size_t)total * 5 + 100, sizeof *nodes);
    make_names();
    while (done < total) {
        uint32_t n = done < 50 ? 0 : 1 + rnd(count - 1), other = done < 50 ? 0 : 1 + rnd(count - 1);
        if (nodes[other].depth > nodes[n].depth && rnd(100) < 30)
            n = other;
        uint32_t more = 1 + (rnd(100) < 45) + (rnd(100) < 40);
        if (nodes[n].depth + more < LEAST)
            more = LEAST - nodes[n].depth + rnd(8);
        while (more-- && nodes[n].depth < MOST)
            n = add(n);
        if (nodes[n].count)
            continue;
        uint32_t c = 1;
        while (c < 100000 && rnd(100) < 55)
            c += 1 + c * rnd(3) / 2;
        nodes[n].count = c;
        done++;
    }
    if (!unsorted)
        write_sorted(after);
    for (uint32_t n = 1; unsorted && n < count; n++)
        if (nodes[n].count)
            write_stack(n, after);
    return 0;
}
