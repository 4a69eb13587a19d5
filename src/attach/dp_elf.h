/* ELF files, mapped into memory: their loads, their notes, and their symbols (elf(5)). Only those
 * of this machine's word size and byte order. The file may be damaged or hostile: no read leaves
 * it. */
#ifndef DP_ELF_H
#define DP_ELF_H

#include "dp_base.h"

typedef uintptr_t dp_elf_word;

struct dp_elf {
    const char *bytes;
    size_t size;
    uint64_t programs, sections;        /* offsets of the tables */
    size_t n_programs, n_sections;
    unsigned type;
};

/* Begins to read an ELF file from its first bytes, which are borrowed. Returns false if the file is
 * no ELF file that this machine can run. */
bool dp_elf_init(struct dp_elf *elf, const char *bytes, size_t size);
bool dp_elf_is_core(const struct dp_elf *elf);

/* A part of the file that is loaded into memory. */
struct dp_elf_load {
    uint64_t address, offset, file_size;        /* file_size: bytes that the file has of it */
};

/* Calls fn for each load, and for each note (`note` is within the file), until it returns other
 * than 0. Returns what it returned, or 0. */
int dp_elf_loads(const struct dp_elf *elf, int (*fn)(void *arg, const struct dp_elf_load *load),
                 void *arg);
int dp_elf_notes(const struct dp_elf *elf,
                 int (*fn)(void *arg, unsigned type, const char *note, size_t len), void *arg);

/* Calls fn with the name and the address of each symbol that is defined. */
void dp_elf_symbols(const struct dp_elf *elf,
                    void (*fn)(void *arg, const char *name, uint64_t address), void *arg);

#endif
