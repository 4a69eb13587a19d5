/* Perl's bytes are counted in the entries of malloc and its kin in perl's own global offset table,
 * because no allocator reports cheaply how many bytes are in use: glibc's mallinfo2 walks its free
 * lists, which takes 11 ms with 67,000 free pieces.
 *
 * What this relies on: perl calls malloc, calloc, realloc and free by their entries in its
 * global offset table. A perl with a malloc of its own (MYMALLOC) has no count. */
#include "dpx_heap.h"
#include "dpx.h"

#if defined(__linux__) && defined(__LP64__) && !defined(MYMALLOC)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes as the allocator has rounded them. */
static __thread int64_t in_use;

/* Bytes to the next sampled byte (dp_blocks.h); 0: the thread has not begun. */
static __thread int64_t to_sample;

/* Until a recording begins, nobody notes anything. */
static struct dpx_ctx *no_owner(void) { return NULL; }
static int64_t not_noted(struct dpx_ctx *owner, void *at, size_t size)
{
    (void)owner, (void)at, (void)size;
    return 1 << 16;
}
static void not_freed(void *at) { (void)at; }

static const struct dpx_heap_sampler none = { no_owner, not_noted, not_freed };
static const struct dpx_heap_sampler *sampler = &none;

/* Is the next sampled byte in the next n bytes that this thread allocates? */
DP_INLINE bool is_sampled(size_t n)
{
    to_sample -= (int64_t)(n & INT64_MAX);
    return DP_UNLIKELY(to_sample <= 0);
}

DP_INLINE void note_freed(void *p)
{
    if (DP_UNLIKELY(*dpx_heap_hint_of(p)))
        sampler->freed(p);
}

DP_INLINE int64_t size_of(void *p) { return (int64_t)malloc_usable_size(p); }

/* Take the place of a function of the allocator that returns a block, of BYTES instead of OLD.
 * COUNTS: the bytes in use are counted; SAMPLES: blocks are noted. What a sampled block needs is a
 * function of its own, so that the other calls save no registers. */
#define ALLOCATOR(name, function, PARAMETERS, ARGUMENTS, OLD, BYTES, COUNTS, SAMPLES) \
    DP_INLINE void *name##_plain_##function PARAMETERS \
    { \
        int64_t before = COUNTS && OLD ? size_of(OLD) : 0; \
        if (SAMPLES && OLD) \
            note_freed(OLD); \
        void *p = function ARGUMENTS; \
        if (COUNTS && (p || (BYTES) == 0)) \
            in_use += size_of(p) - before; \
        return p; \
    } \
    static DP_COLD void *name##_sampled_##function PARAMETERS \
    { \
        struct dpx_ctx *owner = sampler->owner(); \
        void *p = name##_plain_##function ARGUMENTS; \
        to_sample = sampler->allocated(owner, p, BYTES); \
        return p; \
    } \
    static void *name##_##function PARAMETERS \
    { \
        if (SAMPLES && is_sampled(BYTES)) \
            return name##_sampled_##function ARGUMENTS; \
        return name##_plain_##function ARGUMENTS; \
    }

/* The functions of one kind, as above. */
#define FUNCTIONS(name, COUNTS, SAMPLES) \
    ALLOCATOR(name, malloc, (size_t n), (n), NULL, n, COUNTS, SAMPLES) \
    ALLOCATOR(name, calloc, (size_t n, size_t size), (n, size), NULL, n * size, COUNTS, SAMPLES) \
    ALLOCATOR(name, realloc, (void *old, size_t n), (old, n), old, n, COUNTS, SAMPLES) \
    static void name##_free(void *p) \
    { \
        if (COUNTS) \
            in_use -= size_of(p); \
        if (SAMPLES) \
            note_freed(p); \
        free(p); \
    }
FUNCTIONS(count, true, false)
FUNCTIONS(sample, false, true)
FUNCTIONS(both, true, true)
#undef ALLOCATOR
#undef FUNCTIONS

int64_t dpx_heap_in_use(void) { return in_use; }

uint8_t dpx_heap_hint[DPX_HEAP_HINTS];

void dpx_heap_sample(const struct dpx_heap_sampler *by) { sampler = by; }

/* ---- perl's table ---- */

typedef void anything(void);

