#include "dp_pmu_names.h"
#include "dp_text.h"

#include <stdio.h>
#include <string.h>

#define HW(n, name, alias, unit, desc) \
    { DP_PMU_PERF, DP_PMU_G_HARDWARE, name, alias, unit, desc, DP_PMU_HARDWARE, n }
#define SW(n, name, alias, unit, desc) \
    { DP_PMU_PERF, DP_PMU_G_SOFTWARE, name, alias, unit, desc, DP_PMU_SOFTWARE, n }

const struct dp_pmu_known dp_pmu_known[] = {
    { DP_PMU_OPS, DP_PMU_G_PERL, "ops", NULL, "ops", "Ops that perl has executed", 0, 0 },
    { DP_PMU_SVS, DP_PMU_G_PERL, "svs", NULL, "SVs",
      "Live values (SVs): what came; svs-freed has what went", 0, 0 },
    { DP_PMU_BYTES, DP_PMU_G_PERL, "bytes", NULL, "bytes",
      "Heap that perl took; bytes-freed has what it gave back", 0, 0 },
    { DP_PMU_NOISE, DP_PMU_G_PERL, "noise", NULL, "ns",
      "Time by which stretches of a tree took much longer than usual", 0, 0 },
    HW(0, "cpu-cycles", "cycles", "cycles",
       "Cycles of the processor; their length varies with its frequency"),
    HW(1, "instructions", NULL, "instructions", "Instructions that were completed"),
    HW(2, "cache-references", NULL, "references",
       "Accesses to a cache, on most processors the last level"),
    HW(3, "cache-misses", NULL, "misses", "Accesses that this cache could not serve"),
    HW(4, "branch-instructions", "branches", "branches", "Branches that were completed"),
    HW(5, "branch-misses", NULL, "misses", "Branches that were predicted wrongly"),
    HW(6, "bus-cycles", NULL, "cycles", "Cycles of the bus"),
    HW(7, "stalled-cycles-frontend", "idle-cycles-frontend", "cycles",
       "Cycles in which no instructions were issued"),
    HW(8, "stalled-cycles-backend", "idle-cycles-backend", "cycles",
       "Cycles in which no instructions were completed"),
    HW(9, "ref-cycles", NULL, "cycles", "Cycles at a fixed frequency"),
    SW(0, "cpu-clock", NULL, "ns", "Time on a processor, by a timer of the processor"),
    SW(1, "task-clock", NULL, "ns", "Time on a processor, by the clock of the thread"),
    SW(2, "page-faults", "faults", "faults", "Page faults of both kinds"),
    SW(5, "minor-faults", NULL, "faults", "Page faults that were served from memory"),
    SW(6, "major-faults", NULL, "faults", "Page faults that had to read from a disk"),
    SW(3, "context-switches", "cs", "switches", "Times the processor was given to another thread"),
    SW(4, "cpu-migrations", "migrations", "migrations",
       "Times the thread went on on another processor"),
    SW(7, "alignment-faults", NULL, "faults",
       "Accesses to unaligned addresses that the kernel had to mend"),
    SW(8, "emulation-faults", NULL, "faults", "Instructions that the kernel had to emulate"),
    SW(11, "cgroup-switches", NULL, "switches", "Switches to a thread of another control group"),
    SW(9, "dummy", NULL, "events", "Counts nothing"),
    { DP_PMU_PERF, 0, NULL, NULL, NULL, NULL, 0, 0 },
};

/* ---- events of caches: CACHE[-OPERATION][-RESULT], where either may be missing ---- */

enum { CACHES = 7, OPERATIONS = 3, RESULTS = 2, SPELLINGS = 5 };

static const char *const caches[CACHES][SPELLINGS] = {
    { "L1-dcache", "l1-d", "l1d", "L1-data" }, { "L1-icache", "l1-i", "l1i", "L1-instruction" },
    { "LLC", "L2" },
    { "dTLB", "d-tlb", "Data-TLB" }, { "iTLB", "i-tlb", "Instruction-TLB" },
    { "branch", "branches", "bpu", "btb", "bpc" }, { "node" },
};
static const char *const operations[OPERATIONS][SPELLINGS] = {
    { "load", "loads", "read" }, { "store", "stores", "write" },
    { "prefetch", "prefetches", "speculative-read", "speculative-load" },
};
static const char *const results[RESULTS][SPELLINGS] = { { "refs", "reference", "ops", "access" },
                                                         { "misses", "miss" } };

/* Operations of each cache: a bit for each. */
static const unsigned has[CACHES] = { 7, 5, 7, 7, 1, 1, 7 };

/* Finds the row with a spelling that is a part of the text, up to a dash or the end; there is one
 * at most. *used: length of the spelling and a dash. Returns -1 if there is none. */
static int find_part(const char *const (*rows)[SPELLINGS], int n, const char *text, size_t len,
                     size_t *used)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SPELLINGS && rows[i][k]; k++) {
            size_t m = strlen(rows[i][k]);
            if (m > len || !dp_text_alike(rows[i][k], text, m)
                || (m < len && (text[m] != '-' || m + 1 == len)))
                continue;
            *used = m + (m < len);
            return i;
        }
    return -1;
}

