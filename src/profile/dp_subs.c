#include "dp_subs.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <inttypes.h>
#include <string.h>

void dp_subs_init(struct dp_subs *subs)
{
    memset(subs, 0, sizeof *subs);
    dp_pool_init(&subs->strings);
    dp_pool_init(&subs->keys);
    dp_pool_init(&subs->seen);
    dp_pool_init(&subs->places);
    dp_map_init(&subs->crowds);
    dp_map_init(&subs->crowd_files);
    dp_buf_init(&subs->scratch);
}

void dp_subs_next_file(struct dp_subs *subs)
{
    dp_pool_release(&subs->seen);
    dp_pool_release(&subs->places);
    subs->generation = 0;
    subs->has_crowd = false;
}

void dp_subs_ids_anew(struct dp_subs *subs)
{
    subs->generation++;
}

void dp_subs_release(struct dp_subs *subs)
{
    dp_subs_next_file(subs);
    dp_pool_release(&subs->strings);
    dp_pool_release(&subs->keys);
    dp_mem_free(subs->subs);
    dp_mem_free(subs->seen_ordinal);
    dp_mem_free(subs->place_count);
    dp_map_release(&subs->crowds);
    dp_map_release(&subs->crowd_files);
    dp_buf_release(&subs->scratch);
    dp_subs_init(subs);
}

static bool ends_with(const char *ptr, size_t len, const char *tail)
{
    size_t n = strlen(tail);
    return len >= n && memcmp(ptr + len - n, tail, n) == 0;
}

static bool is_word(const char *ptr, size_t len, const char *word)
{
    return ends_with(ptr, len, word) && (len == strlen(word) || ptr[len - strlen(word) - 1] == ':');
}

/* Is the name one that many subs of one package may have? */
static bool is_shared(const char *ptr, size_t len)
{
    return is_word(ptr, len, "__ANON__") || is_word(ptr, len, "END") || is_word(ptr, len, "BEGIN");
}

static bool is_begin(const struct dp_name *name)
{
    return is_word(name->ptr, name->len, "BEGIN");
}

bool dp_phase_is_of_perl(const struct dp_name *name)
{
    static const char *const phases[] = { "BEGIN", "main", "END" };
    for (size_t i = 0; i < DP_ARRAY_LEN(phases); i++)
        if (name->len == strlen(phases[i]) && memcmp(name->ptr, phases[i], name->len) == 0)
            return true;
    return false;
}

/* Appends a text with its length to a key. */
static void add_text(struct dp_buf *buf, struct dp_text t)
{
    dp_buf_add(buf, &t.len, sizeof t.len);      /* different lists of texts must not look alike */
    dp_buf_add(buf, t.ptr, t.len);
}

/* The ordinal of a sub among the file's subs of this name and place; 0 if there is no memory. The
 * order of compilation distinguishes such subs, and a file keeps it. If it is unknown, the id does,
 * as long as ids keep their meaning. */
static uint32_t ordinal_of(struct dp_subs *subs, const struct dp_subdef *def)
{
    struct dp_buf *key = &subs->scratch;
    size_t places = subs->places.count, len = key->len;
    if (!def->seq)
        dp_buf_add(key, &subs->generation, sizeof subs->generation);
    /* make room first: a known place has a count */
    bool room = dp_mem_grow((void **)&subs->place_count, &subs->place_cap, places + 1,
                            sizeof *subs->place_count) == 0;
    uint32_t place = !room || key->err ? DP_MAP_NONE
        : dp_pool_intern(&subs->places, key->ptr, key->len);
    key->len = len;
    if (place == DP_MAP_NONE)
        return 0;
    if (place >= places)
        subs->place_count[place] = 0;
    uint64_t pair[2] = { place, def->seq ? def->seq : def->id };
    size_t before = subs->seen.count;
    if (dp_mem_grow((void **)&subs->seen_ordinal, &subs->seen_cap, before + 1,
                    sizeof *subs->seen_ordinal) < 0)
        return 0;
    uint32_t n = dp_pool_intern(&subs->seen, (const char *)pair, sizeof pair);
    if (n == DP_MAP_NONE)
        return 0;
    if (n < before)
        return subs->seen_ordinal[n];
    subs->has_crowd = subs->has_crowd || subs->place_count[place];
    return subs->seen_ordinal[n] = ++subs->place_count[place];
}

static uint32_t intern(struct dp_subs *subs, struct dp_text t)
{
    return dp_pool_intern(&subs->strings, t.ptr, t.len);
}

/* Replaces subs->scratch by the key of a sub's name and place. Subs with equal keys, such as two
 * closures in one line, differ by the ordinal that add_ordinal() appends. If memory is short,
 * scratch.err is set. */
