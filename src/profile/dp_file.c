#include "dp_file.h"
#include "dp_mem.h"
#include "dp_reader_formats.h"

#include <errno.h>
#include <string.h>

enum { TRIES = 10 };

int dp_file_init(struct dp_file *file, const char *path, unsigned flags)
{
    memset(file, 0, sizeof *file);
    dp_header_init(&file->head);
    dp_map_init(&file->odd_seen);
    dp_err_init(&file->err);
    file->force = flags & DP_FORCE;
    size_t n = strlen(path) + 1;
    file->path = dp_mem_alloc(n);
    if (!file->path)
        return DP_E_NOMEM;
    memcpy(file->path, path, n);
    return 0;
}

void dp_file_release(struct dp_file *file)
{
    dp_header_release(&file->head);
    dp_map_release(&file->odd_seen);
    dp_mem_free(file->path);
    dp_mem_free(file->open_subs);
    dp_mem_free(file->odd);
    memset(file, 0, sizeof *file);
}

/* Opens the file for reading. Returns 0, or a DP_E with a message. */
static int open_source(struct dp_file *file, struct dp_source *src)
{
    int rc = dp_source_open(src, file->path);
    if (rc < 0) {
        file->sys_errno = errno;
        dp_err_set(&file->err, rc, "Unable to open %.200s", file->path);
    }
    return rc;
}

/* Opens the files that the process keeps beside the file. Returns 1, 0 if there are none, or
 * DP_E_NOMEM. */
static int open_left(const struct dp_file *file, const struct dp_file_mem *mem,
                     struct dp_source *src)
{
    if (mem) {
        dp_source_mem(src, mem->left, mem->left_len);
        return mem->left != NULL;
    }
    if (strcmp(file->path, "-") == 0)
        return 0;
    size_t n = strlen(file->path);
    char *path = dp_mem_alloc(n + sizeof DP_FMT_LIVE);
    if (!path)
        return DP_E_NOMEM;
    memcpy(path, file->path, n);
    memcpy(path + n, DP_FMT_LIVE, sizeof DP_FMT_LIVE);
    int why = errno;
    int rc = dp_source_open_regular(src, path);
    errno = why;
    dp_mem_free(path);
    return rc == 0;
}

/* Reads the .live that the process left before the file itself, whose text grows. Marks of the text
 * beyond the number in the state are thus known to be in both. Everything is read twice, because
 * the process may be running: if it wrote in the meantime, the reading is repeated. Names that it
 * wrote between the readings of its names and of its contexts are there the second time. */
static int read_left(const struct dp_file *file, const struct dp_file_mem *mem,
                     struct dp_pieces *left)
{
    struct dp_source src;
    int rc = 0;
    for (int tries = 0; tries < TRIES && rc == 0; tries++) {
        struct dp_pieces later;
        dp_pieces_release(left);
        rc = open_left(file, mem, &src);
        if (rc <= 0)
            return rc;
        rc = dp_pieces_read(left, &src);
        dp_source_close(&src);
        if (rc == 0 && left->has_state)
            rc = open_left(file, mem, &src);
        if (rc <= 0)
            return rc;
        dp_pieces_init(&later);
        rc = dp_pieces_read_names(&later, &src);
        dp_source_close(&src);
        bool same = left->state[DP_PIECE_S_MARKS] == later.state[DP_PIECE_S_MARKS]
                    && left->state[DP_PIECE_S_TREE] == later.state[DP_PIECE_S_TREE];
        if (rc == 0 && same
            && (later.names.len != left->names.len
                || (later.names.len
                    && memcmp(later.names.ptr, left->names.ptr, later.names.len) != 0))) {
            while (left->names.len && left->names.ptr[left->names.len - 1] != '\n')
                left->names.len--;      /* an unfinished name */
            dp_buf_add(&left->names, later.names.ptr, later.names.len);
            rc = left->names.err;
        }
        if (rc == 0 && same) {
            dp_buf_clear(&left->sites);
            dp_buf_add(&left->sites, later.sites.ptr, later.sites.len);
            rc = left->sites.err;
        }
        dp_pieces_release(&later);
        if (same)
            break;
    }
    return rc;
}

int dp_file_read(struct dp_file *file, const struct dp_consumer *to, const struct dp_file_mem *mem)
{
    struct dp_source src;
    struct dp_pieces left;
    dp_pieces_init(&left);
    int rc = read_left(file, mem, &left);
    if (rc < 0)
        dp_err_set(&file->err, rc, "%s", dp_err_text(rc));
    else if (mem)
        dp_source_mem(&src, mem->ptr, mem->len);
    else
        rc = open_source(file, &src);
    if (rc == 0) {
        rc = dp_reader_run(&src, &left, dp_import_find, to, &file->head, &file->info, &file->err);
        dp_source_close(&src);
    }
    dp_pieces_release(&left);
    /* a fault in the header deserves an error, but is no reason to stop */
    if ((rc == 0 || rc == DP_E_TRUNCATED) && file->info.bad_header) {
        file->err = file->info.header_err;
        rc = file->err.code;
    }
    return file->code = rc;
}

