/* Writes messages of protocol buffers: https://protobuf.dev/programming-guides/encoding/ describes
 * the encoding of fields. A message is built in a buffer. */
#ifndef DP_WIRE_H
#define DP_WIRE_H

#include "dp_base.h"
#include "dp_buf.h"

enum { DP_WIRE_MAX = 10 };      /* most bytes of a varint */

/* Writes a varint to a place with room for DP_WIRE_MAX bytes. Returns the place after it. */
static inline char *dp_wire_put(char *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (char)(v | 0x80);
    *to++ = (char)v;
    return to;
}

/* Appends a varint without a field's number, as in a packed field. */
static inline void dp_wire_varint(struct dp_buf *buf, uint64_t v)
{
    char bytes[DP_WIRE_MAX];
    dp_buf_add(buf, bytes, (size_t)(dp_wire_put(bytes, v) - bytes));
}

/* Appends a field that is a number. 0 is left out, because a missing field means 0. */
static inline void dp_wire_number(struct dp_buf *buf, unsigned field, uint64_t v)
{
    if (!v)
        return;
    dp_wire_varint(buf, field << 3);
    dp_wire_varint(buf, v);
}

/* Appends a field that consists of bytes: a string, a message, or packed numbers. */
static inline void dp_wire_bytes(struct dp_buf *buf, unsigned field, const char *ptr, size_t len)
{
    dp_wire_varint(buf, field << 3 | 2);
    dp_wire_varint(buf, len);
    dp_buf_add(buf, ptr, len);
}

#endif
