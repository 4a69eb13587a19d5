#include "dp_file_pair.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_srclines.h"
#include "dp_text.h"

#include <string.h>

/* Returns an array of n elements and a spare one, all zero; NULL, with no_memory set, if memory is
 * short. */
static void *make_array(struct dp_file_pairs *fp, size_t n, size_t size)
{
    void *ptr = n < SIZE_MAX / size ? dp_mem_zalloc((n + 1) * size) : NULL;
    fp->no_memory = fp->no_memory || !ptr;
    return ptr;
}

/* Puts the name of a place's file into the buffer. */
static void name_of_site(struct dp_file_pairs *fp, const struct dp_prof *prof, uint32_t site)
{
    const char *file;
    size_t len;
    uint64_t line;
    dp_srclines_place(prof, site, &file, &len, &line);
    fp->buf.len = 0;
    dp_fmt_unfield(&fp->buf, file, len);
    fp->no_memory = fp->no_memory || fp->buf.err;
}

static uint32_t add_file(struct dp_file_pairs *fp, const char *file, size_t len, uint32_t side)
{
    return len ? dp_checkouts_add(&fp->checkouts, file, len, side) : DP_MAP_NONE;
}

/* Numbers the files of all places, sides and texts. */
static void survey_files(struct dp_file_pairs *fp)
{
    fp->of_site = make_array(fp, fp->subs->n_profs, sizeof *fp->of_site);
    fp->of_source = make_array(fp, fp->n_sources, sizeof *fp->of_source);
    for (size_t k = 0; k < fp->subs->n_profs && !fp->no_memory; k++) {
        const struct dp_pair_prof *of = &fp->subs->profs[k];
        size_t n = of->prof->sites.count;
        uint32_t *files = fp->of_site[k] = make_array(fp, n, sizeof *files);
        for (uint32_t i = 1; i <= n && !fp->no_memory; i++) {
            name_of_site(fp, of->prof, i);
            files[i] = add_file(fp, fp->buf.ptr, fp->buf.len, of->side);
        }
    }
    for (size_t i = 0; i < fp->n_sources && !fp->no_memory; i++)
        fp->of_source[i] = add_file(fp, fp->sources[i].file, fp->sources[i].file_len,
                                    (uint32_t)fp->sources[i].side);
    dp_checkouts_pair(&fp->checkouts);
    fp->no_memory = fp->no_memory || fp->checkouts.no_memory;
}

/* The file of a side's program, or DP_MAP_NONE. */
static uint32_t script_of(struct dp_file_pairs *fp, uint32_t side)
{
    for (size_t k = 0; k < fp->subs->n_profs; k++) {
        const struct dp_prof *prof = fp->subs->profs[k].prof;
        const char *script = fp->subs->profs[k].side == side && prof->n_files
                ? dp_header_get(&prof->files[0].head, "dprof_script") : NULL;
        for (uint32_t i = 1; script && i <= prof->sites.count; i++) {
            name_of_site(fp, prof, i);
            if (fp->buf.len == strlen(script) && memcmp(fp->buf.ptr, script, fp->buf.len) == 0)
                return fp->of_site[k][i];
        }
    }
    return DP_MAP_NONE;
}

/* Does a side have a file of this text? */
static bool side_has(const struct dp_file_pairs *fp, uint32_t file, uint32_t side)
{
    uint64_t text = fp->checkouts.files[file].text;
    return dp_map_find(&fp->checkouts.has, text << 32 | side) != NULL;
}

/* Pairs the program's own file with that of the baseline, whatever its name, unless either is
 * another file on the other side. */
static void pair_scripts(struct dp_file_pairs *fp)
{
    struct dp_checkout_file *files = fp->checkouts.files;
    uint32_t base = script_of(fp, 0);
    for (uint32_t side = 1; side < fp->sides && base != DP_MAP_NONE; side++) {
        uint32_t own = script_of(fp, side);
        if (own == DP_MAP_NONE || files[own].like != own || files[own].in_base
            || files[base].like != base || side_has(fp, base, side))
            continue;
        files[own].like = base;
        fp->names[base] = files[own].text;
    }
}

/* Fills in fp->names: DP_MAP_NONE for a file that is paired with another, which has the name. Sets
 * fp->no_memory. */
static void name_files(struct dp_file_pairs *fp)
{
    fp->names = make_array(fp, fp->checkouts.n_files, sizeof *fp->names);
    for (size_t i = 0; i < fp->checkouts.n_files && !fp->no_memory; i++)
        fp->names[i] = DP_MAP_NONE;
    if (!fp->no_memory)
        pair_scripts(fp);
    for (uint32_t i = 0; i < fp->checkouts.n_files && !fp->no_memory; i++)
        if (fp->checkouts.files[i].like == i && fp->names[i] == DP_MAP_NONE)
            fp->names[i] = dp_checkouts_text(&fp->checkouts, i);
    fp->no_memory = fp->no_memory || fp->checkouts.no_memory;
}

