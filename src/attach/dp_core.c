#include "dp_core.h"
#include "dp_elf.h"
#include "dp_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

struct dp_core_part {
    dp_addr start;
    uint64_t offset, size;      /* of its bytes in the file */
};

/* ---- reading memory ---- */

/* Copies the bytes that one part asks for out of the core file. Returns false if no segment of the
 * file has all of them. */
static bool read_part(const struct dp_core *core, const struct dp_target_part *want)
{
    for (size_t i = 0; i < core->n_parts; i++) {
        const struct dp_core_part *has = &core->parts[i];
        if (want->at < has->start || want->at - has->start >= has->size
            || has->size - (want->at - has->start) < want->len)
            continue;
        memcpy(want->to, core->bytes + has->offset + (want->at - has->start), want->len);
        return true;
    }
    return false;
}

int dp_core_open_region(void *from, const struct dp_regions *regions,
                        const struct dp_region *region)
{
    const char *path = dp_regions_path(regions, region);
    (void)from;
    return *path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

/* A core lacks the parts of files that nobody may write: code and constants. */
static bool read_mapped(struct dp_core *core, const struct dp_target_part *want)
{
    for (size_t i = 0; i < core->regions.count; i++) {
        const struct dp_region *r = &core->regions.at[i];
        if (want->at < r->start || want->at >= r->end || r->end - want->at < want->len)
            continue;
        if (core->opened < 0 || core->opened_at != i) {
            if (core->opened >= 0)
                close(core->opened);
            core->opened = dp_core_open_region(core, &core->regions, r);
            core->opened_at = i;
        }
        return core->opened >= 0
               && pread(core->opened, want->to, want->len,
                        (off_t)(r->offset + (want->at - r->start))) == (ssize_t)want->len;
    }
    return false;
}

bool dp_core_read(void *from, const struct dp_target_part *parts, size_t n)
{
    struct dp_core *core = from;
    for (size_t i = 0; i < n; i++)
        if (!read_part(core, &parts[i]) && !read_mapped(core, &parts[i]))
            return false;
    return true;
}

/* ---- notes ---- */

/* Adds the mapped files of a core from its note NT_FILE, which has: the number of files, the size
 * of a page, then for each file start, end and offset in pages; then the names. */
static int add_files(struct dp_core *core, const char *note, size_t len)
{
    struct { dp_elf_word count, page; } head;
    struct { dp_elf_word start, end, offset; } file;
    if (len < sizeof head)
        return 0;
    memcpy(&head, note, sizeof head);
    if (head.count > (len - sizeof head) / sizeof file)
        return 0;
    const char *at = note + sizeof head, *name = at + head.count * sizeof file, *end = note + len;
    for (dp_elf_word i = 0; i < head.count; i++, at += sizeof file) {
        const char *stop = memchr(name, '\0', (size_t)(end - name));
        if (!stop)
            break;
        memcpy(&file, at, sizeof file);
        struct dp_region region = { .start = file.start, .end = file.end,
                                    .offset = (uint64_t)file.offset * head.page };
        int rc = dp_regions_add(&core->regions, &region, name, (size_t)(stop - name));
        if (rc < 0)
            return rc;
        name = stop + 1;
    }
    return 0;
}

/* The register of a thread that points to its control block; 0: unknown on this machine. */
static dp_addr tls_of(const struct elf_prstatus *status)
{
#if defined(__x86_64__)
    enum { FS_BASE = 21 };      /* in struct user_regs_struct, sys/user.h */
    return status->pr_reg[FS_BASE];
#else
    (void)status;
    return 0;
#endif
}

/* Adds a thread of a core from a note NT_PRSTATUS. A core has one such note for each thread, that
 * of the signal first. */
static int add_thread(struct dp_core *core, const char *note, size_t len)
{
    struct elf_prstatus status;
    struct dp_threads *to = &core->threads;
    if (len < sizeof status)
        return 0;
    memcpy(&status, note, sizeof status);
    if (dp_mem_grow((void **)&to->at, &to->cap, to->count + 1, sizeof *to->at) < 0)
        return DP_E_NOMEM;
    to->at[to->count++] = (struct dp_thread){ status.pr_pid, status.pr_pid, tls_of(&status) };
    return 0;
}

/* Handles one ELF note of the core file: takes the process's id, the mapped files or a thread from
 * it. Other notes are passed over. Returns 0 or a DP_E. */
static int read_note(void *arg, unsigned type, const char *note, size_t len)
{
    struct dp_core *core = arg;
    enum { NOTE_STATUS = 1, NOTE_PROGRAM = 3, NOTE_FILES = 0x46494c45 };
    struct elf_prpsinfo program;
    if (type == NOTE_PROGRAM && len >= sizeof program) {
        memcpy(&program, note, sizeof program);
        core->pid = program.pr_pid;
    }
    return type == NOTE_FILES ? add_files(core, note, len)
           : type == NOTE_STATUS ? add_thread(core, note, len) : 0;
}

/* ---- opening ---- */

/* Adds a segment of memory that the core file has to the list that read_part() searches. Segments
 * without bytes in the file are left out. */
static int add_load(void *arg, const struct dp_elf_load *load)
{
    struct dp_core *core = arg;
    if (!load->file_size)
        return 0;
    if (dp_mem_grow((void **)&core->parts, &core->parts_cap, core->n_parts + 1,
                    sizeof *core->parts) < 0)
        return DP_E_NOMEM;
    core->parts[core->n_parts++]
        = (struct dp_core_part){ load->address, load->offset, load->file_size };
    return 0;
}

/* Maps a regular file. Returns 0, or an error with a message. */
static int map_file(struct dp_core *core, const char *path, struct dp_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return dp_err_set(err, DP_E_IO, "%s: %s", path, strerror(why));
    }
    void *bytes = S_ISREG(st.st_mode) && st.st_size > 0
                  ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return dp_err_set(err, DP_E_ARG, "%s: not a core file", path);
    core->bytes = bytes;
    core->size = (size_t)st.st_size;
    return 0;
}

int dp_core_open(struct dp_core *core, const char *path, struct dp_err *err)
{
    struct dp_elf elf;
    *core = (struct dp_core){ .opened = -1 };
    dp_regions_init(&core->regions);
    int rc = map_file(core, path, err);
    if (rc < 0)
        return rc;
    if (!dp_elf_init(&elf, core->bytes, core->size) || !dp_elf_is_core(&elf))
        return dp_err_set(err, DP_E_ARG, "%s: not a core file of this kind of machine", path);
    rc = dp_elf_loads(&elf, add_load, core);
    if (rc == 0)
        rc = dp_elf_notes(&elf, read_note, core);
    return rc < 0 ? dp_err_set(err, rc, "%s: %s", path, dp_err_text(rc)) : 0;
}

void dp_core_release(struct dp_core *core)
{
    if (core->bytes)
        munmap((void *)(uintptr_t)core->bytes, core->size);
    if (core->opened >= 0)
        close(core->opened);
    dp_mem_free(core->parts);
    dp_mem_free(core->threads.at);
    dp_regions_release(&core->regions);
}