static void write_place_key(struct dp_subs *subs, const struct dp_subdef *def)
{
    struct dp_buf *key = &subs->scratch;
    dp_buf_clear(key);
    add_text(key, def->package);
    add_text(key, def->name);
    add_text(key, def->file);
    dp_buf_add(key, &def->line, sizeof def->line);
    add_text(key, def->autoload);
    if (def->phase)
        dp_buf_adds(key, "phase");
    if (def->builtin)
        dp_buf_adds(key, "builtin");
    if (def->span)
        dp_buf_adds(key, "span");
}

static bool has_ordinal(const struct dp_subdef *def)
{
    return !def->phase && !def->span && is_shared(def->name.ptr, def->name.len);
}

/* Appends the ordinal after the place. */
static void add_ordinal(struct dp_subs *subs, const struct dp_subdef *def, uint32_t ordinal)
{
    struct dp_buf *key = &subs->scratch;
    dp_buf_add(key, &ordinal, sizeof ordinal);
    if (!def->file.len && !subs->by_ordinal)    /* only the id distinguishes them */
        dp_buf_add(key, &def->id, sizeof def->id);
}

/* Counts one more sub with its name. */
static int join_crowd(struct dp_subs *subs, const struct dp_sub *sub)
{
    uint64_t key = (uint64_t)sub->package << 32 | sub->name;
    struct dp_map_slot *count = dp_map_put(&subs->crowds, key),
                       *file = dp_map_put(&subs->crowd_files, key);
    if (!count || !file)
        return DP_E_NOMEM;
    count->value = count->value == DP_MAP_NONE ? 1 : count->value + 1;
    file->value = file->value == DP_MAP_NONE || file->value == sub->file
            ? sub->file : DP_SUBS_FILES;
    return 0;
}

/* Adds a sub. order: its ordinal among the file's subs of this name and place; 0: not known yet. */
static int64_t add_sub(struct dp_subs *subs, const struct dp_subdef *def, uint32_t order)
{
    struct dp_buf *key = &subs->scratch;
    struct dp_sub sub;
    memset(&sub, 0, sizeof sub);
    write_place_key(subs, def);
    if (key->err)
        return DP_E_NOMEM;
    sub.ordinal = 1;
    if (has_ordinal(def)) {
        sub.ordinal = order ? order : ordinal_of(subs, def);
        if (!sub.ordinal)
            return DP_E_NOMEM;
        add_ordinal(subs, def, sub.ordinal);
    }
    if (key->err)
        return DP_E_NOMEM;
    size_t before = dp_subs_count(subs);
    uint32_t n = dp_pool_lookup(&subs->keys, key->ptr, key->len);
    if (n != DP_MAP_NONE)
        return n;
    if (before >= DP_LIMIT_IDS)
        return DP_E_LIMIT;
    sub.package = intern(subs, def->package);
    sub.name = intern(subs, def->name);
    sub.file = intern(subs, def->file);
    sub.autoload = intern(subs, def->autoload);
    sub.in = intern(subs, def->in);
    sub.line = def->line;
    sub.seq = def->seq;
    sub.id = def->id;
    sub.xs = def->xs;
    sub.phase = def->phase;
    sub.builtin = def->builtin;
    sub.span = def->span;
    if (sub.package == DP_MAP_NONE || sub.name == DP_MAP_NONE || sub.file == DP_MAP_NONE
        || sub.autoload == DP_MAP_NONE || sub.in == DP_MAP_NONE
        || dp_mem_grow((void **)&subs->subs, &subs->cap, before + 1, sizeof sub) < 0)
        return DP_E_NOMEM;
    n = dp_pool_intern(&subs->keys, key->ptr, key->len);
    if (n == DP_MAP_NONE)
        return DP_E_NOMEM;
    subs->subs[n] = sub;
    return has_ordinal(def) && join_crowd(subs, &sub) < 0 ? DP_E_NOMEM : (int64_t)n;
}

int64_t dp_subs_add(struct dp_subs *subs, const struct dp_subdef *def)
{
    return add_sub(subs, def, 0);
}

/* Returns a string of the subs as a text. */
static struct dp_text text_of(const struct dp_subs *subs, uint32_t string)
{
    const struct dp_name *name = dp_pool_name(&subs->strings, string);
    return (struct dp_text){ name->ptr, name->len };
}

/* Is a's text greater than b's, by bytes? */
static bool is_greater(struct dp_text a, struct dp_text b)
{
    int c = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return c ? c > 0 : a.len > b.len;
}

