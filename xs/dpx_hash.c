#include "dpx_hash.h"

SV *dpx_field(pTHX_ HV *from, const char *name)
{
    SV **sv = hv_fetch(from, name, (I32)strlen(name), 0);
    return sv && SvOK(*sv) ? *sv : NULL;
}

IV dpx_number(pTHX_ HV *from, const char *name, IV otherwise)
{
    SV *sv = dpx_field(aTHX_ from, name);
    return sv ? SvIV(sv) : otherwise;
}

NV dpx_real(pTHX_ HV *from, const char *name)
{
    SV *sv = dpx_field(aTHX_ from, name);
    return sv ? SvNV(sv) : 0;
}

AV *dpx_list_of(pTHX_ SV *sv)
{
    return sv && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVAV ? (AV *)SvRV(sv) : NULL;
}

HV *dpx_hash_of(pTHX_ SV *sv)
{
    return sv && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVHV ? (HV *)SvRV(sv) : NULL;
}

AV *dpx_list(pTHX_ HV *from, const char *name)
{
    return dpx_list_of(aTHX_ dpx_field(aTHX_ from, name));
}

SV *dpx_element(pTHX_ AV *av, SSize_t n)
{
    SV **sv = av_fetch(av, n, 0);
    return sv && SvOK(*sv) ? *sv : NULL;
}

size_t dpx_numbers(pTHX_ HV *from, const char *name, int *to, size_t most)
{
    AV *av = dpx_list(aTHX_ from, name);
    size_t n = 0;
    for (SSize_t i = 0; av && i <= av_len(av) && n < most; i++) {
        SV *sv = dpx_element(aTHX_ av, i);
        to[n++] = sv ? (int)SvIV(sv) : 0;
    }
    return n;
}

const char *dpx_text(pTHX_ SV *sv, STRLEN *len)
{
    SV *copy = sv_2mortal(newSVsv(sv));
    return SvUTF8(copy) ? SvPVutf8(copy, *len) : SvPV(copy, *len);
}

const char *dpx_text_field(pTHX_ HV *from, const char *name, size_t *len)
{
    SV *sv = dpx_field(aTHX_ from, name);
    STRLEN n = 0;
    const char *ptr = sv ? dpx_text(aTHX_ sv, &n) : NULL;
    if (len)
        *len = n;
    return ptr;
}

void *dpx_array(pTHX_ size_t n, size_t size)
{
    char *ptr;
    Newxz(ptr, (n + 1) * size, char);
    SAVEFREEPV(ptr);
    return ptr;
}
