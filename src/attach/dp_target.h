/* A target: a process, or a core file, whose memory is read from outside. All code that looks at a
 * target reads it by these functions, so tests can put made-up memory in its place.
 *
 * A running target changes while it is read. Nothing that is read can be trusted: a pointer may
 * lead anywhere, a length may be negative, a list may be a circle. */
#ifndef DP_TARGET_H
#define DP_TARGET_H

#include "dp_base.h"
#include "dp_buf.h"

typedef uint64_t dp_addr;       /* an address in the target; 0: none */

/* One range to read, and the place for its bytes. */
struct dp_target_part {
    dp_addr at;
    void *to;
    size_t len;
};

enum { DP_TARGET_PARTS = 1024 };        /* most parts of one reading, as the kernel has it */

/* Reads all parts. Returns false if any part cannot be read whole; then the places have
 * anything. */
typedef bool dp_target_read_fn(void *from, const struct dp_target_part *parts, size_t n);

struct dp_target_page;

struct dp_target {
    dp_target_read_fn *read;
    void *from;
    struct dp_target_page *pages;
    unsigned look;              /* pages of earlier looks are not used */
    uint64_t readings, parts;   /* how much was read so far, for tests and statistics */
};

/* Makes a target, the memory of another process, which is read by the function read. read and from
 * are borrowed. Returns 0 or DP_E_NOMEM. */
int dp_target_init(struct dp_target *t, dp_target_read_fn *read, void *from);
void dp_target_release(struct dp_target *t);

/* Begins a new look: memory is read anew. */
void dp_target_look(struct dp_target *t);

/* Reads parts at one moment, as nearly as the kernel can. */
bool dp_target_read(struct dp_target *t, const struct dp_target_part *parts, size_t n);

/* Reads bytes through the pages that this look has read: for chains of pointers. The functions
 * below do so, too. */
bool dp_target_get(struct dp_target *t, dp_addr at, void *to, size_t len);

/* The pointer, or the number, at an address; 0 if it cannot be read. */
dp_addr dp_target_pointer(struct dp_target *t, dp_addr at);
uint32_t dp_target_u32(struct dp_target *t, dp_addr at);

/* Appends the bytes of a text that ends with a NUL within `most` bytes. Returns false if there
 * is no such text; then nothing is appended. */
bool dp_target_string(struct dp_target *t, dp_addr at, size_t most, struct dp_buf *to);

/* A pointer or a number in bytes that were read. */
static inline dp_addr dp_target_pointer_in(const void *bytes, size_t offset)
{
    uintptr_t v;
    memcpy(&v, (const char *)bytes + offset, sizeof v);
    return v;
}

static inline uint32_t dp_target_u32_in(const void *bytes, size_t offset)
{
    uint32_t v;
    memcpy(&v, (const char *)bytes + offset, sizeof v);
    return v;
}

#endif
