/* What this relies on, beside the layout: op_sibparent leads from an op to its next sibling, and
 * from the last one to its parent. The root of a sub is a leavesub, that of an eval or a file a
 * leaveeval, that of the main program a leave; a tree that is being compiled has another top. A HEK
 * has its flags behind the NUL of its text; bit 0 says that it is UTF-8. With threads a COP has the
 * name of its file, without them a glob named "_<FILE". */
#include "dp_optree.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"

enum {
    MOST_STEPS = 1 << 16,       /* from a statement to its root */
    MOST_NAME = 1 << 12,        /* bytes of a package's or a sub's name */
    MOST_FILE = 1 << 12,
    FEW_NAMES = 1000,           /* beyond these, names lose what differs each time they are made */
    MOST_NAMES = 1 << 16,       /* beyond these, subs count by package */
    MOST_AROUND = 20            /* subs around a sub */
};

int dp_optree_init(struct dp_optree *code, struct dp_perl *perl)
{
    *code = (struct dp_optree){ .perl = perl, .target = perl->target };
    dp_pool_init(&code->files);
    dp_pool_init(&code->names);
    dp_buf_init(&code->text);
    code->cops = dp_mem_zalloc(DP_OPTREE_COPS * sizeof *code->cops);
    code->subs = dp_mem_zalloc(DP_OPTREE_SUBS * sizeof *code->subs);
    return code->cops && code->subs ? 0 : DP_E_NOMEM;
}

void dp_optree_release(struct dp_optree *code)
{
    dp_pool_release(&code->files);
    dp_pool_release(&code->names);
    dp_buf_release(&code->text);
    dp_mem_free(code->cops);
    dp_mem_free(code->subs);
}

static struct dp_optree_cop *cop_slot(const struct dp_optree *code, dp_addr at)
{
    return &code->cops[dp_map_hash(at) % DP_OPTREE_COPS];
}

static struct dp_optree_sub *sub_slot(const struct dp_optree *code, dp_addr at)
{
    return &code->subs[dp_map_hash(at) % DP_OPTREE_SUBS];
}

bool dp_optree_is_compiling(const struct dp_optree *code, dp_addr interpreter, dp_addr cop)
{
    return cop && cop == DP_PERL_VAR(code->perl, interpreter, compiling);
}

/* ---- texts ---- */

/* Appends the text of a HEK as a field; perl keeps names as UTF-8 or as Latin-1. Profiles have
 * UTF-8. */
bool dp_optree_add_hek(struct dp_optree *code, dp_addr hek, struct dp_buf *to)
{
    const struct dp_layout *at = &code->perl->at;
    char name[MOST_NAME + 2];
    int32_t len;
    if (!hek || !dp_target_get(code->target, hek + at->hek_len, &len, sizeof len) || len < 0
        || len > MOST_NAME
        || !dp_target_get(code->target, hek + at->hek_key, name, (size_t)len + 2))
        return false;
    if (name[len])              /* no NUL: this is no HEK */
        return false;
    bool is_utf8 = name[len + 1] & 1;
    for (int32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        char two[2] = { (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) };
        if (is_utf8 || c < 0x80)
            dp_fmt_field(to, name + i, 1);
        else
            dp_buf_add(to, two, sizeof two);
    }
    return true;
}

dp_addr dp_optree_stash_name(struct dp_optree *code, dp_addr stash)
{
    const struct dp_layout *at = &code->perl->at;
    struct dp_target *t = code->target;
    if (!stash || (dp_target_u32(t, stash + at->sv_flags) & at->SVTYPEMASK) != at->SVt_PVHV)
        return 0;
    dp_addr body = dp_target_pointer(t, stash + at->sv_any), aux = body + at->hv_aux;
    if (!at->hv_aux)
        aux = dp_target_pointer(t, stash + at->sv_u)
              + sizeof(void *) * (dp_target_pointer(t, body + at->hv_max) + 1);
    dp_addr name = dp_target_pointer(t, aux + at->aux_name);
    /* A package with several names has a list of them. */
    return dp_target_u32(t, aux + at->aux_name_count) ? dp_target_pointer(t, name) : name;
}

