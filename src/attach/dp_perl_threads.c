/* The interpreter of each thread: pthread_getspecific(PL_thr_key), from outside.
 *
 * glibc keeps a control block for each thread at the end of its stack: it begins with its own
 * address, and has it again 16 bytes on; behind that stand the thread's number, and pointers to
 * blocks with the values of 32 keys each. glibc itself tells the offsets of both, for debuggers, in
 * variables of three numbers of 32 bits: bits, count, offset (nptl_db/structs.def). A block is
 * found by scanning the ends of the mappings that stacks may be in. In a core file, a register
 * points to it.
 *
 * On other processors (arm64, for one) glibc's block does not have its own address. But on all of
 * them the links of a list of all threads stand before the thread's number. So a block is also one
 * where a listed number is, and whose neighbours in the list lead back to it.
 *
 * musl's block begins with its own address, too. It has pointers to the blocks before and behind it
 * in a ring of all threads, the thread's number, and a pointer to the values of all keys. musl
 * describes none of that, so the offsets are those of musl 1.2 on x86-64. A block counts only if
 * both its neighbours in the ring lead back to it. The ring leads from one block to all others. */
#include "dp_perl.h"
#include "dp_mem.h"
#include "dp_symbols.h"

enum {
    SELF_AGAIN = 16,            /* tcbhead_t.self */
    TID_OFFSET = 0x2d0,         /* if libc does not tell; glibc 2.27 to 2.42 on x86-64 */
    BLOCKS_OFFSET = 0x510,
    LINKS = 16,                 /* struct pthread.list: next and previous, before the number */
    KEY_SIZE = 16, KEYS = 32,   /* struct pthread_key_data: a number, and the value */
    MUSL_BEFORE = 16, MUSL_NEXT = 24,   /* struct pthread */
    MUSL_TID = 48, MUSL_VALUES = 128,
    MUSL_KEYS = 128,            /* PTHREAD_KEYS_MAX */
    SCANNED = 1 << 16,          /* bytes at the end of a mapping that are scanned */
    STEP = 8
};

struct places {
    uint32_t tid, blocks;       /* offsets in a control block of glibc's */
    uint32_t key;
};

/* A search for the interpreters of threads. */
struct search {
    struct dp_perl *perl;
    struct places at;
    const struct dp_threads *threads;
    dp_addr *in;                /* for each thread; 0: not found */
    size_t found;               /* how many of those are not 0 */
};

/* ---- what libc tells ---- */

struct told {
    dp_addr tid, blocks;        /* of its descriptions; 0: not found */
};

/* Notes the address of libpthread's description of a field in its struct pthread, if the symbol is
 * one of those needed. */
static void take_description(void *arg, const char *name, dp_addr at)
{
    struct told *told = arg;
    if (strcmp(name, "_thread_db_pthread_tid") == 0)
        told->tid = at;
    else if (strcmp(name, "_thread_db_pthread_specific") == 0)
        told->blocks = at;
}

static bool is_libc(const char *path)
{
    return strstr(path, "/libpthread") || strstr(path, "/libc.so") || strstr(path, "/libc-2")
           || strstr(path, "/ld-musl");
}

/* Takes the offsets from the first libc or libpthread among the mappings that describes both. If
 * there is none, `to` keeps its values. */
static void ask_libc(struct dp_perl *perl, const struct dp_regions *regions,
                     dp_region_open_fn *open, void *from, struct places *to)
{
    enum { OFFSET = 2 * sizeof(uint32_t) };
    size_t last = 0;
    for (size_t i = 0; i < regions->count; i++) {
        const char *path = dp_regions_path(regions, &regions->at[i]);
        struct told told = { 0, 0 };
        if (regions->at[i].path == last || !is_libc(path))
            continue;
        last = regions->at[i].path;
        dp_symbols_of(regions, i, open, from, take_description, &told);
        if (told.tid && told.blocks) {
            to->tid = dp_target_u32(perl->target, told.tid + OFFSET);
            to->blocks = dp_target_u32(perl->target, told.blocks + OFFSET);
            return;
        }
    }
}

/* ---- control blocks ---- */

/* Returns the interpreter whose address is at `at`; 0: none is there. */
static dp_addr interpreter_at(const struct search *s, dp_addr at)
{
    dp_addr in = dp_target_pointer(s->perl->target, at);
    return in && dp_perl_is_interpreter(s->perl, in) ? in : 0;
}

/* Returns the interpreter of the thread with this control block of glibc's; 0: none. */
static dp_addr interpreter_of(const struct search *s, dp_addr block)
{
    dp_addr first = s->at.key < KEYS
                    ? dp_target_pointer(s->perl->target, block + s->at.blocks) : 0;
    return first ? interpreter_at(s, first + KEY_SIZE * s->at.key + sizeof(void *)) : 0;
}

/* Is a thread with this number listed? */
static bool is_listed(const struct search *s, uint32_t tid)
{
    for (size_t i = 0; tid && i < s->threads->count; i++)
        if (s->threads->at[i].inner == (pid_t)tid)
            return true;
    return false;
}

/* Are these the links of a control block of glibc's, at the address `links'? */
static bool are_links(const struct search *s, dp_addr links, dp_addr next, dp_addr before)
{
    struct dp_target *t = s->perl->target;
    return dp_target_pointer(t, next + sizeof(void *)) == links
           && dp_target_pointer(t, before) == links;
}

