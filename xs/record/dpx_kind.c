#include "dpx_kind.h"
#include "dpx_span.h"

/* The types that frames tell apart. */
#define KINDS(X) \
    X(UNDEF, "undef") X(NUMBER, "number") X(STRING, "string") X(REFERENCE, "reference") \
    X(REGEXP, "REGEXP") X(GLOB, "GLOB") X(LVALUE, "LVALUE") X(ARRAY, "ARRAY") X(HASH, "HASH") \
    X(CODE, "CODE") X(FORMAT, "FORMAT") X(IO, "IO")
enum kind {
#define NAME(name, text)  KIND_##name,
    KINDS(NAME)
#undef NAME
    N_KINDS
};

static const char *const texts[N_KINDS] = {
#define TEXT(name, text)  text,
    KINDS(TEXT)
#undef TEXT
};

static enum kind kind_of(SV *sv)
{
    if (isREGEXP(sv))
        return KIND_REGEXP;
    switch (SvTYPE(sv)) {
    case SVt_PVAV: return KIND_ARRAY;
    case SVt_PVHV: return KIND_HASH;
    case SVt_PVCV: return KIND_CODE;
    case SVt_PVFM: return KIND_FORMAT;
    case SVt_PVIO: return KIND_IO;
    case SVt_PVLV: return KIND_LVALUE;
    case SVt_PVGV: if (isGV_with_GP(sv)) return KIND_GLOB;
    /* FALLTHROUGH */
    default:
        return SvROK(sv) ? KIND_REFERENCE : SvPOKp(sv) ? KIND_STRING : SvNIOKp(sv) ? KIND_NUMBER
               : KIND_UNDEF;
    }
}

U32 dpx_kind_of(pTHX_ struct dpx_ctx *ctx, SV *sv, struct dp_map *known)
{
    enum kind kind = kind_of(sv);
    HV *class = SvOBJECT(sv) ? SvSTASH(sv) : NULL;
    struct dp_map_slot *slot = dp_map_put(known, (uint64_t)PTR2UV(class) * N_KINDS + kind);
    if (!slot)
        return 0;
    if (slot->value == DP_MAP_NONE) {
        HEK *name = class ? HvNAME_HEK(class) : NULL;
        struct dp_buf text;
        dp_buf_init(&text);
        dp_buf_adds(&text, texts[kind]);
        if (name) {
            dp_buf_adds(&text, " (");
            dp_buf_add(&text, HEK_KEY(name), (size_t)HEK_LEN(name));
            dp_buf_adds(&text, ")");
        }
        slot->value = text.err ? 0 : dpx_span_id(ctx, "value", 5, text.ptr, text.len, NULL);
        dp_buf_release(&text);
    }
    return slot->value;
}

/* The bytes of a body, without what perl leaves out in front of it. */
static size_t body_bytes(svtype type)
{
    switch (type) {
    case SVt_PV: return sizeof(XPV) - STRUCT_OFFSET(XPV, xpv_cur);
    case SVt_PVIV: return sizeof(XPVIV) - STRUCT_OFFSET(XPV, xpv_cur);
    case SVt_PVNV: return sizeof(XPVNV) - STRUCT_OFFSET(XPV, xpv_cur);
    case SVt_PVMG: return sizeof(XPVMG);
    case SVt_REGEXP: return sizeof(regexp);
    case SVt_PVGV: return sizeof(XPVGV);
    case SVt_PVLV: return sizeof(XPVLV);
    case SVt_PVAV: return sizeof(XPVAV);
    case SVt_PVHV: return sizeof(XPVHV);
    case SVt_PVCV: return sizeof(XPVCV);
    case SVt_PVFM: return sizeof(XPVFM);
    case SVt_PVIO: return sizeof(XPVIO);
    default: return 0;          /* the value is in the head */
    }
}

size_t dpx_kind_head_bytes(const SV *sv) { return sizeof(SV) + body_bytes(SvTYPE(sv)); }