/* Appends the name of a statement's file. */
static bool add_file(struct dp_optree *code, dp_addr file, struct dp_buf *to)
{
    static const char before[] = "_<";
    const struct dp_layout *at = &code->perl->at;
    size_t from = to->len;
    if (code->perl->version.multiplicity)
        return file && dp_target_string(code->target, file, MOST_FILE, to);
    dp_addr body = dp_target_pointer(code->target, file + at->sv_any);
    dp_addr name = dp_target_pointer(code->target, body + at->gv_namehek);
    if (!file || !dp_optree_add_hek(code, name, to))
        return false;
    size_t len = to->len - from, cut = sizeof before - 1;
    if (len > cut && memcmp(to->ptr + from, before, cut) == 0) {
        memmove(to->ptr + from, to->ptr + from + cut, len - cut);
        to->len -= cut;
    }
    /* the file's own name, and no field */
    len = dp_fmt_decode(to->ptr + from, to->ptr + from, to->len - from);
    to->len = from + len;
    return true;
}

/* ---- statements ---- */

/* A statement that is kept, has a root, and is still the same; NULL: there is none. */
static const struct dp_optree_cop *known_cop(struct dp_optree *code, dp_addr at)
{
    const struct dp_optree_cop *cop = cop_slot(code, at);
    char bytes[sizeof cop->bytes];
    size_t size = code->perl->at.cop_size;
    return cop->at == at && cop->root && dp_target_get(code->target, at, bytes, size)
           && memcmp(bytes, cop->bytes, size) == 0 ? cop : NULL;
}

/* The op at the top of the tree that an op stands in, and its type; 0: not found. The walk ends at
 * a statement whose root is known. */
static dp_addr root_of(struct dp_optree *code, dp_addr op, unsigned *type)
{
    char bytes[64];
    const struct dp_layout *at = &code->perl->at;
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        const struct dp_optree_cop *known = known_cop(code, op);
        if (known) {
            *type = known->root_type;
            return known->root;
        }
        if (!dp_target_get(code->target, op, bytes, at->op_size))
            return 0;
        dp_addr next = dp_target_pointer_in(bytes, at->op_sibparent);
        if (!next) {
            *type = dp_perl_op_type(code->perl, bytes);
            return op;
        }
        op = next;
    }
    return 0;
}

/* Is this the type of the op that ends the code of a sub, a file or a string eval? */
static bool is_root_type(const struct dp_perl_ops *ops, unsigned type)
{
    return type == ops->op_leavesub || type == ops->op_leavesublv || type == ops->op_leaveeval
           || type == ops->op_leave;
}

/* Fills in what a statement's bytes say. Returns false if they are no statement's. */
static bool read_cop(struct dp_optree *code, struct dp_optree_cop *cop)
{
    const struct dp_layout *at = &code->perl->at;
    const struct dp_perl_ops *ops = &code->perl->ops;
    unsigned type = dp_perl_op_type(code->perl, cop->bytes);
    if (type != ops->op_nextstate && type != ops->op_dbstate && type != ops->op_null)
        return false;
    cop->line = dp_target_u32_in(cop->bytes, at->cop_line);
    dp_buf_clear(&code->text);
    if (!add_file(code, dp_target_pointer_in(cop->bytes, at->cop_file), &code->text))
        dp_buf_addc(&code->text, '?');
    cop->file = code->files.count < MOST_NAMES
                ? dp_pool_intern(&code->files, code->text.ptr, code->text.len)
                : dp_pool_lookup(&code->files, code->text.ptr, code->text.len);
    if (cop->file == DP_MAP_NONE)
        cop->file = dp_pool_intern(&code->files, "?", 1);
    cop->root = 0;              /* of the statement that was at its address or place before */
    cop->root = root_of(code, cop->at, &cop->root_type);
    if (!is_root_type(ops, cop->root_type))
        cop->root = 0;
    cop->is_open = !cop->root && type != ops->op_null;
    cop->serial = ++code->serial;
    return cop->file != DP_MAP_NONE;
}

