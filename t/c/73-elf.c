/* ELF files, core files and lists of mappings: as they should be, cut at each byte, and with
 * hostile numbers. */
#include "tap.h"
#include "random.h"
#include "dp_core.h"
#include "dp_elf.h"
#include "dp_mem.h"
#include "dp_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/procfs.h>
#include <unistd.h>

enum { LOADED = 0x1000, SIZE = 0x2000, MOST_PATH = 64,
       WRONG_BYTES = -1000, NOT_THERE = -1001 };

/* A file with a load, a part of notes, and a table of two symbols. */
struct file {
    ElfW(Ehdr) head;
    ElfW(Phdr) programs[2];
    ElfW(Shdr) sections[3];
    ElfW(Sym) symbols[3];
    char names[24];
    /* notes; what is in them is not aligned */
    struct { ElfW(Nhdr) head; char name[8], status[sizeof(struct elf_prstatus)]; } thread;
    struct { ElfW(Nhdr) head; char name[8], of[5 * sizeof(ElfW(Addr))], path[MOST_PATH]; } files;
    char padding[512];
    char loaded[64];
};

static struct file file;

static void make_file(unsigned type)
{
    const uint16_t one = 1;
    const ElfW(Addr) of[5] = { 1, 4096, 0x500000, 0x501000, 0 };
    struct elf_prstatus status = { .pr_pid = 77 };
    memset(&file, 0, sizeof file);
    memcpy(file.head.e_ident, ELFMAG, SELFMAG);
    file.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    file.head.e_ident[EI_DATA] = *(const char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    file.head.e_type = (ElfW(Half))type;
    file.head.e_phoff = offsetof(struct file, programs);
    file.head.e_phentsize = sizeof *file.programs;
    file.head.e_phnum = 2;
    file.head.e_shoff = offsetof(struct file, sections);
    file.head.e_shentsize = sizeof *file.sections;
    file.head.e_shnum = 3;
    file.programs[0].p_type = PT_LOAD;
    file.programs[0].p_vaddr = 0x400000;
    file.programs[0].p_filesz = sizeof file;
    file.programs[1].p_type = PT_NOTE;
    file.programs[1].p_offset = offsetof(struct file, thread);
    file.programs[1].p_filesz = offsetof(struct file, padding) - offsetof(struct file, thread);
    file.sections[1].sh_type = SHT_DYNSYM;
    file.sections[1].sh_link = 2;
    file.sections[1].sh_offset = offsetof(struct file, symbols);
    file.sections[1].sh_size = sizeof file.symbols;
    file.sections[2].sh_type = SHT_STRTAB;
    file.sections[2].sh_offset = offsetof(struct file, names);
    file.sections[2].sh_size = sizeof file.names;
    memcpy(file.names, "\0PL_one\0PL_two", 15);
    file.symbols[1] = (ElfW(Sym)){ .st_name = 1, .st_shndx = 1, .st_value = 0x400010 };
    file.symbols[2] = (ElfW(Sym)){ .st_name = 8, .st_shndx = 1, .st_value = 0x400020 };
    file.thread.head = (ElfW(Nhdr)){ 5, sizeof file.thread.status, NT_PRSTATUS };
    status.pr_pid = 77;
    memcpy(file.thread.status, &status, sizeof status);
    file.files.head = (ElfW(Nhdr)){ 5, sizeof file.files.of + MOST_PATH, 0x46494c45 };
    memcpy(file.files.of, of, sizeof of);
    strcpy(file.files.path, "/nowhere/at/all");
    strcpy(file.loaded, "loaded");
}

struct seen { unsigned loads, notes, symbols; uint64_t sum; };

static int see_load(void *arg, const struct dp_elf_load *load)
{
    struct seen *seen = arg;
    seen->loads++;
    seen->sum += load->offset + load->file_size;
    return 0;
}

static int see_note(void *arg, unsigned type, const char *note, size_t len)
{
    struct seen *seen = arg;
    seen->notes++;
    for (size_t i = 0; i < len; i++)    /* reads all of it */
        seen->sum += (unsigned char)note[i] + type;
    return 0;
}

static void see_symbol(void *arg, const char *name, uint64_t address)
{
    struct seen *seen = arg;
    seen->symbols++;
    seen->sum += strlen(name) + address;
}

/* Reads all of a file of that size, in memory that ends with it. */
static bool see_all(const void *bytes, size_t size, struct seen *seen)
{
    struct dp_elf elf;
    char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    memset(seen, 0, sizeof *seen);
    bool is_elf = dp_elf_init(&elf, exact, size);
    if (is_elf) {
        dp_elf_loads(&elf, see_load, seen);
        dp_elf_notes(&elf, see_note, seen);
        dp_elf_symbols(&elf, see_symbol, seen);
    }
    free(exact);
    return is_elf;
}

static char path[] = "/tmp/dprof-elf-XXXXXX";

/* Opens the file's first bytes as a core, and reads what it has. */
static int open_core(size_t size, struct dp_err *err)
{
    struct dp_core core;
    char bytes[16];
    struct dp_target_part parts[] = { { 0x400000 + offsetof(struct file, loaded), bytes, 7 },
                                      { UINT64_MAX - 2, bytes, 7 }, { 0x500000, bytes, 7 } };
    int fd = open(path, O_WRONLY | O_TRUNC);
    if (fd < 0 || write(fd, &file, size) != (ssize_t)size || close(fd))
        abort();
    dp_err_init(err);
    int rc = dp_core_open(&core, path, err);
    if (rc == 0 && size == sizeof file && dp_core_read(&core, parts, 1))
        rc = strcmp(bytes, "loaded") ? WRONG_BYTES : (int)core.threads.count;
    if (rc >= 0)
        for (int i = 1; i < 3; i++)
            if (dp_core_read(&core, parts + i, 1))
                rc = NOT_THERE;
    dp_core_release(&core);
    return rc;
}

static void cut(void)
{
    struct seen seen;
    struct dp_err err;
    make_file(ET_CORE);
    ok(see_all(&file, sizeof file, &seen), "an ELF file");
    ok(seen.loads == 1 && seen.notes == 2 && seen.symbols == 2, "loads, notes, symbols");
    is_i(open_core(sizeof file, &err), 1, "a core file with a thread");
    bool good = true;
    unsigned elfs = 0;
    for (size_t size = 0; size < sizeof file; size++) {
        elfs += see_all(&file, size, &seen);
        good = seen.loads <= 1 && seen.notes <= 2 && seen.symbols <= 2 && good;
    }
    ok(good && elfs == sizeof file - sizeof file.head, "cut at each byte");
    good = true;
    for (size_t size = 0; size < sizeof file; size += 3) {
        int rc = open_core(size, &err);
        good = rc == (size < sizeof file.head ? DP_E_ARG : 0)
               && (rc == 0 || strncmp(err.message, path, sizeof path - 1) == 0) && good;
    }
    ok(good, "a core file that was cut: an error names it, or it has less");
    make_file(ET_DYN);
    is_i(open_core(sizeof file, &err), DP_E_ARG, "a library is no core file");
    file.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64;
    ok(!see_all(&file, sizeof file, &seen), "a file for other words");
    file.head.e_ident[EI_CLASS] ^= 3;
    file.head.e_ident[EI_DATA] ^= 3;
    ok(!see_all(&file, sizeof file, &seen), "a file of the other order of bytes");
}

/* Each number of the file in turn has values that lead far outside, or around. */
static void hostile(void)
{
    static const uint64_t values[] = { UINT64_MAX, UINT64_MAX - 55, UINT64_MAX - 7, INT64_MAX,
                                       UINT32_MAX, UINT32_MAX - 3, INT32_MAX, 0xffff, 1 };
    size_t end = offsetof(struct file, padding);
    struct seen seen;
    struct dp_err err;
    bool good = true;
    for (size_t at = EI_NIDENT; at < end; at += 2)
        for (size_t i = 0; i < DP_ARRAY_LEN(values); i++)
            for (size_t n = 2; n <= 8; n *= 2) {
                if (at + n > end || at % n)
                    continue;
                make_file(ET_CORE);
                memcpy((char *)&file + at, &values[i], n);
                see_all(&file, sizeof file, &seen);
                if (at >= offsetof(struct file, thread) || at % 8 || n < 8)
                    continue;
                int rc = open_core(sizeof file, &err);
                good = (rc >= 0 || rc == DP_E_ARG || rc == WRONG_BYTES || rc == NOT_THERE) && good;
            }
    ok(good, "each number of the file is a hostile one");
    for (int round = 0; round < 5000; round++) {
        make_file(ET_CORE);
        for (unsigned n = 1 + rnd(8); n--;)
            ((char *)&file)[EI_NIDENT + rnd((unsigned)end - EI_NIDENT)] = (char)rnd(256);
        see_all(&file, sizeof file, &seen);
    }
    ok(true, "5,000 files with bytes that are wrong");
}

/* Many parts of notes that are the same bytes: a small file must not fill the memory. */
static void many_parts(void)
{
    struct dp_core core;
    struct dp_err err;
    enum { PARTS = 2000 };
    make_file(ET_CORE);
    file.head.e_phoff = sizeof file;
    file.head.e_phnum = PARTS;
    int fd = open(path, O_WRONLY | O_TRUNC);
    if (fd < 0 || write(fd, &file, sizeof file) < 0)
        abort();
    for (int i = 0; i < PARTS; i++)
        if (write(fd, &file.programs[1], sizeof *file.programs) < 0)
            abort();
    close(fd);
    dp_err_init(&err);
    is_i(dp_core_open(&core, path, &err), 0, "the same notes 2,000 times");
    size_t most = core.size / sizeof file.thread;
    ok(core.threads.count && core.threads.count <= most && core.regions.count <= most,
       "are no more than fit the file");
    dp_core_release(&core);
}

/* ---- mappings ---- */

static size_t parse(const char *text, size_t len, struct dp_regions *r)
{
    char *exact = malloc(len ? len : 1);
    memcpy(exact, text, len);
    dp_regions_release(r);
    dp_regions_init(r);
    dp_regions_parse(r, exact, len);
    free(exact);
    return r->count;
}

static void maps(void)
{
    static const char good[]
        = "55d0a000-55d0b000 r--p 00001000 fe:01 123                   /usr/bin/perl\n"
          "55d0b000-55d0c000 rw-p 00002000 fe:01 123                   /usr/bin/perl\n"
          "7f00-8000 rw-p 00000000 00:00 0 \n"
          "9000-a000 rw-p 00000000 00:00 0                          [heap]\n"
          "a000-b000 r-xp 00000000 fe:01 9 /a file (deleted)\n";
    static const char *const lines[] = {
        "\n", "-\n", "0\n", "0-\n", "0-1\n", "0-1 \n", "0-1 r\n", "0-1 rw-p\n", "0-1 rw-p \n",
        "0-1 rw-p 0\n", "0-1 rw-p 0 \n", "0-1 rw-p 0 a\n", "0-1 rw-p 0 a 0\n", "0-1 rw-p 0 a 0 /\n",
        "   \n", "\t0-1\n", "-1--1 rw-p\n", "+1-+2 rw-p\n", "0x10-0x20 rw-p 0x3 a 0 /b\n", "\r\n",
        "ffffffffffffffffffffffff-fffffffffffffffffffffff rw-p fffffffffffffffffffffff a 0 /b\n",
        "2000-1000 rw-p 0 a 0 /b\n", "x\n", "0-1\trw-p\n", "0 -1 rw-p\n",
    };
    struct dp_regions r;
    dp_regions_init(&r);
    is_u(parse(good, sizeof good - 1, &r), 5, "five mappings");
    ok(r.at[0].start == 0x55d0a000 && r.at[0].end == 0x55d0b000 && r.at[0].offset == 0x1000
       && !r.at[0].is_writable && r.at[1].is_writable, "addresses, offset, rights");
    is_s(dp_regions_path(&r, &r.at[1]), "/usr/bin/perl", "the file");
    is_u(r.at[0].path, r.at[1].path, "a name that is kept once");
    is_s(dp_regions_path(&r, &r.at[2]), "", "no file");
    is_s(dp_regions_path(&r, &r.at[3]), "", "no file but a word");
    is_s(dp_regions_path(&r, &r.at[4]), "/a file (deleted)", "a file with blanks");
    size_t most = 0;
    for (size_t len = 0; len < sizeof good; len++)
        most = parse(good, len, &r) > most ? r.count : most;
    is_u(most, 5, "cut at each byte");
    for (size_t i = 0; i < DP_ARRAY_LEN(lines); i++) {
        char two[256];
        ok(parse(lines[i], strlen(lines[i]), &r) <= 1, "line %zu alone", i);
        snprintf(two, sizeof two, "%s7f00-8000 rw-p 00000000 00:00 0 /b\n", lines[i]);
        size_t n = parse(two, strlen(two), &r);
        ok(n >= 1 && r.at[n - 1].start == 0x7f00, "line %zu, and a good one", i);
    }
    static const char letters[] = "0189af- \n/rwxp:\t\0x";
    for (int round = 0; round < 5000; round++) {
        char text[80];
        size_t len = rnd(sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] = letters[rnd(sizeof letters - 1)];
        parse(text, len, &r);
    }
    ok(true, "5,000 texts of such letters");
    dp_regions_release(&r);
}

/* ---- symbols of mapped files ---- */

static int open_file(void *from, const struct dp_regions *regions, const struct dp_region *region)
{
    (void)from;
    return open(dp_regions_path(regions, region), O_RDONLY);
}

static void add_symbol(void *arg, const char *name, dp_addr at)
{
    if (strcmp(name, "PL_two") == 0)
        *(dp_addr *)arg = at;
}

static void symbols(void)
{
    struct dp_regions r;
    dp_addr at = 0;
    struct dp_region region = { 0x7000000, 0x7001000, 0, 0, false };
    make_file(ET_DYN);
    int fd = open(path, O_WRONLY | O_TRUNC);
    if (fd < 0 || write(fd, &file, sizeof file) < 0 || close(fd))
        abort();
    dp_regions_init(&r);
    dp_regions_add(&r, &region, path, strlen(path));
    dp_regions_add(&r, &region, "/nowhere", 8);
    dp_regions_add(&r, &region, "/dev/null", 9);
    ok(dp_symbols_of(&r, 0, open_file, NULL, add_symbol, &at), "symbols of a file");
    is_u(at, 0x7000020, "the address of one in memory");
    ok(!dp_symbols_of(&r, 1, open_file, NULL, add_symbol, &at)
       && !dp_symbols_of(&r, 2, open_file, NULL, add_symbol, &at), "no file, and no ELF file");
    dp_regions_release(&r);
}

int main(void)
{
    int fd = mkstemp(path);
    if (fd < 0)
        return ok(false, "a file in /tmp"), tap_done();
    close(fd);
    cut();
    hostile();
    many_parts();
    maps();
    symbols();
    struct dp_err err;
    struct dp_core core;
    dp_err_init(&err);
    is_i(dp_core_open(&core, "/nowhere/core", &err), DP_E_IO, "no file");
    is_s(err.message, "/nowhere/core: No such file or directory", "its message");
    dp_core_release(&core);
    dp_err_init(&err);
    is_i(dp_core_open(&core, "/tmp", &err), DP_E_ARG, "a folder");
    dp_core_release(&core);
    unlink(path);
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