/* The functions, by what they do: DPX_HEAP_COUNTS, DPX_HEAP_SAMPLES or both, less 1. */
static const struct {
    const char *name;
    anything *ours[3];
} functions[] = {
#define ROW(name)  { #name, { (anything *)count_##name, (anything *)sample_##name, \
                              (anything *)both_##name } },
    ROW(malloc) ROW(calloc) ROW(realloc) ROW(free)
#undef ROW
};

static struct {
    anything **at;
    anything *before;
} replaced[16];
static size_t n_replaced;

struct elf_object {
    uintptr_t inside;           /* an address in it */
    const ElfW(Dyn) *dynamic;
    uintptr_t base;
    uintptr_t relro, relro_end; /* the part that is read-only after the start */
};

/* A callback of dl_iterate_phdr: is this the object that contains the address o->inside? If so,
 * fills in *o, and returns 1, which ends the search. */
static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct elf_object *o = arg;
    bool holds = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_LOAD && o->inside >= from && o->inside < from + ph->p_memsz)
            holds = true;
        if (ph->p_type == PT_DYNAMIC)
            o->dynamic = (const ElfW(Dyn) *)from;
        if (ph->p_type == PT_GNU_RELRO) {
            o->relro = from;
            o->relro_end = from + ph->p_memsz;
        }
    }
    o->base = info->dlpi_addr;
    if (!holds) {
        o->dynamic = NULL;
        o->relro = o->relro_end = 0;
    }
    return holds;
}

/* Returns an address of a loaded object as it is in memory. glibc has made the addresses in the
 * dynamic section absolute; others leave them relative. */
static uintptr_t absolute_address(const struct elf_object *o, uintptr_t at)
{
    return at < o->base ? at + o->base : at;
}

/* Makes the page of a table of functions writable, or read-only again. Returns false if that
 * fails. */
static bool make_writable(const struct elf_object *o, void *at, bool on)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(page - 1);
    if ((uintptr_t)at < o->relro || (uintptr_t)at >= o->relro_end)
        return true;
    return mprotect((void *)from, page, on ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

/* Sets the entries of a relocation table that point to functions of the heap to ours, and notes
 * what they were. Entries that cannot be written are left as they are. */
static void replace_entries(const struct elf_object *o, const ElfW(Rela) * rela, size_t n,
                            const ElfW(Sym) * symbols, const char *names, int what)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = names + symbols[ELF64_R_SYM(rela[i].r_info)].st_name;
        anything **at = (anything **)(o->base + rela[i].r_offset);
        for (size_t k = 0; k < DP_ARRAY_LEN(functions) && n_replaced < DP_ARRAY_LEN(replaced);
             k++) {
            anything *real = strcmp(name, functions[k].name) == 0
                                 ? (anything *)dlsym(RTLD_DEFAULT, name) : NULL;
            /* a jump slot or a plain address; with an addend it is no pointer to the function */
            if (!real || rela[i].r_addend)
                continue;
            if (!make_writable(o, at, true))
                continue;
            replaced[n_replaced].at = at;
            replaced[n_replaced++].before = *at;
            __atomic_store_n(at, functions[k].ours[what - 1], __ATOMIC_RELAXED);
            make_writable(o, at, false);
        }
    }
}

struct outside {
    struct dp_buf *to;
    size_t most;                /* bytes */
    bool is_full;
};

/* Is it perl, an XS module, a part of the C library, or the library that we need ourselves? */
static bool is_inside(const char *path, const char *name)
{
    static const char *const small[] = {
        "linux-vdso.", "ld-", "libperl.", "libc.", "libc-", "libm.", "libdl.", "libpthread.",
        "librt.", "libcrypt.", "libgcc_s.", "libz.",
    };
    for (size_t i = 0; i < DP_ARRAY_LEN(small); i++)
        if (strncmp(name, small[i], strlen(small[i])) == 0)
            return true;
    return !*name || strstr(path, "/auto/");
}

/* A callback of dl_iterate_phdr: appends the name of a library. */
static int add_outside(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct outside *o = arg;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    (void)size;
    if (is_inside(info->dlpi_name, name) || o->is_full)
        return 0;
    o->is_full = o->to->len + strlen(name) + sizeof " ..." > o->most;
    dp_buf_addf(o->to, "%s%s", o->to->len ? " " : "", o->is_full ? "..." : name);
    return 0;
}