/* Returns a sub as the definition from which another profile can take it. */
static struct dp_subdef def_of(const struct dp_subs *from, uint32_t n)
{
    const struct dp_sub *sub = &from->subs[n];
    return (struct dp_subdef){
        .package = text_of(from, sub->package), .name = text_of(from, sub->name),
        .file = text_of(from, sub->file),
        .line = sub->line, .autoload = text_of(from, sub->autoload), .in = text_of(from, sub->in),
        .seq = sub->seq, .id = sub->id, .xs = sub->xs, .builtin = sub->builtin, .phase = sub->phase,
        .span = sub->span,
    };
}

/* ---- the order of compilation ---- */

/* The subs that share their places with others, in groups. */
struct crowd {
    const struct dp_subs *subs;
    uint32_t *place;            /* by sub */
    uint32_t *members;
    size_t n;
};

/* Sorts subs that share a place by that place, then in the order in which they were compiled. */
static int compare_members(const void *ctx, uint32_t a, uint32_t b)
{
    const struct crowd *c = ctx;
    const struct dp_sub *x = &c->subs->subs[a], *y = &c->subs->subs[b];
    if (c->place[a] != c->place[b])
        return c->place[a] < c->place[b] ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

/* Collects the subs that share their place with others and have an order of compilation, sorted by
 * place and then by this order. Only they can get new ordinals. */
static int find_crowd(struct dp_subs *subs, struct crowd *c)
{
    size_t count = dp_subs_count(subs);
    c->subs = subs;
    c->place = dp_mem_realloc(NULL, count + 1, sizeof *c->place);
    c->members = dp_mem_realloc(NULL, count + 1, sizeof *c->members);
    if (!c->place || !c->members)
        return DP_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct dp_subdef def = def_of(subs, i);
        if (!has_ordinal(&def) || !def.seq)
            continue;
        write_place_key(subs, &def);
        if (subs->scratch.err)
            return DP_E_NOMEM;
        uint32_t place = dp_pool_lookup(&subs->places, subs->scratch.ptr, subs->scratch.len);
        if (place == DP_MAP_NONE || subs->place_count[place] < 2)
            continue;
        c->place[i] = place;
        c->members[c->n++] = i;
    }
    dp_sort_u32(c->members, c->n, compare_members, c);
    return 0;
}

/* Makes the keys, which contain ordinals, again. Without memory the old keys stay, as many as there
 * are subs. */
static int make_keys(struct dp_subs *subs)
{
    size_t count = dp_subs_count(subs);
    struct dp_pool keys;
    bool ok = true;
    dp_pool_init(&keys);
    for (uint32_t i = 0; i < count && ok; i++) {
        struct dp_subdef def = def_of(subs, i);
        write_place_key(subs, &def);
        if (has_ordinal(&def))
            add_ordinal(subs, &def, subs->subs[i].ordinal);
        ok = !subs->scratch.err
            && dp_pool_intern(&keys, subs->scratch.ptr, subs->scratch.len) == i;
    }
    dp_pool_release(ok ? &subs->keys : &keys);
    if (ok)
        subs->keys = keys;
    return ok ? 0 : DP_E_NOMEM;
}

void dp_subs_pack(struct dp_subs *subs)
{
    size_t count = dp_subs_count(subs);
    dp_subs_next_file(subs);
    dp_mem_free(subs->seen_ordinal);
    dp_mem_free(subs->place_count);
    subs->seen_ordinal = subs->place_count = NULL;
    subs->seen_cap = subs->place_cap = 0;
    dp_buf_release(&subs->scratch);
    dp_pool_seal(&subs->strings);
    dp_pool_release(&subs->keys);
    subs->keys.count = count;
}

int dp_subs_unpack(struct dp_subs *subs)
{
    int rc = dp_pool_unseal(&subs->strings);
    return rc < 0 ? rc : make_keys(subs);
}

/* Numbers the members from..end, which have one place. Returns whether an ordinal has changed. */
static bool give_ordinals(struct dp_subs *subs, const struct crowd *c, size_t from, size_t end)
{
    bool changed = false;
    uint32_t place = c->place[c->members[from]];
    if (end - from != subs->place_count[place])     /* some have no order of compilation */
        return false;
    for (size_t k = from; k < end; k++) {
        struct dp_sub *sub = &subs->subs[c->members[k]];
        uint32_t ordinal = (uint32_t)(k - from) + 1;
        uint64_t pair[2] = { place, sub->seq };
        uint32_t n = dp_pool_lookup(&subs->seen, (const char *)pair, sizeof pair);
        changed = changed || sub->ordinal != ordinal;
        sub->ordinal = ordinal;
        if (n != DP_MAP_NONE)
            subs->seen_ordinal[n] = ordinal;
    }
    return changed;
}

/* Numbers all members again, place by place. Returns whether an ordinal has changed. */
static bool order_crowd(struct dp_subs *subs, const struct crowd *c)
{
    bool changed = false;
    for (size_t from = 0, end; from < c->n; from = end) {
        for (end = from + 1; end < c->n && c->place[c->members[end]] == c->place[c->members[from]];
             end++)
            ;
        changed = give_ordinals(subs, c, from, end) || changed;
    }
    return changed;
}

