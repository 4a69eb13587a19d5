/* Bytes as base64 (RFC 4648, section 4: with `=` at the end, without line ends), and packed text as
 * in fields of a profile. */
#ifndef DP_BASE64_H
#define DP_BASE64_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_io.h"

/* An encoder. */
struct dp_base64 {
    dp_write_fn *write;
    void *ctx;
    unsigned char rest[3];      /* bytes that do not fill a group yet */
    size_t n_rest;
};

/* Starts an encoder. The text goes to fn, which gets ctx. */
void dp_base64_init(struct dp_base64 *b, dp_write_fn *fn, void *ctx);
/* A dp_write_fn; ctx is the encoder. Returns 0 or the writer's error. */
int dp_base64_write(void *ctx, const void *ptr, size_t n);
/* Writes the last group. Returns 0 or the writer's error. */
int dp_base64_end(struct dp_base64 *b);

/* Decodes len bytes of base64 and appends the result. Returns 0, DP_E_NOMEM, or DP_E_SYNTAX for
 * invalid base64; then nothing is appended. */
int dp_base64_decode(struct dp_buf *buf, const char *ptr, size_t len);

/* Gzips a text piece by piece, and encodes it as base64. */
struct dp_packed {
    struct dp_buf text;         /* the result */
    struct dp_base64 base64;
    struct dp_pack *pack;
};

/* Starts packing. Returns 0 or DP_E_NOMEM. */
int dp_packed_begin(struct dp_packed *p);
/* Adds a piece. Returns 0, DP_E_NOMEM, or an error of the packer. */
int dp_packed_add(struct dp_packed *p, const void *ptr, size_t len);
/* Ends packing. Returns 0, or an error of this or an earlier call: then the text is not valid. Call
 * it in any case, before the text is released. */
int dp_packed_end(struct dp_packed *p);

/* Unpacks a packed text and appends it, at most `most` bytes. Returns 0, DP_E_NOMEM, or DP_E_SYNTAX
 * if the text is not packed, or is longer; the buffer may then have a part of it. */
int dp_packed_open(struct dp_buf *buf, const char *ptr, size_t len, size_t most);

#endif