/* Returns the interpreter of the thread with this control block of musl's; 0: none. */
static dp_addr interpreter_of_musl(const struct search *s, dp_addr block)
{
    dp_addr values = s->at.key < MUSL_KEYS
                     ? dp_target_pointer(s->perl->target, block + MUSL_VALUES) : 0;
    return values ? interpreter_at(s, values + sizeof(void *) * s->at.key) : 0;
}

/* Is a control block of musl's at this address? */
static bool is_musl(const struct search *s, dp_addr block)
{
    struct dp_target *t = s->perl->target;
    dp_addr before = dp_target_pointer(t, block + MUSL_BEFORE);
    dp_addr next = dp_target_pointer(t, block + MUSL_NEXT);
    return before && next && dp_target_pointer(t, block) == block
           && dp_target_pointer(t, before + MUSL_NEXT) == block
           && dp_target_pointer(t, next + MUSL_BEFORE) == block;
}

/* Notes the interpreter of the thread with this number. */
static void note(struct search *s, uint32_t tid, dp_addr interpreter)
{
    for (size_t i = 0; interpreter && i < s->threads->count; i++) {
        if (s->threads->at[i].inner != (pid_t)tid || s->in[i])
            continue;
        s->in[i] = interpreter;
        s->found++;
    }
}

/* Notes the interpreters of all threads in the ring of this control block of musl's. Threads may
 * come and go meanwhile, so the walk ends after twice as many blocks as there are threads. */
static void walk_ring(struct search *s, dp_addr block)
{
    dp_addr at = block;
    for (size_t left = 2 * s->threads->count; left-- && at && is_musl(s, at);) {
        note(s, dp_target_u32(s->perl->target, at + MUSL_TID), interpreter_of_musl(s, at));
        at = dp_target_pointer(s->perl->target, at + MUSL_NEXT);
        if (at == block)
            break;
    }
}

/* Looks in bytes that were read from an address for control blocks of glibc's that do not have
 * their own address. */
static void scan_links(struct search *s, dp_addr from, const char *bytes, size_t len)
{
    for (size_t o = 0; o + LINKS + 4 <= len && s->found < s->threads->count; o += STEP) {
        dp_addr next = dp_target_pointer_in(bytes, o);
        dp_addr before = dp_target_pointer_in(bytes, o + sizeof(void *));
        uint32_t tid = dp_target_u32_in(bytes, o + LINKS);
        if (next && before && is_listed(s, tid) && are_links(s, from + o, next, before))
            note(s, tid, interpreter_of(s, from + o + LINKS - s->at.tid));
    }
}

/* Looks at the end of a mapping for control blocks of threads that are listed. bytes: room for
 * SCANNED bytes. */
static void scan_region(struct search *s, const struct dp_region *r, char *bytes)
{
    size_t len = r->end - r->start > SCANNED ? SCANNED : (size_t)(r->end - r->start);
    dp_addr from = r->end - len;
    struct dp_target_part part = { from, bytes, len };
    if (!dp_target_read(s->perl->target, &part, 1))
        return;
    for (size_t o = 0; o + SELF_AGAIN + 8 <= len; o += STEP) {
        dp_addr block = from + o;
        if (dp_target_pointer_in(bytes, o) != block)
            continue;
        if (dp_target_pointer_in(bytes, o + SELF_AGAIN) == block)
            note(s, dp_target_u32(s->perl->target, block + s->at.tid), interpreter_of(s, block));
        if (s->found < s->threads->count && is_musl(s, block))
            walk_ring(s, block);
    }
    scan_links(s, from, bytes, len);
}

/* Takes the control block of each thread of a core file. */
static void look_at_blocks(struct search *s)
{
    for (size_t i = 0; i < s->threads->count; i++) {
        dp_addr block = s->threads->at[i].tls;
        if (block)
            s->in[i] = interpreter_of(s, block);
        if (block && !s->in[i] && is_musl(s, block))
            s->in[i] = interpreter_of_musl(s, block);
        s->found += s->in[i] != 0;
    }
}

size_t dp_perl_threads(struct dp_perl *perl, const struct dp_regions *regions,
                       dp_region_open_fn *open, void *from, const struct dp_threads *threads,
                       dp_addr *in)
{
    struct search s = { perl, { TID_OFFSET, BLOCKS_OFFSET, 0 }, threads, in, 0 };
    memset(in, 0, threads->count * sizeof *in);
    char *bytes = dp_mem_alloc(SCANNED);
    if (!bytes || !perl->version.multiplicity || sizeof(void *) != 8)
        goto done;
    s.at.key = dp_target_u32(perl->target, perl->symbols[DP_PERL_thr_key]);
    ask_libc(perl, regions, open, from, &s.at);
    look_at_blocks(&s);
    for (size_t i = 0; i < regions->count && s.found < threads->count; i++) {
        const struct dp_region *r = &regions->at[i];
        /* musl has the block of the first thread among its own variables */
        if (r->is_writable && (!r->path || is_libc(dp_regions_path(regions, r))))
            scan_region(&s, r, bytes);
    }
done:
    dp_mem_free(bytes);
    return s.found;
}
