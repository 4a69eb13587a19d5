#include "dp_symbols.h"
#include "dp_elf.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_PAGE = 4096 };      /* ELF files are laid out for the smallest page */

struct placed {
    const struct dp_region *region;
    bool found;
    uint64_t bias;              /* address in memory, less that in the file */
    dp_symbol_fn *fn;
    void *arg;
};

/* Computes how far the file was moved in memory, from the load that begins where the mapping
 * begins. */
static int find_bias(void *arg, const struct dp_elf_load *load)
{
    struct placed *p = arg;
    if (load->offset / FILE_PAGE * FILE_PAGE != p->region->offset)
        return 0;
    p->bias = p->region->start - load->address / FILE_PAGE * FILE_PAGE;
    p->found = true;
    return 1;
}

static void place_symbol(void *arg, const char *name, uint64_t address)
{
    const struct placed *p = arg;
    p->fn(p->arg, name, p->bias + address);
}

bool dp_symbols_of(const struct dp_regions *regions, size_t i, dp_region_open_fn *open, void *from,
                   dp_symbol_fn *fn, void *arg)
{
    struct placed p = { &regions->at[i], false, 0, fn, arg };
    struct dp_elf elf;
    struct stat st;
    int fd = open(from, regions, p.region);
    if (fd < 0)
        return false;
    void *bytes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0
                  ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    if (dp_elf_init(&elf, bytes, (size_t)st.st_size)) {
        dp_elf_loads(&elf, find_bias, &p);
        if (p.found)
            dp_elf_symbols(&elf, place_symbol, &p);
    }
    munmap(bytes, (size_t)st.st_size);
    return p.found;
}