int dp_subs_order(struct dp_subs *subs)
{
    struct crowd c = { 0 };
    if (!subs->has_crowd)
        return 0;
    int rc = find_crowd(subs, &c);
    if (rc == 0 && order_crowd(subs, &c))
        rc = make_keys(subs);
    dp_mem_free(c.place);
    dp_mem_free(c.members);
    return rc;
}

/* ---- tables ---- */

int64_t dp_subs_import(struct dp_subs *subs, const struct dp_subs *from, uint32_t n)
{
    return dp_subs_import_in(subs, from, n, text_of(from, from->subs[n].file));
}

int64_t dp_subs_import_in(struct dp_subs *subs, const struct dp_subs *from, uint32_t n,
                          struct dp_text file)
{
    const struct dp_sub *sub = &from->subs[n];
    struct dp_subdef def = def_of(from, n);
    def.file = file;
    size_t before = dp_subs_count(subs);
    int64_t to = add_sub(subs, &def, subs->goes_on && def.seq ? 0 : sub->ordinal);
    if (to < 0 || (size_t)to >= before)
        return to;
    struct dp_sub *same = &subs->subs[to];
    same->xs = same->xs || sub->xs;
    if (is_greater(def.in, text_of(subs, same->in))) {
        uint32_t in = intern(subs, def.in);
        if (in == DP_MAP_NONE)
            return DP_E_NOMEM;
        same->in = in;
    }
    return to;
}

bool dp_subs_is_shared(const struct dp_subs *subs, uint32_t n)
{
    const struct dp_sub *sub = &subs->subs[n];
    const struct dp_name *name = dp_pool_name(&subs->strings, sub->name);
    return !sub->phase && !sub->span && is_shared(name->ptr, name->len);
}

void dp_subs_label(const struct dp_subs *subs, uint32_t n, unsigned flags, struct dp_buf *buf)
{
    const struct dp_sub *sub = &subs->subs[n];
    const struct dp_name *package = dp_pool_name(&subs->strings, sub->package);
    const struct dp_name *name = dp_pool_name(&subs->strings, sub->name);
    const struct dp_name *file = dp_pool_name(&subs->strings, sub->file);
    if (sub->phase) {
        dp_buf_addc(buf, '(');
        dp_buf_add(buf, name->ptr, name->len);
        dp_buf_addc(buf, ')');
        return;
    }
    if ((flags & DP_LABEL_AUTOLOAD) && !sub->span
        && (dp_pool_name(&subs->strings, sub->autoload)->len
            || is_word(name->ptr, name->len, "AUTOLOAD"))) {
        dp_buf_adds(buf, "*::AUTOLOAD");
        return;
    }
    if (package->len) {
        dp_buf_add(buf, package->ptr, package->len);
        dp_buf_adds(buf, sub->builtin || sub->span ? ":" : "::");
    }
    dp_buf_add(buf, name->ptr, name->len);
    /* an empty name would be no frame in folded text, and no word in a table */
    if (!package->len && !name->len)
        dp_buf_adds(buf, DP_FMT_NAMELESS);
    if (!(flags & (DP_LABEL_SEPARATE | DP_LABEL_CROWDED)) || !dp_subs_is_shared(subs, n))
        return;
    uint64_t key = (uint64_t)sub->package << 32 | sub->name;
    const struct dp_map_slot *count = dp_map_find(&subs->crowds, key),
                             *one = dp_map_find(&subs->crowd_files, key);
    bool crowded = count && count->value > 1;
    if (!(flags & DP_LABEL_SEPARATE) && !crowded)
        return;
    if (file->len)
        dp_subs_add_place(buf, name, file, sub->line, sub->ordinal,
                          one && one->value == DP_SUBS_FILES);
    else if (sub->id && (flags & DP_LABEL_SEPARATE) && !is_begin(name))
        dp_buf_addf(buf, "(%" PRIx64 ")", sub->id);
}

void dp_subs_add_place(struct dp_buf *buf, const struct dp_name *name, const struct dp_name *file,
                       uint64_t line, uint32_t ordinal, bool files)
{
    bool begin = is_begin(name);
    dp_buf_addc(buf, begin ? '@' : '[');
    if (!begin || files) {
        dp_buf_add(buf, file->ptr, file->len);
        dp_buf_addc(buf, ':');
    }
    dp_buf_addf(buf, "%" PRIu64, line);
    if (!begin)
        dp_buf_addc(buf, ']');
    if (ordinal > 1)
        dp_buf_addf(buf, "#%" PRIu32, ordinal);
}