/* Translates a generic name of a cache, such as L1-dcache-load-misses; parts left out mean loads
 * and accesses. Returns 1; 0 if it is no such name; or -1 if the cache does not have the operation,
 * which *out then names for the message. */
static int find_cache(const char *text, size_t len, struct dp_pmu_known *out)
{
    size_t used = 0;
    int cache = find_part(caches, CACHES, text, len, &used), op = -1, result = -1;
    if (cache < 0)
        return 0;
    for (size_t at = used; at < len; at += used) {
        int k = find_part(operations, OPERATIONS, text + at, len - at, &used);
        if (k >= 0 && op < 0) {
            op = k;
            continue;
        }
        k = find_part(results, RESULTS, text + at, len - at, &used);
        if (k < 0 || result >= 0)
            return 0;
        result = k;
    }
    static const char *const units[] = { "loads", "stores", "prefetches" };
    op = op < 0 ? 0 : op;
    *out = (struct dp_pmu_known){
        DP_PMU_PERF, DP_PMU_G_CACHE, NULL, NULL, result == 1 ? "misses" : units[op], NULL,
        DP_PMU_CACHE,
        (uint64_t)cache | (uint64_t)op << 8 | (uint64_t)(result == 1) << 16,
    };
    if (has[cache] >> op & 1)
        return 1;
    out->name = caches[cache][0];
    out->unit = units[op];
    return -1;
}

static bool is_name(const char *name, const char *text, size_t len)
{
    return name && strlen(name) == len && dp_text_alike(name, text, len);
}

int dp_pmu_known_find(const char *text, size_t len, struct dp_pmu_known *out)
{
    for (const struct dp_pmu_known *k = dp_pmu_known; k->name; k++)
        if (is_name(k->name, text, len) || is_name(k->alias, text, len)) {
            *out = *k;
            return 1;
        }
    return find_cache(text, len, out);
}

/* Finds the n-th existing cache event. */
static bool nth_cache(size_t n, int *cache, int *op, int *result)
{
    for (*cache = 0; *cache < CACHES; ++*cache)
        for (*op = 0; *op < OPERATIONS; ++*op)
            for (*result = 0; *result < RESULTS && has[*cache] >> *op & 1; ++*result)
                if (n-- == 0)
                    return true;
    return false;
}

bool dp_pmu_cache_name(size_t n, char to[DP_PMU_CACHE_NAME])
{
    int cache, op, result;
    if (!nth_cache(n, &cache, &op, &result))
        return false;
    snprintf(to, DP_PMU_CACHE_NAME, "%s-%s%s", caches[cache][0], operations[op][!result],
             result ? "-misses" : "");
    return true;
}

bool dp_pmu_cache_desc(size_t n, char to[DP_PMU_CACHE_DESC])
{
    static const char *const what[RESULTS][OPERATIONS] = {
        { "Loads from", "Stores to", "Prefetches into" },
        { "Loads that missed", "Stores that missed", "Prefetches that missed" },
    };
    static const char *const where[CACHES] = {
        "the first level's data cache", "the first level's instruction cache",
        "the last level's cache", "the TLB for data", "the TLB for instructions",
        "the branch predictor", "the memory of the processor's own node",
    };
    int cache, op, result;
    if (!nth_cache(n, &cache, &op, &result))
        return false;
    snprintf(to, DP_PMU_CACHE_DESC, "%s %s", what[result][op], where[cache]);
    return true;
}

/* ---- names and units of columns ---- */

bool dp_pmu_column(char to[DP_PMU_NAME], const char *ptr, size_t len, size_t lower)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t at = 0, n;
    for (size_t i = 0; i < len; i += n) {
        n = dp_text_char(ptr + i, len - i);
        bool plain = n && !dp_text_is_unseen(ptr + i, n) && ptr[i] != ' ' && ptr[i] != '%';
        n = n ? n : 1;
        if (at + (plain ? n : 3 * n) >= DP_PMU_NAME)
            return false;
        for (size_t k = i; k < i + n; k++) {
            unsigned char c = (unsigned char)ptr[k];
            if (!plain) {
                to[at++] = '%';
                to[at++] = hex[c >> 4];
                c = (unsigned char)hex[c & 15];
            }
            to[at++] = plain && k < lower && c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : (char)c;
        }
    }
    to[at] = '\0';
    return true;
}

const char *dp_pmu_unit_of(const char *ptr, size_t len)
{
    enum { IN, START, END };
    static const struct { int where; const char *word, *unit; } words[] = {
        { IN, "cycle", "cycles" }, { IN, "clk_unhalted", "cycles" }, { END, "_cyc", "cycles" },
        { START, "inst_retired", "instructions" },
        { START, "ex_ret_instr", "instructions" }, { START, "pm_inst_cmpl", "instructions" },
        { END, "miss", "misses" }, { END, "misses", "misses" },
        { END, "branches", "branches" }, { END, "instructions", "instructions" },
    };
    char low[DP_PMU_NAME];
    if (!dp_pmu_column(low, ptr, len, len))
        return "events";
    for (size_t k = 0; k < DP_ARRAY_LEN(words); k++) {
        const char *at = strstr(low, words[k].word);
        if (at
            && (words[k].where == IN || (words[k].where == START && at == low)
                || (words[k].where == END && !at[strlen(words[k].word)])))
            return words[k].unit;
    }
    return "events";
}
