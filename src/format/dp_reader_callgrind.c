#include "dp_reader_callgrind.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

struct callgrind {
    struct dp_map subs;         /* number of a compressed name -> sub */
    uint32_t node;              /* of the function whose costs follow */
    bool skip;                  /* the next line has the cost of a call */
};

static bool begins(struct dp_text t, const char *with)
{
    size_t n = strlen(with);
    return t.len >= n && memcmp(t.ptr, with, n) == 0;
}

/* Does one of the first lines begin with the text? */
static bool has_line(const char *ptr, size_t len, const char *with)
{
    const char *end = ptr + (len < 4096 ? len : 4096);
    while (ptr < end) {
        if (begins((struct dp_text){ ptr, (size_t)(end - ptr) }, with))
            return true;
        const char *nl = memchr(ptr, '\n', (size_t)(end - ptr));
        ptr = nl ? nl + 1 : end;
    }
    return false;
}

/* The format's first line may be left out, and so may all others but those of the events. */
static bool is_callgrind(const char *ptr, size_t len)
{
    static const char *const heads[] = { "version:", "creator:", "pid:",      "cmd:",
                                         "part:",    "desc:",    "positions:" };
    struct dp_text all = { ptr, len };
    bool head = begins(all, "# callgrind format");
    for (size_t i = 0; i < DP_ARRAY_LEN(heads) && !head; i++)
        head = begins(all, heads[i]);
    return head && (has_line(ptr, len, "events:") || has_line(ptr, len, "creator:"));
}

static struct dp_text next_word(struct dp_text *rest)
{
    while (rest->len && (*rest->ptr == ' ' || *rest->ptr == '\t'))
        rest->ptr++, rest->len--;
    struct dp_text w = { rest->ptr, 0 };
    while (w.len < rest->len && w.ptr[w.len] != ' ' && w.ptr[w.len] != '\t')
        w.len++;
    rest->ptr += w.len;
    rest->len -= w.len;
    return w;
}

static int head(struct dp_reader *r)
{
    struct dp_text line, none = { "", 0 };
    int got;
    while ((got = dp_foreign_line(r, &line)) > 0) {
        if (!begins(line, "events:"))
            continue;
        struct dp_text rest = { line.ptr + 7, line.len - 7 }, name;
        while ((name = next_word(&rest)).len) {
            int rc = dp_foreign_value(r, name, none);
            if (rc < 0)
                return rc;
        }
        return dp_foreign_header(r, 0);
    }
    return got < 0 ? got : dp_reader_fail(r, DP_E_SYNTAX, 0, "there is no line `events:'");
}

static int function(struct dp_reader *r, struct callgrind *cg, struct dp_text name)
{
    uint32_t sub;
    int rc = dp_foreign_sub(r, name, (struct dp_text){ "", 0 }, 0, &sub);
    int64_t node = rc < 0 ? rc : dp_foreign_enter(r, 0, sub);
    cg->node = node < 0 ? 0 : (uint32_t)node;
    return node < 0 ? (int)node : 0;
}

static int cost(struct dp_reader *r, struct callgrind *cg, struct dp_text line)
{
    uint64_t values[DP_FOREIGN_VALUES] = { 0 };
    next_word(&line);
    for (size_t i = 0; i < r->foreign.n_values; i++) {
        struct dp_text w = next_word(&line);
        if (w.len && !dp_num_dec(w.ptr, w.len, &values[i]))
            return dp_reader_fail(r, DP_E_SYNTAX, 0, "this is no cost: %.40s", w.ptr);
    }
    return dp_foreign_add(r, cg->node, values);
}

static int body(struct dp_reader *r)
{
    struct callgrind *cg = r->foreign.state = dp_mem_zalloc(sizeof *cg);
    struct dp_text line;
    int got;
    if (!cg)
        return dp_reader_fail(r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM));
    dp_map_init(&cg->subs);
    while ((got = dp_foreign_line(r, &line)) > 0) {
        int rc = 0;
        if (begins(line, "fn="))
            rc = function(r, cg, (struct dp_text){ line.ptr + 3, line.len - 3 });
        else if (begins(line, "calls="))
            cg->skip = true;
        else if (line.len && line.ptr[0] >= '0' && line.ptr[0] <= '9' && !cg->skip)
            rc = cost(r, cg, line);
        else
            cg->skip = false;
        if (rc < 0)
            return rc;
    }
    return got;
}

static void release(void *state)
{
    struct callgrind *cg = state;
    if (cg)
        dp_map_release(&cg->subs);
    dp_mem_free(cg);
}

const struct dp_foreign_format dp_foreign_callgrind = {
    "callgrind", is_callgrind, head, body, release
};
