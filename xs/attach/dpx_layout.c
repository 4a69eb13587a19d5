#include "dpx_layout.h"
#include "dpx.h"
#include "dpx_fields.h"

#include <string.h>

#ifdef DPX_MULTIPLICITY
enum { IS_MULTIPLE = 1 };
#else
enum { IS_MULTIPLE = 0 };
#endif

/* Sets a field by its name: in this file, fields are also macros of perl's. */
static void set_field(struct dp_layout *layout, const char *name, uint32_t value)
{
    for (size_t i = 0; i < DP_LAYOUT_WORDS; i++)
        if (strcmp(name, dp_layout_names[i]) == 0)
            ((uint32_t *)layout)[i] = value;
}

const struct dp_perl_own *dpx_layout_own(void)
{
    static struct dp_perl_own own;
    struct dp_layout layout;
    memset(&layout, 0, sizeof layout);
#define SET(name, value) set_field(&layout, #name, (uint32_t)(value));
    DPX_FIELDS(SET)
#undef SET
    own.layout = layout;
    own.options = PL_bincompat_options;
    own.version = (struct dp_layout_of){ PERL_VERSION, IS_MULTIPLE };
    return &own;
}
