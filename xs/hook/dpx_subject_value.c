#include "dpx_subject_value.h"
#include "dp_mask_text.h"

#include <string.h>

const char *dpx_subject_text(SV *sv, STRLEN *len)
{
    if (!sv || SvGMAGICAL(sv) || SvROK(sv) || !SvPOK(sv))
        return NULL;
    *len = SvCUR(sv);
    return SvPVX_const(sv);
}

SV *dpx_subject_argument(const struct dpx_args *args, SSize_t i)
{
    return i < args->n ? args->at[i] : NULL;
}

SV *dpx_subject_element(pTHX_ HV *hv, const char *key)
{
    bool calls = SvRMAGICAL(hv)
                 && (mg_find((SV *)hv, PERL_MAGIC_tied) || mg_find((SV *)hv, PERL_MAGIC_uvar));
    SV **svp = calls ? NULL : hv_fetch(hv, key, (I32)strlen(key), 0);
    return svp && *svp && SvOK(*svp) ? *svp : NULL;
}

bool dpx_subject_command(struct dp_buf *to, SV *first, bool is_list)
{
    STRLEN len;
    const char *text = dpx_subject_text(first, &len);
    if (!text)
        return false;
    if (!is_list) {
        dp_command_name(to, text, len);
        return true;
    }
    const char *name = text + len;
    while (name > text && name[-1] != '/')
        name--;
    dp_mask_path(to, name, (size_t)(text + len - name));
    return true;
}
