#define PERL_NO_GET_CONTEXT
#include "dpx_hash.h"
#include "dp_err.h"

SV *dpx_field(pTHX_ HV *from, const char *name)
{
    SV **sv = hv_fetch(from, name, (I32)strlen(name), 0);
    return sv && SvOK(*sv) ? *sv : NULL;
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

const char *dpx_text(pTHX_ SV *sv, STRLEN *len)
{
    SV *copy = sv_2mortal(newSVsv(sv));
    return SvUTF8(copy) ? SvPVutf8(copy, *len) : SvPV(copy, *len);
}

void *dpx_array(pTHX_ size_t n, size_t size)
{
    char *ptr;
    Newxz(ptr, (n + 1) * size, char);
    SAVEFREEPV(ptr);
    return ptr;
}

SV *dpx_name_sv(pTHX_ const char *ptr, STRLEN len)
{
    SV *sv = newSVpvn(ptr, len);
    if (ptr && is_utf8_string((const U8 *)ptr, len))
        SvUTF8_on(sv);
    return sv;
}

const char *dpx_error_text(int code) { return dp_err_text(code); }

void dpx_check(pTHX_ long code)
{
    if (code < 0)
        croak("%s", dp_err_text((int)code));
}
