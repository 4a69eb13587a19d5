#include "dp_elf.h"

#include <elf.h>
#include <link.h>
#include <string.h>

typedef ElfW(Ehdr) elf_head;
typedef ElfW(Phdr) elf_program;
typedef ElfW(Shdr) elf_section;
typedef ElfW(Sym) elf_symbol;
typedef ElfW(Nhdr) elf_note;

/* Copies n bytes at an offset of the file. Returns false if the file is shorter. */
static bool copy_at(const struct dp_elf *elf, uint64_t offset, void *to, size_t n)
{
    if (offset > elf->size || elf->size - offset < n)
        return false;
    memcpy(to, elf->bytes + offset, n);
    return true;
}

bool dp_elf_init(struct dp_elf *elf, const char *bytes, size_t size)
{
    elf_head head;
    const uint16_t one = 1;
    *elf = (struct dp_elf){ .bytes = bytes, .size = size };
    if (!copy_at(elf, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    bool is_little = *(const char *)&one == 1;
    elf->type = head.e_type;
    elf->programs = head.e_phoff;
    elf->sections = head.e_shoff;
    elf->n_programs = head.e_phentsize == sizeof(elf_program) ? head.e_phnum : 0;
    elf->n_sections = head.e_shentsize == sizeof(elf_section) ? head.e_shnum : 0;
    return head.e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
           && head.e_ident[EI_DATA] == (is_little ? ELFDATA2LSB : ELFDATA2MSB);
}

bool dp_elf_is_core(const struct dp_elf *elf) { return elf->type == ET_CORE; }

static bool program_at(const struct dp_elf *elf, size_t i, elf_program *to)
{
    return copy_at(elf, elf->programs + i * sizeof *to, to, sizeof *to);
}

static bool section_at(const struct dp_elf *elf, size_t i, elf_section *to)
{
    return i < elf->n_sections && copy_at(elf, elf->sections + i * sizeof *to, to, sizeof *to);
}

int dp_elf_loads(const struct dp_elf *elf, int (*fn)(void *arg, const struct dp_elf_load *load),
                 void *arg)
{
    elf_program p;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < elf->n_programs && program_at(elf, i, &p); i++) {
        if (p.p_type != PT_LOAD || p.p_offset > elf->size)
            continue;
        uint64_t left = elf->size - p.p_offset;
        struct dp_elf_load load = { p.p_vaddr, p.p_offset, p.p_filesz < left ? p.p_filesz : left };
        rc = fn(arg, &load);
    }
    return rc;
}

/* The notes of one part of the file: each has a head, a name and a text, padded to 4 bytes. */
static int notes_in(const struct dp_elf *elf, uint64_t at, uint64_t end,
                    int (*fn)(void *arg, unsigned type, const char *note, size_t len), void *arg)
{
    elf_note head;
    int rc = 0;
    while (rc == 0 && at < end && copy_at(elf, at, &head, sizeof head)) {
        uint64_t text = at + sizeof head + (((uint64_t)head.n_namesz + 3) & ~UINT64_C(3));
        if (text > end || end - text < head.n_descsz)
            break;
        rc = fn(arg, head.n_type, elf->bytes + text, head.n_descsz);
        at = text + (((uint64_t)head.n_descsz + 3) & ~UINT64_C(3));
    }
    return rc;
}

int dp_elf_notes(const struct dp_elf *elf,
                 int (*fn)(void *arg, unsigned type, const char *note, size_t len), void *arg)
{
    elf_program p;
    uint64_t left = elf->size;          /* parts do not overlap */
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < elf->n_programs && program_at(elf, i, &p); i++)
        if (p.p_type == PT_NOTE && p.p_offset <= elf->size
            && p.p_filesz <= elf->size - p.p_offset && p.p_filesz <= left) {
            left -= p.p_filesz;
            rc = notes_in(elf, p.p_offset, p.p_offset + p.p_filesz, fn, arg);
        }
    return rc;
}

/* The symbols of one table, whose names are in another section. */
static void symbols_in(const struct dp_elf *elf, const elf_section *table,
                       void (*fn)(void *arg, const char *name, uint64_t address), void *arg)
{
    elf_section names;
    elf_symbol s;
    if (!section_at(elf, table->sh_link, &names) || names.sh_offset > elf->size
        || names.sh_size > elf->size - names.sh_offset || !names.sh_size
        || elf->bytes[names.sh_offset + names.sh_size - 1])
        return;
    for (uint64_t at = 0; table->sh_size - at >= sizeof s && at < table->sh_size; at += sizeof s)
        if (!copy_at(elf, table->sh_offset + at, &s, sizeof s))
            break;
        else if (s.st_shndx != SHN_UNDEF && s.st_name < names.sh_size)
            fn(arg, elf->bytes + names.sh_offset + s.st_name, s.st_value);
}

void dp_elf_symbols(const struct dp_elf *elf,
                    void (*fn)(void *arg, const char *name, uint64_t address), void *arg)
{
    elf_section table;
    uint64_t left = elf->size;          /* tables do not overlap */
    for (size_t i = 0; i < elf->n_sections && section_at(elf, i, &table); i++)
        if ((table.sh_type == SHT_DYNSYM || table.sh_type == SHT_SYMTAB)
            && table.sh_size <= left) {
            left -= table.sh_size;
            symbols_in(elf, &table, fn, arg);
        }
}
