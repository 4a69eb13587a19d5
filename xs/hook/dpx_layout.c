#include "dpx_layout.h"

enum {
    HEAP_MOST = 128 << 10,      /* bytes: malloc asks the system for more, and gives it back, in
                                 * steps of as many */
    VALUES_MOST = 256           /* more than an arena of perl's has heads or bodies of most types */
};

/* A number below `most`. (G. Marsaglia: Xorshift RNGs, Journal of Statistical Software 8, 2003.) */
static size_t next(uint64_t *random, size_t most)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (size_t)(*random >> 11) % most;
}

void dpx_layout(pTHX_ uint64_t number)
{
    uint64_t random = number * UINT64_C(0x9e3779b97f4a7c15);    /* also of small numbers */
    if (!number)
        return;
    size_t bytes = next(&random, HEAP_MOST), heads = next(&random, VALUES_MOST);
    size_t strings = next(&random, VALUES_MOST), arrays = next(&random, VALUES_MOST);
    AV *kept = newAV();
    av_push(kept, newSV(bytes));
    for (size_t i = 0; i < heads; i++)
        av_push(kept, newSV(0));
    for (size_t i = 0; i < strings; i++)
        av_push(kept, newSVpvs(""));
    for (size_t i = 0; i < arrays; i++)
        av_push(kept, newRV_noinc((SV *)newAV()));
    (void)hv_stores(PL_modglobal, "Devel::DProf::layout", (SV *)kept);
}
