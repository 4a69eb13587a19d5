/* Inside the reader: records of nytprof.out. */
#ifndef DP_NYTPROF_RECORD_H
#define DP_NYTPROF_RECORD_H

#include "dp_import.h"

enum { DP_NYTPROF_NUMBERS = 6, DP_NYTPROF_TIMES = 3, DP_NYTPROF_TEXTS = 2 };

/* A record's first byte and its fields, numbers, times and texts each in the file's order:
 * '+'  statement: ticks, file, line
 * '*'  the same with the lines of block and sub
 * '-'  the next statement has been counted already
 * '@'  file: number, eval's file and line, flags, size, mtime, name
 * 'S'  a line of source: file, line, text
 * '>'  a call begins: caller's file and line
 * '<'  it ends: depth, inclusive and own ticks, name
 * 's'  sub: file, name, its first and last line
 * 'c'  calls: file, line, caller, how many, inclusive, own and recursive seconds, depth, callee
 * 'P'  a process begins: its number, its parent's, time of day
 * 'p'  it ends: number, time of day */
struct dp_nytprof_record {
    char tag;
    uint32_t u[DP_NYTPROF_NUMBERS];
    double n[DP_NYTPROF_TIMES];
    struct dp_text s[DP_NYTPROF_TEXTS]; /* borrowed from the buffer */
    size_t len;
};

/* Makes n bytes readable. Returns 0; DP_E_TRUNCATED, without a message, if the file has fewer
 * bytes; or another DP_E. */
int dp_nytprof_need(struct dp_reader *r, size_t n);

/* Parses the record at r->in.pos, which does not move: the record is rec->len bytes. swapped: its
 * times have the other byte order. Returns like dp_nytprof_need. */
int dp_nytprof_record(struct dp_reader *r, bool swapped, struct dp_nytprof_record *rec);

/* Swaps the bytes of a time. */
double dp_nytprof_swapped(double v);

#endif
