/* Text as gzip members, each of them whole: a file of members can be read up to the last one, even
 * if its writer was killed. */
#ifndef DP_GZIP_H
#define DP_GZIP_H

#include "dp_base.h"
#include "dp_err.h"

enum {
    DP_GZIP_TEXT = 128 * 1024,  /* most text of a packed member */
    DP_GZIP_STORED = 65535,     /* most text of a stored member */
    DP_GZIP_HEAD = 15,          /* bytes before the text of a stored member */
    DP_GZIP_FRAME = 23          /* bytes before and behind that text */
};

struct dp_gzip;

/* Allocates all memory that members will need. level: 1 to 9. Returns NULL when memory is short. */
struct dp_gzip *dp_gzip_new(int level);
void dp_gzip_free(struct dp_gzip *gz);

/* Makes one member of the text: dp_gzip_pack deflates it; dp_gzip_store stores it, with
 * DP_GZIP_FRAME bytes more than the text. *out is borrowed until the next call. Returns 0, or
 * DP_E_IO if the text is too long or zlib failed. */
int dp_gzip_pack(struct dp_gzip *gz, const char *ptr, size_t len, const char **out,
                 size_t *out_len);
int dp_gzip_store(struct dp_gzip *gz, const char *ptr, size_t len, const char **out,
                  size_t *out_len);

/* The text of a stored member, as far as ptr reaches; NULL if ptr is no stored member. */
const char *dp_gzip_stored(const char *ptr, size_t len, size_t *text_len);

#endif