const struct dp_optree_cop *dp_optree_cop(struct dp_optree *code, dp_addr at)
{
    struct dp_optree_cop *cop = cop_slot(code, at);
    size_t size = code->perl->at.cop_size;
    char bytes[sizeof cop->bytes];
    bool is_known = cop->at == at && at;
    if (is_known && cop->look == code->target->look)
        return cop;
    if (!at || size > sizeof bytes || !dp_target_get(code->target, at, bytes, size))
        return NULL;
    /* code that was being compiled may have got its root since */
    if (!is_known || cop->is_open || memcmp(bytes, cop->bytes, size) != 0) {
        code->read_anew += is_known;
        memcpy(cop->bytes, bytes, size);
        cop->at = at;
        if (!read_cop(code, cop)) {
            cop->at = 0;
            return NULL;
        }
    }
    cop->look = code->target->look;
    return cop;
}

/* ---- names of subs ---- */

/* Appends FILE:LINE of the first statement of a sub, or "-"; where: its number, 0 if unknown. */
static void add_place(struct dp_optree *code, dp_addr start, struct dp_buf *to, uint32_t *seq)
{
    const struct dp_layout *at = &code->perl->at;
    const struct dp_optree_cop *cop = start ? dp_optree_cop(code, start) : NULL;
    *seq = 0;
    if (!cop || dp_perl_op_type(code->perl, cop->bytes) == code->perl->ops.op_null) {
        dp_buf_addc(to, '-');
        return;
    }
    const struct dp_name *file = dp_pool_name(&code->files, cop->file);
    dp_fmt_field(to, file->ptr, file->len);
    dp_buf_addc(to, ':');
    dp_buf_addu(to, cop->line);
    *seq = dp_target_u32_in(cop->bytes, at->cop_seq);
}

/* The HEKs of a sub's package and name; 0: it has none. */
static void heks_of(struct dp_optree *code, const char *body, dp_addr *package, dp_addr *name)
{
    const struct dp_layout *at = &code->perl->at;
    struct dp_target *t = code->target;
    dp_addr gv = dp_target_pointer_in(body, at->cv_gv), stash;
    if (dp_target_u32_in(body, at->cv_flags) & at->CVf_NAMED) {
        *name = gv;
        stash = dp_target_pointer_in(body, at->cv_stash);
    } else if (gv && (dp_target_u32(t, gv + at->sv_flags) & at->SVTYPEMASK) == at->SVt_PVGV) {
        dp_addr gv_body = dp_target_pointer(t, gv + at->sv_any);
        *name = dp_target_pointer(t, gv_body + at->gv_namehek);
        stash = dp_target_pointer(t, gv_body + at->gv_stash);
    } else {
        *name = 0;
        stash = dp_target_pointer_in(body, at->cv_stash);
    }
    *package = dp_optree_stash_name(code, stash);
}

/* Appends in=PACKAGE::NAME, the named sub around an anonymous one. */
static void add_around(struct dp_optree *code, const char *body, struct dp_buf *to)
{
    const struct dp_layout *at = &code->perl->at;
    char outer[sizeof ((struct dp_optree_sub *)0)->bytes];
    dp_addr cv = dp_target_pointer_in(body, at->cv_outside), package, name;
    for (int i = 0; cv && i < MOST_AROUND; i++) {
        dp_addr any = dp_target_pointer(code->target, cv + at->sv_any);
        if (!any || !dp_target_get(code->target, any, outer, at->cv_size))
            return;
        uint32_t flags = dp_target_u32_in(outer, at->cv_flags);
        if (flags & (at->CVf_ANON | at->CVf_UNIQUE)) {
            cv = dp_target_pointer_in(outer, at->cv_outside);
            continue;
        }
        heks_of(code, outer, &package, &name);
        size_t from = to->len;
        dp_buf_adds(to, " in=");
        if (!dp_optree_add_hek(code, package, to))
            dp_buf_adds(to, "main");
        dp_buf_adds(to, "::");
        if (!name || !dp_optree_add_hek(code, name, to))
            to->len = from;
        return;
    }
}

/* Takes out of a line the numbers of evals, which are new each time that a string is compiled. */
static void drop_eval_numbers(struct dp_buf *line)
{
    static const char open[] = "(eval%20";
    size_t n = sizeof open - 1, to = 0;
    for (size_t i = 0; i < line->len;) {
        if (line->len - i > n && memcmp(line->ptr + i, open, n) == 0) {
            memmove(line->ptr + to, "(eval", 5);
            to += 5;
            for (i += n; i < line->len && line->ptr[i] >= '0' && line->ptr[i] <= '9'; i++)
                ;
        } else {
            line->ptr[to++] = line->ptr[i++];
        }
    }
    line->len = to;
}

