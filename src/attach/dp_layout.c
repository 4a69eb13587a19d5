#include "dp_layout.h"
#include "dp_layout_table.h"
#include "dp_err.h"

static const struct {
    unsigned first, last;       /* series */
    bool multiplicity;
} columns[] = {
#define COLUMN(first, last, multiplicity) { first, last, multiplicity },
    DP_LAYOUT_COLUMNS(COLUMN)
#undef COLUMN
};

static const uint32_t rows[DP_LAYOUT_WORDS][DP_ARRAY_LEN(columns)] = {
#define ROW(name, ...) [offsetof(struct dp_layout, name) / sizeof(uint32_t)] = { __VA_ARGS__ },
    DP_LAYOUT_ROWS(ROW)
#undef ROW
};

const char *const dp_layout_names[DP_LAYOUT_WORDS] = {
#define NAME(name) #name,
    DP_LAYOUT_FIELDS(NAME)
#undef NAME
};

/* A development series, such as 5.41, is like the stable one that follows. */
int dp_layout_find(struct dp_layout *to, const struct dp_layout_of *perl)
{
    unsigned series = perl->series + perl->series % 2;
    size_t best = DP_ARRAY_LEN(columns);
    for (size_t i = 0; i < DP_ARRAY_LEN(columns); i++)
        if (columns[i].multiplicity == perl->multiplicity && columns[i].first <= series
            && (best == DP_ARRAY_LEN(columns) || columns[i].first > columns[best].first))
            best = i;
    if (best == DP_ARRAY_LEN(columns) || sizeof(void *) != 8)
        return DP_E_VERSION;
    uint32_t *words = (uint32_t *)to;
    for (size_t i = 0; i < DP_LAYOUT_WORDS; i++)
        words[i] = rows[i][best];
#ifdef __aarch64__
    /* The table is that of x86-64. Here, sigjmp_buf and struct stat, which stand before these, have
     * other sizes: 112 bytes more, and 16 fewer. */
    enum { MORE = 96 };
    to->phase += perl->multiplicity ? MORE : 0;
    to->main_cv += perl->multiplicity ? MORE : 0;
    to->compiling += perl->multiplicity ? MORE : 0;
#endif
    return series > columns[best].last;
}