void dpx_heap_outside(struct dp_buf *to, size_t most)
{
    struct outside o = { to, most, false };
    dl_iterate_phdr(add_outside, &o);
}

/* Finds the object, perl's program or libperl, that calls malloc() for perl. Returns false if there
 * is none. */
static bool find_perl(struct elf_object *o)
{
    memset(o, 0, sizeof *o);
    o->inside = (uintptr_t)&Perl_safesysmalloc;
    void *there = dlsym(RTLD_DEFAULT, "Perl_safesysmalloc");
    if (there)
        o->inside = (uintptr_t)there;   /* the first address may be an entry of our own table */
    return dl_iterate_phdr(find_object, o) && o->dynamic;
}

/* Does malloc_usable_size belong to malloc? A library that is loaded before the allocator may have
 * its own malloc, and no malloc_usable_size: the allocator's would be asked about blocks that it
 * does not know. */
static bool tells_sizes(void)
{
    Dl_info malloc_is, size_is;
    void *m = dlsym(RTLD_DEFAULT, "malloc"), *s = dlsym(RTLD_DEFAULT, "malloc_usable_size");
    return m && s && dladdr(m, &malloc_is) && dladdr(s, &size_is)
           && malloc_is.dli_fbase == size_is.dli_fbase;
}

const char *dpx_heap_watch(int what)
{
    struct elf_object o;
    const ElfW(Rela) *plt = NULL, *rela = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t plt_size = 0, rela_size = 0;
    if (n_replaced)
        return NULL;
    if (!tells_sizes())
        return "the allocator does not tell how large its blocks are";
    if (!find_perl(&o))
        return "perl's calls of the allocator cannot be found";
    for (const ElfW(Dyn) *d = o.dynamic; d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_JMPREL: plt = (const ElfW(Rela) *)absolute_address(&o, d->d_un.d_ptr); break;
        case DT_PLTRELSZ: plt_size = d->d_un.d_val; break;
        case DT_PLTREL:
            if (d->d_un.d_val != DT_RELA)
                return "perl's calls of the allocator cannot be found";
            break;
        case DT_RELA: rela = (const ElfW(Rela) *)absolute_address(&o, d->d_un.d_ptr); break;
        case DT_RELASZ: rela_size = d->d_un.d_val; break;
        case DT_SYMTAB: symbols = (const ElfW(Sym) *)absolute_address(&o, d->d_un.d_ptr); break;
        case DT_STRTAB: names = (const char *)absolute_address(&o, d->d_un.d_ptr); break;
        }
    if (!symbols || !names)
        return "perl's calls of the allocator cannot be found";
    if (plt)
        replace_entries(&o, plt, plt_size / sizeof *plt, symbols, names, what);
    if (rela)
        replace_entries(&o, rela, rela_size / sizeof *rela, symbols, names, what);
    if (n_replaced < DP_ARRAY_LEN(functions)) {
        dpx_heap_unwatch();
        return "perl's calls of the allocator cannot be found";
    }
    return NULL;
}

void dpx_heap_unwatch(void)
{
    struct elf_object o;
    if (!n_replaced || !find_perl(&o))
        return;
    while (n_replaced) {
        n_replaced--;
        if (make_writable(&o, replaced[n_replaced].at, true)) {
            __atomic_store_n(replaced[n_replaced].at, replaced[n_replaced].before,
                             __ATOMIC_RELAXED);
            make_writable(&o, replaced[n_replaced].at, false);
        }
    }
}

const char *dpx_heap_refusal(void)
{
    bool watched = n_replaced > 0;
    const char *why = dpx_heap_watch(DPX_HEAP_COUNTS);
    if (!watched)
        dpx_heap_unwatch();
    return why;
}

#else

const char *dpx_heap_watch(int what)
{
    (void)what;
#ifdef MYMALLOC
    return "this perl has an allocator of its own";
#else
    return "it is counted on 64-bit Linux only";
#endif
}

const char *dpx_heap_refusal(void) { return dpx_heap_watch(DPX_HEAP_COUNTS); }
void dpx_heap_unwatch(void) {}
int64_t dpx_heap_in_use(void) { return 0; }
uint8_t dpx_heap_hint[DPX_HEAP_HINTS];
void dpx_heap_sample(const struct dpx_heap_sampler *by) { (void)by; }
void dpx_heap_outside(struct dp_buf *to, size_t most) { (void)to, (void)most; }

#endif
