/* The interpreter of each thread: pthread_getspecific(PL_thr_key), from outside.
 *
 * glibc keeps a control block for each thread at the end of its stack: it begins with its own
 * address, and has it again 16 bytes on; behind that stand the thread's number, and pointers to
 * blocks with the values of 32 keys each. glibc itself tells the offsets of both, for debuggers, in
 * variables of three numbers of 32 bits: bits, count, offset (nptl_db/structs.def). A block is
 * found by scanning the ends of the mappings that stacks may be in. In a core file, a register
 * points to it. */
#include "dp_perl.h"
#include "dp_mem.h"
#include "dp_symbols.h"

enum {
    SELF_AGAIN = 16,            /* tcbhead_t.self */
    TID_OFFSET = 0x2d0,         /* if libc does not tell; glibc 2.27 to 2.42 on x86-64 */
    BLOCKS_OFFSET = 0x510,
    KEY_SIZE = 16, KEYS = 32,   /* struct pthread_key_data: a number, and the value */
    SCANNED = 1 << 16,          /* bytes at the end of a mapping that are scanned */
    STEP = 16
};

struct places {
    uint32_t tid, blocks;       /* offsets in a control block */
    uint32_t key;
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
        if (regions->at[i].path == last
            || (!strstr(path, "/libpthread") && !strstr(path, "/libc.so")
                && !strstr(path, "/libc-2")))
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

/* Returns the interpreter of the thread with this control block; 0: none. */
static dp_addr interpreter_of(struct dp_perl *perl, const struct places *at, dp_addr block)
{
    dp_addr first = dp_target_pointer(perl->target, block + at->blocks);
    dp_addr in = !first ? 0
                 : dp_target_pointer(perl->target, first + KEY_SIZE * at->key + sizeof(void *));
    return in && dp_perl_is_interpreter(perl, in) ? in : 0;
}

/* Looks at the end of a mapping for control blocks of threads that are listed, and sets in[i] to
 * the interpreter of thread i. Returns how many were found. */
static size_t scan_region(struct dp_perl *perl, const struct places *at,
                          const struct dp_region *r, const struct dp_threads *threads,
                          char *bytes, dp_addr *in)
{
    size_t len = r->end - r->start > SCANNED ? SCANNED : (size_t)(r->end - r->start), found = 0;
    dp_addr from = r->end - len;
    struct dp_target_part part = { from, bytes, len };
    if (!dp_target_read(perl->target, &part, 1))
        return 0;
    for (size_t o = 0; o + SELF_AGAIN + 8 <= len; o += STEP) {
        if (dp_target_pointer_in(bytes, o) != from + o
            || dp_target_pointer_in(bytes, o + SELF_AGAIN) != from + o)
            continue;
        pid_t tid = (pid_t)dp_target_u32(perl->target, from + o + at->tid);
        for (size_t i = 0; i < threads->count; i++)
            if (threads->at[i].inner == tid && !in[i]
                && (in[i] = interpreter_of(perl, at, from + o)) != 0)
                found++;
    }
    return found;
}

size_t dp_perl_threads(struct dp_perl *perl, const struct dp_regions *regions,
                       dp_region_open_fn *open, void *from, const struct dp_threads *threads,
                       dp_addr *in)
{
    struct places at = { TID_OFFSET, BLOCKS_OFFSET, 0 };
    size_t found = 0;
    memset(in, 0, threads->count * sizeof *in);
    char *bytes = dp_mem_alloc(SCANNED);
    if (!bytes || !perl->version.multiplicity || sizeof(void *) != 8)
        goto done;
    at.key = dp_target_u32(perl->target, perl->symbols[DP_PERL_thr_key]);
    ask_libc(perl, regions, open, from, &at);
    if (at.key >= KEYS)
        goto done;
    for (size_t i = 0; i < threads->count; i++)
        if (threads->at[i].tls)
            found += (in[i] = interpreter_of(perl, &at, threads->at[i].tls)) != 0;
    for (size_t i = 0; i < regions->count && found < threads->count; i++)
        if (regions->at[i].is_writable && !regions->at[i].path)
            found += scan_region(perl, &at, &regions->at[i], threads, bytes, in);
done:
    dp_mem_free(bytes);
    return found;
}
