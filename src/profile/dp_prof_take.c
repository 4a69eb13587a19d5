/* Chooses the contexts that are copied from a profile: all, or those of a phase. */
#include "dp_prof_tree.h"

#include <string.h>

/* Is this the sub's name with its package? */
static bool has_full_name(const struct dp_prof *prof, uint32_t sub, const char *name)
{
    const struct dp_name *package = dp_subs_text(&prof->subs, prof->subs.subs[sub].package);
    const struct dp_name *own = dp_subs_text(&prof->subs, prof->subs.subs[sub].name);
    return strlen(name) == package->len + 2 + own->len
           && memcmp(name, package->ptr, package->len) == 0
           && memcmp(name + package->len, "::", 2) == 0
           && memcmp(name + package->len + 2, own->ptr, own->len) == 0;
}

/* Is the node a phase of this name? */
static bool is_phase(const struct dp_prof *prof, uint32_t n, const char *name)
{
    const struct dp_sub *sub = &prof->subs.subs[prof->nodes[n].sub];
    const struct dp_name *own = dp_subs_text(&prof->subs, sub->name);
    return sub->phase && prof->nodes[n].parent == 0 && strlen(name) == own->len
           && memcmp(name, own->ptr, own->len) == 0;
}

/* The fate of a node whose caller waits for the sub below which everything is kept. Frames that ran
 * when the phase began wait, too. A thread that was started in the phase has no such frames. */
static uint32_t waiting(const struct dp_prof *prof, uint32_t n, const char *below)
{
    const struct dp_node *node = &prof->nodes[n];
    if (has_full_name(prof, node->sub, below))
        return DP_TAKE_ABOVE;
    return node->calls ? DP_TAKE_KEEP : DP_TAKE_WAIT;
}

int dp_prof_choose(const struct dp_prof *from, const struct dp_take *what, uint32_t *of)
{
    bool any = !what->phase;
    of[0] = what->phase ? DP_TAKE_DROP : DP_TAKE_ROOT;
    for (uint32_t i = 1; i < from->count; i++) {
        uint32_t up = of[from->nodes[i].parent];
        if (!what->phase || up == DP_TAKE_KEEP || up == DP_TAKE_ROOT)
            of[i] = DP_TAKE_KEEP;
        else if (up == DP_TAKE_ABOVE)
            of[i] = DP_TAKE_ROOT;
        else if (up == DP_TAKE_WAIT)
            of[i] = waiting(from, i, what->below);
        else if (is_phase(from, i, what->phase))
            of[i] = what->below ? DP_TAKE_WAIT : DP_TAKE_ROOT;
        else
            of[i] = DP_TAKE_DROP;
        any = any || of[i] == DP_TAKE_ROOT || of[i] == DP_TAKE_KEEP;
    }
    return any ? 0 : DP_E_ARG;
}