/* The number of the line in `line`. A program may make subs for as long as it runs: the number of
 * lines is bounded. */
static uint32_t intern_line(struct dp_optree *code, struct dp_buf *line)
{
    uint32_t n = dp_pool_lookup(&code->names, line->ptr, line->len);
    if (line->err || n != DP_MAP_NONE || code->names.count < MOST_NAMES)
        return n != DP_MAP_NONE || line->err ? n
               : dp_pool_intern(&code->names, line->ptr, line->len);
    const char *blank = memchr(line->ptr, ' ', line->len);
    line->len = blank ? (size_t)(blank - line->ptr) : 0;
    dp_buf_adds(line, " (others) -");
    n = dp_pool_lookup(&code->names, line->ptr, line->len);
    if (n == DP_MAP_NONE && code->names.count < MOST_NAMES + FEW_NAMES)
        n = dp_pool_intern(&code->names, line->ptr, line->len);
    return n != DP_MAP_NONE ? n : dp_pool_intern(&code->names, "main (others) -", 15);
}

/* Makes the line of a sub from its body, as dpx_name.c makes it inside of the program: PACKAGE NAME
 * PLACE, kind=xs, and for an anonymous sub the sub around it and the number of its first
 * statement. */
static uint32_t name_sub(struct dp_optree *code, const char *body)
{
    const struct dp_layout *at = &code->perl->at;
    struct dp_buf line;
    dp_addr package, name;
    uint32_t flags = dp_target_u32_in(body, at->cv_flags), seq;
    bool is_xs = flags & at->CVf_ISXSUB;
    dp_buf_init(&line);
    heks_of(code, body, &package, &name);
    if (!dp_optree_add_hek(code, package, &line)) {
        dp_buf_clear(&line);
        dp_buf_adds(&line, "main");
    }
    dp_buf_addc(&line, ' ');
    if (!dp_optree_add_hek(code, name, &line))
        dp_buf_adds(&line, "__ANON__");
    dp_buf_addc(&line, ' ');
    add_place(code, is_xs ? 0 : dp_target_pointer_in(body, at->cv_start), &line, &seq);
    if (is_xs)
        dp_buf_adds(&line, " kind=xs");
    bool is_many = code->names.count >= FEW_NAMES;
    if (flags & at->CVf_ANON) {
        add_around(code, body, &line);
        if (seq && !is_many)
            dp_buf_addf(&line, " seq=%lu", (unsigned long)seq);
    }
    if (is_many && !line.err)
        drop_eval_numbers(&line);
    uint32_t number = intern_line(code, &line);
    dp_buf_release(&line);
    return number;
}

/* ---- subs ---- */

/* Are the fields of two bodies equal that tell which sub it is? */
static bool is_same_body(const struct dp_layout *at, const char *a, const char *b)
{
    return dp_target_pointer_in(a, at->cv_stash) == dp_target_pointer_in(b, at->cv_stash)
           && dp_target_pointer_in(a, at->cv_start) == dp_target_pointer_in(b, at->cv_start)
           && dp_target_pointer_in(a, at->cv_root) == dp_target_pointer_in(b, at->cv_root)
           && dp_target_pointer_in(a, at->cv_gv) == dp_target_pointer_in(b, at->cv_gv)
           && dp_target_u32_in(a, at->cv_flags) == dp_target_u32_in(b, at->cv_flags);
}