/* ---- versions ---- */

/* Adds to a side's version of a file the size and checksum of the source that a profile has
 * recorded. The version is unknown if profiles have different ones, or one of them has none. */
static void see_version(const struct dp_prof *prof, uint32_t site, struct dp_file_version *v)
{
    const char *file;
    size_t len;
    uint64_t line;
    dp_srclines_place(prof, site, &file, &len, &line);
    uint32_t n = dp_pool_lookup(&prof->sources, file, len);
    const struct dp_prof_source *s = n == DP_MAP_NONE ? NULL : &prof->source[n];
    v->there = true;
    if (!s || s->differs || (v->known && (v->size != s->size || v->crc != s->crc))) {
        v->unknown = true;
        return;
    }
    v->known = true;
    v->size = s->size;
    v->crc = s->crc;
}

/* Adds the sizes and checksums of the files of profile k to the versions of its side. The first
 * profile with a file gives the name. Sets fp->no_memory. */
static void see_files(struct dp_file_pairs *fp, size_t k)
{
    const struct dp_pair_prof *of = &fp->subs->profs[k];
    for (uint32_t i = 1; i <= of->prof->sites.count && !fp->no_memory; i++) {
        uint32_t file = dp_file_of_site(fp, k, i);
        if (file == DP_MAP_NONE)
            continue;
        struct dp_file_version *v = dp_file_version(fp, file, of->side);
        if (!v->there) {
            name_of_site(fp, of->prof, i);
            v->name = fp->no_memory ? DP_MAP_NONE
                                    : dp_pool_intern(fp->checkouts.texts, fp->buf.ptr, fp->buf.len);
            fp->no_memory = v->name == DP_MAP_NONE;
        }
        see_version(of->prof, i, v);
    }
}

/* Makes fp->versions, one for each file and side. The profiles say whether a version is known; the
 * caller's texts give its text. A version for which there are two texts has none. Sets
 * fp->no_memory. */
static void see_versions(struct dp_file_pairs *fp)
{
    size_t n = fp->sides * fp->checkouts.n_files;
    fp->versions = make_array(fp, n, sizeof *fp->versions);
    for (size_t k = 0; k < fp->subs->n_profs && !fp->no_memory; k++)
        see_files(fp, k);
    for (size_t i = 0; i < fp->n_sources && !fp->no_memory; i++)
        if (fp->sources[i].side < fp->sides && fp->of_source[i] != DP_MAP_NONE) {
            struct dp_file_version *v = dp_file_version(fp, fp->of_source[i],
                                                        (uint32_t)fp->sources[i].side);
            /* if several texts exist, as for string evals, none is that of the lines */
            v->unknown = v->unknown || v->text;
            v->text = &fp->sources[i];
        }
    for (size_t i = 0; i < n && !fp->no_memory; i++) {
        struct dp_file_version *v = &fp->versions[i];
        v->known = v->known && !v->unknown;
        v->text = v->unknown ? NULL : v->text;
    }
}

/* ---- all files ---- */

int dp_file_pairs_make(struct dp_file_pairs *fp, struct dp_pool *texts,
                       const struct dp_pairs *subs, const struct dp_source_text *sources,
                       size_t n_sources, const struct dp_pair_how *how)
{
    memset(fp, 0, sizeof *fp);
    fp->subs = subs;
    fp->sources = sources;
    fp->n_sources = n_sources;
    dp_buf_init(&fp->buf);
    dp_checkouts_init(&fp->checkouts, texts, how->bases, how->n_bases);
    for (size_t k = 0; k < subs->n_profs; k++)
        fp->sides = subs->profs[k].side >= fp->sides ? subs->profs[k].side + 1 : fp->sides;
    survey_files(fp);
    if (!fp->no_memory)
        name_files(fp);
    if (!fp->no_memory)
        see_versions(fp);
    return fp->no_memory ? DP_E_NOMEM : 0;
}

void dp_file_pairs_release(struct dp_file_pairs *fp)
{
    for (size_t k = 0; fp->of_site && k < fp->subs->n_profs; k++)
        dp_mem_free(fp->of_site[k]);
    dp_mem_free(fp->of_site);
    dp_mem_free(fp->of_source);
    dp_checkouts_release(&fp->checkouts);
    dp_mem_free(fp->names);
    dp_mem_free(fp->versions);
    dp_buf_release(&fp->buf);
    memset(fp, 0, sizeof *fp);
}
