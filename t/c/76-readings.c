/* How often a look reads the memory of a target: by a steady one, by a statement that is new, and
 * by a call that leads elsewhere. */
#include "tap.h"
#include "dp_mem.h"
#include "made.h"

static struct made m;

/* Takes a look as a sampler does; returns its readings. */
static unsigned look(void)
{
    uint64_t before = m.readings;
    int rc = dp_stack_read(&m.stack);
    if (rc != 1)
        return 0;
    dp_sampled_add(&m.sampled, &m.leafs, 1000000, 900000, true);
    return (unsigned)(m.readings - before);
}

static const char *leaf_name(void)
{
    uint32_t n = dp_leaf_name(&m.leafs);
    return n == DP_MAP_NONE ? "none" : dp_pool_name(&m.code.names, n)->ptr;
}

static void begin(unsigned series, bool threads)
{
    made_init(&m, series, threads);
    if (made_open(&m) < 0)
        abort();
}

static void steady(unsigned series, bool threads)
{
    begin(series, threads);
    ok(look() && look(), "5.%u%s: two looks", series, threads ? " threads" : "");
    is_u(look(), 3, "the third one reads the stack, its code, and what the call leads to");
    made_release(&m);
}

/* What a call leads to is another sub, by each of the words on the way. */
static void other_subs(bool threads)
{
    const struct dp_layout *at = &m.perl.at;
    dp_addr glob, gp;
    begin(36, threads);
    look(), look();
    glob = dp_leaf_of(&m.leafs, m.stack.curcop, m.stack.op, false)->glob;
    memcpy(&gp, m.bytes + (glob + at->sv_u - MADE_BASE), sizeof gp);
    dp_addr util = made_stash(&m, "Other"), gv = made_gv(&m, util, "min");
    dp_addr min = made_cv(&m, gv, util, at->CVf_ISXSUB, 0, 0), gp2 = made_room(&m, 64);
    is_s(leaf_name(), "List::Util sum - kind=xs", "the sub that is called");
    made_put(&m, gp + at->gp_cv, min, WORD);
    ok(look(), "the glob has another sub");
    is_s(leaf_name(), "Other min - kind=xs", "which is seen");
    made_put(&m, gp2 + at->gp_cv, m.sum, WORD);
    made_put(&m, glob + at->sv_u, gp2, WORD);
    ok(look(), "the name leads to another glob");
    is_s(leaf_name(), "List::Util sum - kind=xs", "which is seen");
    made_put(&m, glob + at->sv_flags, at->SVf_ROK | at->SVt_IV, 4);
    made_put(&m, glob + at->sv_u, min, WORD);
    ok(look(), "a reference is in its place");
    is_s(leaf_name(), "Other min - kind=xs", "which is seen");
    is_u(look(), 3, "a reference needs no more readings");
    made_put(&m, glob + at->sv_flags, at->SVt_PVGV, 4);
    made_put(&m, glob + at->sv_u, gp2, WORD);
    ok(look(), "and a glob again");
    is_s(leaf_name(), "List::Util sum - kind=xs", "which is seen");
    made_put(&m, glob + at->sv_u, 0, WORD);
    ok(look(), "a glob that leads nowhere");
    is_s(leaf_name(), "none", "has no sub");
    made_release(&m);
}

/* A statement that is new finds its sub by the next statement that is known. It does not walk
 * through all those behind, which here would lead nowhere. */
static void new_statement(void)
{
    const struct dp_layout *at = &m.perl.at;
    begin(36, true);
    dp_addr behind = made_cop(&m, "p.pl", 39), fresh = made_cop(&m, "p.pl", 29);
    dp_addr list = m.f_list;    /* the last that was made */
    KIDS(&m, list, m.eval_cop, m.entersub, behind);
    ok(look() && look(), "a statement with others behind it");
    KIDS(&m, list, fresh, m.eval_cop, m.entersub, behind);
    made_put(&m, behind + at->op_sibparent, 0x10, WORD);
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, curcop), fresh, WORD);
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, op), 0, WORD);
    ok(look(), "a statement before it");
    const struct dp_optree_cop *cop = dp_optree_cop(&m.code, fresh);
    is_u(cop ? cop->root : 0, m.eval_root, "has the same root");
    /* but not by a statement that has changed */
    made_put(&m, m.eval_cop + at->cop_line, 77, 4);
    made_put(&m, fresh + at->cop_line, 78, 4);
    look();
    cop = dp_optree_cop(&m.code, fresh);
    is_u(cop ? cop->root : 1, 0, "not if the known statement has changed");
    made_release(&m);
}

int main(void)
{
    const uint16_t one = 1;
    if (sizeof(void *) != 8 || *(const char *)&one != 1)
        return tap_done();      /* the table of layouts is for others */
    for (unsigned series = 26; series <= 44; series += 2)
        for (int threads = 0; threads < 2; threads++)
            steady(series, threads);
    other_subs(true);
    other_subs(false);
    new_statement();
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