const struct dp_optree_sub *dp_optree_sub(struct dp_optree *code, dp_addr cv)
{
    const struct dp_layout *at = &code->perl->at;
    struct dp_optree_sub *sub = sub_slot(code, cv);
    char head[32], body[sizeof sub->bytes];
    bool is_known = sub->at == cv && cv;
    if (is_known && sub->look == code->target->look)
        return sub;
    if (!cv || at->cv_size > sizeof body || at->sv_size > sizeof head
        || !dp_target_get(code->target, cv, head, at->sv_size)
        || (dp_target_u32_in(head, at->sv_flags) & at->SVTYPEMASK) != at->SVt_PVCV)
        return NULL;
    dp_addr any = dp_target_pointer_in(head, at->sv_any);
    if (!any || !dp_target_get(code->target, any, body, at->cv_size))
        return NULL;
    if (!is_known || any != sub->body || !is_same_body(at, body, sub->bytes)) {
        code->read_anew += is_known;
        sub->at = 0;
        sub->name = name_sub(code, body);
        if (sub->name == DP_MAP_NONE)
            return NULL;
        sub->at = cv;
        sub->body = any;
        memcpy(sub->bytes, body, at->cv_size);
        sub->is_xs = dp_target_u32_in(body, at->cv_flags) & at->CVf_ISXSUB;
        sub->root = sub->is_xs ? 0 : dp_target_pointer_in(body, at->cv_root);
    }
    sub->look = code->target->look;
    return sub;
}

/* ---- comparing what is kept ---- */

enum { COP, SUB_HEAD, SUB_BODY, WORD };

void dp_optree_check_begin(struct dp_optree_check *check) { check->n = 0; }

/* Adds a part of the other process's memory to those that a check reads again; kind and entry say
 * which of the known facts it belongs to. */
static void add_part(struct dp_optree_check *check, int kind, size_t entry, dp_addr at, size_t len)
{
    size_t i = check->n++;
    check->parts[i] = (struct dp_target_part){ at, check->bytes[i], len };
    check->of[i].kind = kind;
    check->of[i].entry = entry;
}

void dp_optree_check_cop(struct dp_optree *code, struct dp_optree_check *check, dp_addr at)
{
    struct dp_optree_cop *cop = cop_slot(code, at);
    unsigned look = code->target->look;
    if (!at || cop->at != at || cop->look == look || cop->asked == look || cop->is_open
        || check->n >= DP_TARGET_PARTS)
        return;
    cop->asked = look;
    add_part(check, COP, (size_t)(cop - code->cops), at, code->perl->at.cop_size);
}

void dp_optree_check_sub(struct dp_optree *code, struct dp_optree_check *check, dp_addr cv)
{
    struct dp_optree_sub *sub = sub_slot(code, cv);
    unsigned look = code->target->look;
    if (!cv || sub->at != cv || sub->look == look || sub->asked == look
        || check->n + 2 > DP_TARGET_PARTS)
        return;
    sub->asked = look;
    add_part(check, SUB_HEAD, (size_t)(sub - code->subs), cv, code->perl->at.sv_size);
    add_part(check, SUB_BODY, (size_t)(sub - code->subs), sub->body, code->perl->at.cv_size);
}

size_t dp_optree_check_word(struct dp_optree_check *check, dp_addr at)
{
    if (!at || check->n >= DP_TARGET_PARTS)
        return SIZE_MAX;
    add_part(check, WORD, 0, at, sizeof(void *));
    return check->n - 1;
}

/* Is a sub's head, in part i, still the one that leads to its body? */
static bool is_same_head(const struct dp_optree *code, const struct dp_optree_check *check,
                         size_t i)
{
    const struct dp_layout *at = &code->perl->at;
    const char *head = check->bytes[i];
    return dp_target_pointer_in(head, at->sv_any) == code->subs[check->of[i].entry].body
           && (dp_target_u32_in(head, at->sv_flags) & at->SVTYPEMASK) == at->SVt_PVCV;
}

bool dp_optree_check_end(struct dp_optree *code, struct dp_optree_check *check)
{
    const struct dp_layout *at = &code->perl->at;
    if (check->n && !dp_target_read(code->target, check->parts, check->n))
        return false;
    for (size_t i = 0; i < check->n; i++) {
        size_t entry = check->of[i].entry;
        if (check->of[i].kind == COP
            && memcmp(code->cops[entry].bytes, check->bytes[i], at->cop_size) == 0)
            code->cops[entry].look = code->target->look;
        if (check->of[i].kind == SUB_BODY && is_same_head(code, check, i - 1)
            && is_same_body(at, code->subs[entry].bytes, check->bytes[i]))
            code->subs[entry].look = code->target->look;
    }
    return true;
}
