#include "dp_reader_end.h"
#include "dp_num.h"

/* Fills in the sums of the lines read so far (of a tree, if there is one), by DP_FMT_SUM_*; the
 * last line of the file has the same ones. */
static void sums_of(const struct dp_reader *r, uint64_t *sums)
{
    sums[DP_FMT_SUM_MARKS] = r->info->marks;
    sums[DP_FMT_SUM_LINES] = r->tree.lines;
    sums[DP_FMT_SUM_CALLS] = r->tree.calls;
    for (int m = 0; m < DP_METRICS; m++)
        sums[DP_FMT_SUM_USER + m] = r->passed[m] + r->t[m] - r->tree.before[m];
}

void dp_reader_sums(struct dp_reader *r, const char *ptr, size_t len)
{
    static const size_t word = sizeof DP_FMT_END - 1;
    const char *end = ptr + len;
    uint64_t sums[DP_FMT_SUMS], told;
    if (len <= word || memcmp(ptr, DP_FMT_END " ", word + 1) != 0)
        return;
    r->end.seen = true;
    sums_of(r, sums);
    for (const char *p = ptr + word; p < end && !r->end.wrong;) {
        const char *key = ++p, *equals = key;
        while (p < end && *p != ' ' && *p != '\r')
            p++;
        while (equals < p && *equals != '=')
            equals++;
        for (int i = 0; i < DP_FMT_SUMS && equals < p; i++) {
            size_t n = (size_t)(equals - key);
            if (strlen(dp_fmt_sums[i]) != n || memcmp(dp_fmt_sums[i], key, n) != 0)
                continue;
            bool good = dp_num_dec(equals + 1, (size_t)(p - equals - 1), &told);
            if (!good || told != sums[i])
                r->end = (struct dp_reader_end){ true, 1 + i, good ? told : 0, sums[i] };
        }
    }
}

/* Compares the sums in the last line with those that were read. Returns 0 or a DP_E with a
 * message. */
static int check_sums(struct dp_reader *r)
{
    if (!r->end.seen)
        return dp_reader_fail(r, DP_E_TRUNCATED, 0, "the last line is missing, which has the sums");
    if (!r->end.wrong)
        return 0;
    return dp_reader_fail(r, DP_E_TRUNCATED, 0,
                          "a part is missing or damaged: %s=%llu is what the last line tells, and"
                          " %llu is what there is", dp_fmt_sums[r->end.wrong - 1],
                          (unsigned long long)r->end.told, (unsigned long long)r->end.read);
}

/* Checks a file from before the last line with sums existed: the header has the sums of times, if
 * the recorder or dprofmerge wrote it. */
static int check_times(struct dp_reader *r)
{
    static const char *const names[] = { "user", "system", "real" };
    const struct dp_header *head = r->head;
    bool is_ours = dp_header_get(head, "dprof_complete") || dp_header_get(head, "dprof_merged");
    for (int m = 0; m < DP_METRICS && is_ours; m++)
        if (r->passed[m] < head->rrun[m])
            return dp_reader_fail(r, DP_E_TRUNCATED, 0, "%llu of %llu ticks of %s time are missing",
                                  (unsigned long long)(head->rrun[m] - r->passed[m]),
                                  (unsigned long long)head->rrun[m], names[m]);
    return 0;
}

int dp_reader_check_end(struct dp_reader *r)
{
    size_t left = r->in.end - r->in.pos;
    const struct dp_header *head = r->head;
    if (r->in.cut && !r->info->pieces)
        return dp_reader_fail(r, DP_E_TRUNCATED, left, "the compressed data break off");
    if (left)
        return dp_reader_fail(r, DP_E_TRUNCATED, 0, "the last line is not whole");
    if (!head->ended)
        return dp_reader_fail(r, DP_E_TRUNCATED, 0, "the recording did not come to its end");
    /* the classic recorder counts its marks before it has written all of them */
    if (head->version && head->has_marks && r->info->marks < head->total_marks)
        return dp_reader_fail(r, DP_E_TRUNCATED, 0, "%llu of %llu marks are missing",
                              (unsigned long long)(head->total_marks - r->info->marks),
                              (unsigned long long)head->total_marks);
    if (r->in.no_end)
        return dp_reader_fail(r, DP_E_TRUNCATED, 0, "the last line has no end");
    if (!head->version)
        return 0;
    return dp_header_get(head, "dprof_end") ? check_sums(r) : check_times(r);
}