int dp_file_read_header(struct dp_file *file)
{
    struct dp_source src;
    int rc = open_source(file, &src);
    if (rc == 0) {
        rc = dp_reader_head(&src, dp_import_find, &file->head, &file->info, &file->err);
        dp_source_close(&src);
    }
    return file->code = rc;
}

/* Subtracts the cost of a call. The remainder of the division is carried, so that the costs add
 * up. */
static void subtract_cost(struct dp_file *file, struct dp_event *ev)
{
    const struct dp_header *head = &file->head;
    uint64_t per = 2 * head->over_tests;
    for (int m = 0; m < DP_METRICS; m++) {
        file->carry[m] += head->over[m];
        uint64_t cost = file->carry[m] / per;
        file->carry[m] %= per;
        ev->t[m] -= cost < ev->t[m] ? cost : ev->t[m];
    }
}

void dp_file_subtract_cost(struct dp_file *file, struct dp_event *ev, size_t n)
{
    const uint64_t *over = file->head.over;
    bool has_cost = over[0] || over[1] || over[2];
    for (size_t i = 0; has_cost && i < n; i++)
        if (ev[i].op >= DP_OP_ENTER)
            subtract_cost(file, &ev[i]);
}

/* ---- calls one by one ---- */

static int64_t add_sub(void *ctx, const struct dp_subdef *def) { return dp_subs_add(ctx, def); }

static int skip_events(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                       struct dp_err *err)
{
    (void)ctx, (void)ev, (void)counts, (void)n, (void)bad, (void)err;
    return 0;
}

static int stop_reading(void *ctx, struct dp_err *err)
{
    (void)ctx, (void)err;
    return DP_E_ARG;
}

static void ids_anew(void *ctx) { dp_subs_ids_anew(ctx); }

int dp_file_order_subs(struct dp_subs *subs, const char *path, const struct dp_file_mem *mem,
                       unsigned flags)
{
    struct dp_consumer to = { .ctx = subs, .sub = add_sub, .events = skip_events,
                              .tree = stop_reading, .ids_anew = ids_anew };
    struct dp_file file;
    if (!mem && !dp_source_is_file(path))
        return 0;
    int rc = dp_file_init(&file, path, flags);
    if (rc == 0) {
        rc = dp_file_read(&file, &to, mem) == DP_E_NOMEM ? DP_E_NOMEM : dp_subs_order(subs);
        subs->generation = 0;
    }
    dp_file_release(&file);
    return rc;
}

int dp_file_no_order(const struct dp_file *file, const char *instead, const char *rest,
                     struct dp_err *err)
{
    if (file->head.folded)
        return dp_err_set(err, DP_E_ARG,
                          "these are folded stacks, which have no order of calls; %s", instead);
    if (file->head.foreign)
        return dp_err_set(err, DP_E_ARG,
                          "this is a file of %s, which has no order of calls; %s",
                          file->head.foreign, instead);
    if (file->info.marks)
        return dp_err_set(err, DP_E_TRUNCATED,
                          "the trace had reached its size limit; the rest is a tree, which has no"
                          " order of calls (%s)", rest);
    return dp_err_set(err, DP_E_ARG, "this is a tree, which has no order of calls; %s", instead);
}

/* ---- reports about the file ---- */

int dp_file_odd_exit(struct dp_file *file, uint32_t named, uint32_t ended)
{
    if (file->odd_pairs >= DP_FILE_ODD)
        return 0;
    /* Make room first, so that each known pair is listed even if something fails. */
    if (dp_mem_grow((void **)&file->odd, &file->odd_cap, file->odd_pairs * 2 + 2, sizeof *file->odd)
        < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&file->odd_seen, (uint64_t)named << 32 | ended);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return 0;
    slot->value = 0;
    file->odd[file->odd_pairs * 2] = named;
    file->odd[file->odd_pairs * 2 + 1] = ended;
    file->odd_pairs++;
    return 0;
}

void dp_file_outcome(const struct dp_file *file, struct dp_outcome *out)
{
    out->path = file->path;
    out->code = file->code;
    out->sys_errno = file->sys_errno;
    out->message = file->err.code ? file->err.message : "";
    out->line = file->err.line;
    out->byte = file->err.byte;
    out->marks = file->info.marks;
    out->contexts = file->info.contexts;
    out->tree = file->info.tree;
    out->folded = file->head.folded;
    out->when = dp_header_get(&file->head, "dprof_when") != NULL;
    out->slice = dp_header_get(&file->head, "dprof_slice") != NULL;
    out->foreign = file->head.foreign != NULL;
    out->fault_count = file->info.faults;
    for (size_t i = 0; i < DP_FAULTS && i < file->info.faults; i++)
        out->fault[i] = (struct dp_fault){ file->info.fault[i].message, file->info.fault[i].line,
                                           file->info.fault[i].byte };
    out->open_count = file->open;
    out->open_subs = file->open_subs;
    out->open_listed = file->open_listed;
    out->odd = file->odd;
    out->odd_pairs = file->odd_pairs;
}
