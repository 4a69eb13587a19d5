/* Translates the text of an event to its type and settings. A name is looked up in perf's order:
 * first among perl's own names and perf's generic ones, then in sysfs, then in the processor's
 * table. */
#include "dp_pmu.h"
#include "dp_pmu_near.h"
#include "dp_pmu_terms.h"
#include "dp_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A piece of the text. */
struct span {
    const char *ptr;
    size_t len;
};

struct job {
    struct dp_pmu *pmu;
    struct dp_pmu_event *ev;
    struct dp_err *err;
    struct span text;           /* without a leading ? */
    struct span head, terms, mods;
    struct span rename;         /* value of name= */
    struct span event;          /* the event's name: the head, or a term */
    bool has_terms;             /* there are slashes */
    bool as_written;            /* the column's name keeps its case */
    uint64_t config[3];
};

static bool is_name(const char *name, struct span s)
{
    return strlen(name) == s.len && dp_text_alike(name, s.ptr, s.len);
}

/* ---- complaints ---- */

enum { SHOWN = 72, REASON = 200 };

/* Makes a piece visible: control bytes become \x1b, and the end of a long one is cut. */
static const char *shown_text(char to[SHOWN], struct span s)
{
    size_t at = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (at > SHOWN - 12)
            return memcpy(to + at, "...", 4), to;
        unsigned char c = (unsigned char)s.ptr[i];
        at += (size_t)snprintf(to + at, SHOWN - at, c < 0x20 || c > 0x7e ? "\\x%02x" : "%c", c);
    }
    to[at] = '\0';
    return to;
}

int dp_pmu_complain(struct dp_err *err, const char *text, size_t len, const char *why)
{
    char to[SHOWN];
    return dp_err_set(err, DP_E_ARG, "event '%s': %s", shown_text(to, (struct span){ text, len }),
                      why);
}

/* Sets the error of the event's text to this message. Returns the code. */
static DP_PRINTF(2, 3) int fail(struct job *j, const char *fmt, ...)
{
    char why[REASON];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return dp_pmu_complain(j->err, j->text.ptr, j->text.len, why);
}

/* The first processor whose table has an event of this name, for the message that it is of other
 * processors. */
static const struct pmu_events_map *row_elsewhere(const struct dp_pmu *pmu, struct span name)
{
    for (const struct pmu_events_map *row = pmu->map; row && row->cpuid; row++)
        for (const struct pmu_event *e = row->table; e && !dp_pmu_table_ends(e); e++)
            if (e->name && e->event && is_name(e->name, name))
                return row;
    return NULL;
}

/* Offers the names of a device, in sysfs and in the processor's table, as what the user may have
 * meant. */
static void add_device(struct dp_pmu_near *near, const struct dp_pmu *pmu,
                       const struct dp_pmu_dev *dev)
{
    for (size_t i = 0; i < dev->n_aliases; i++)
        dp_pmu_near_add(near, dev->aliases[i].name);
    for (const struct pmu_event *e = pmu->row ? pmu->row->table : NULL; e && !dp_pmu_table_ends(e);
         e++)
        if (e->name && e->event && dp_pmu_dev_has(dev, e))
            dp_pmu_near_add(near, e->name);
}

/* Returns the counter of perl's that has a column of this name next to its own: svs for svs-freed,
 * bytes for bytes-freed. NULL: none. */
static const char *freed_of(struct span name)
{
    static const char end[] = "-freed";
    size_t n = sizeof end - 1;
    for (const struct dp_pmu_known *k = dp_pmu_known; k->name && name.len > n; k++)
        if ((k->kind == DP_PMU_SVS || k->kind == DP_PMU_BYTES)
            && is_name(end, (struct span){ name.ptr + name.len - n, n })
            && is_name(k->name, (struct span){ name.ptr, name.len - n }))
            return k->name;
    return NULL;
}

/* Refuses an event that was found nowhere, and says where it is known, or which names are near. */
static int unknown_event(struct job *j)
{
    char other[SHOWN], near_text[REASON], cpuid[SHOWN];
    const struct dp_pmu *pmu = j->pmu;
    const struct pmu_events_map *row = row_elsewhere(pmu, j->head);
    if (freed_of(j->head))
        return fail(j, "it comes with %s: ask for that", freed_of(j->head));
    shown_text(cpuid, (struct span){ pmu->devs.cpuid, strlen(pmu->devs.cpuid) });
    if (row)
        return fail(j, "it is one of other processors (%s), not of this one (%s)",
                    shown_text(other, (struct span){ row->cpuid, strlen(row->cpuid) }),
                    cpuid[0] ? cpuid : "unknown");
    if (!j->has_terms && j->mods.len && memchr(j->mods.ptr, '_', j->mods.len))
        return fail(j, "tracepoints are not counted");
    struct dp_pmu_near near;
    char name[DP_PMU_CACHE_NAME];
    dp_pmu_near_init(&near, j->head.ptr, j->head.len);
    for (const struct dp_pmu_known *k = dp_pmu_known; k->name; k++) {
        dp_pmu_near_add(&near, k->name);
        if (k->alias)
            dp_pmu_near_add(&near, k->alias);
    }
    for (size_t n = 0; dp_pmu_cache_name(n, name); n++)
        dp_pmu_near_add(&near, name);
    add_device(&near, pmu, pmu->devs.core);
    for (size_t i = 0; j->has_terms && i < pmu->devs.count; i++)
        dp_pmu_near_add(&near, pmu->devs.ptr[i].name);
    dp_pmu_near_write(&near, "; ", near_text, sizeof near_text);
    if (!pmu->row && pmu->map)
        return fail(j, "%s, and this processor (%s) has no table%s",
                    j->has_terms ? "no such event or PMU" : "no such event",
                    cpuid[0] ? cpuid : "unknown", near_text);
    return fail(j, "%s%s", j->has_terms ? "no such event or PMU" : "no such event", near_text);
}

/* Refuses a term that the device does not have, and lists near names, or else all terms. dev: NULL
 * for generic events, which have only the common terms. */
static int unknown_term(struct job *j, const struct dp_pmu_dev *dev, const struct dp_pmu_term *t)
{
    char key[SHOWN], list[REASON], near_text[REASON];
    struct dp_pmu_near near;
    size_t at = 0;
    list[0] = near_text[0] = '\0';
    shown_text(key, (struct span){ t->key, t->key_len });
    if (dev) {
        dp_pmu_near_init(&near, t->key, t->key_len);
        for (size_t i = 0; i < dev->n_formats; i++)
            dp_pmu_near_add(&near, dev->formats[i].name);
        add_device(&near, j->pmu, dev);
        if (near.count)
            return fail(j, "unknown term '%s'%s", key,
                        dp_pmu_near_write(&near, "; ", near_text, sizeof near_text));
    }
    for (size_t i = 0; dev && i < dev->n_formats && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s, ", dev->formats[i].name);
    return fail(j, "unknown term '%s'; known are %sconfig, config1, config2, name", key, list);
}

/* ---- terms ---- */

enum pass { WHOLE, BITS };      /* as in perf, config= and the like are applied before formats, at
                                 * any place */

/* Applies a term that every event has. Returns 1 if it was one. */
static int common_term(struct job *j, const struct dp_pmu_term *t, enum pass pass)
{
    static const char *const names[] = { "config", "config1", "config2" };
    uint64_t n;
    char key[SHOWN];
    for (int k = 0; k < 3; k++) {
        if (!dp_pmu_term_is(t, names[k]))
            continue;
        if (!t->value || !dp_pmu_number(t->value, t->value_len, &n))
            return fail(j, "'%s' wants a number",
                        shown_text(key, (struct span){ t->key, t->key_len }));
        if (pass == WHOLE)
            j->config[k] = n;
        return 1;
    }
    if (dp_pmu_term_is(t, "name")) {
        if (!t->value_len)
            return fail(j, "'name' wants a name");
        j->rename = (struct span){ t->value, t->value_len };
        return 1;
    }
    /* the sampling rate, which tables have with each event */
    return dp_pmu_term_is(t, "period");
}

/* Looks up a key that an alias leaves open, domain=?, among the terms around the alias. */
static bool given_value(const struct job *j, const struct dp_pmu_term *asked, uint64_t *out)
{
    struct dp_pmu_term t;
    const char *p = j->terms.ptr, *end = p + j->terms.len;
    while (j->has_terms && dp_pmu_term_next(&p, end, &t))
        if (t.value && t.key_len == asked->key_len && dp_text_alike(t.key, asked->key, t.key_len))
            return dp_pmu_number(t.value, t.value_len, out);
    return false;
}

/* Puts the number of a term into the bits of config that its format names. A term without a number
 * means 1; domain=? takes the number that the user gave. */
static int put_bits(struct job *j, const struct dp_pmu_format *f, const struct dp_pmu_term *t)
{
    uint64_t n = 1, max = dp_pmu_format_max(f);
    if (f->config > 2)
        return fail(j, "'%s' goes to config%u, which is not known here", f->name, f->config);
    if (!t->value && max > 1)
        return fail(j, "'%s' wants a number, at most 0x%" PRIx64, f->name, max);
    bool is_open = t->value_len == 1 && t->value[0] == '?';
    if (is_open && !given_value(j, t, &n))
        return fail(j, "it leaves '%s' open: write %s=N behind it, between the slashes", f->name,
                    f->name);
    if (t->value && !is_open && !dp_pmu_number(t->value, t->value_len, &n))
        return fail(j, "'%s' wants a number", f->name);
    if (!dp_pmu_format_put(f, n, j->config))
        return fail(j, "0x%" PRIx64 " is too much for '%s', at most 0x%" PRIx64, n, f->name, max);
    return 0;
}

/* The event of a table. If no PMU of the processor is visible, a table for two kinds of cores has
 * two events with one name; the large cores' comes first. */
static const struct pmu_event *table_event(const struct dp_pmu *pmu, const struct dp_pmu_dev *dev,
                                           struct span name)
{
    const struct pmu_event *small = NULL;
    for (const struct pmu_event *e = pmu->row ? pmu->row->table : NULL; e && !dp_pmu_table_ends(e);
         e++) {
        if (!e->name || !e->event || !is_name(e->name, name) || !dp_pmu_dev_has(dev, e))
            continue;
        if (!dev->is_made_up || !e->pmu || strcmp(e->pmu, "cpu_atom") != 0)
            return e;
        small = small ? small : e;
    }
    return small;
}

/* The terms of a name of this PMU; NULL if it has no such name. Descriptions come from the table,
 * also for an event of sysfs. */
static const char *named_terms(struct job *j, const struct dp_pmu_dev *dev, struct span name)
{
    const struct dp_pmu_alias *alias = dp_pmu_dev_alias(dev, name.ptr, name.len);
    const struct pmu_event *e = table_event(j->pmu, dev, name);
    if (e) {
        j->ev->desc = e->desc;
        j->ev->topic = e->topic;
    }
    return alias ? alias->terms : e ? e->event : NULL;
}

/* Handles a generic event. With two kinds of cores it is the large ones' unless the user names the
 * others. */
static int generic_event(struct job *j, const struct dp_pmu_known *k, struct dp_pmu_dev *dev)
{
    bool of_processor = k->type == DP_PMU_HARDWARE || k->type == DP_PMU_CACHE;
    j->ev->type = k->type;
    j->config[0] = k->config;
    if (!of_processor)
        return 0;
    if (!dev) {
        if (dp_pmu_devs_list(&j->pmu->devs) < 0)
            return DP_E_NOMEM;
        dev = j->pmu->devs.core;
    }
    j->ev->no_core = dev->is_made_up;
    if (strncmp(dev->name, "cpu_", 4) != 0)
        return 0;
    if (dp_pmu_dev_load(&j->pmu->devs, dev) < 0)
        return DP_E_NOMEM;
    j->config[0] |= (uint64_t)dev->type << 32;
    return 0;
}

/* Applies all terms of a list in one pass; perf applies config= and the like, at any place, before
 * those with a format. */
static int put_terms(struct job *j, struct dp_pmu_dev *dev, struct span terms, enum pass pass,
                     bool nested);

/* Handles a name between the slashes: an event of this PMU, a raw code, or a generic event. Returns
 * 1 if it was one. */
static int name_as_term(struct job *j, struct dp_pmu_dev *dev, struct span name, enum pass pass)
{
    struct dp_pmu_known known;
    uint64_t raw;
    const char *terms = named_terms(j, dev, name);
    j->event = name;
    if (terms) {
        int rc = put_terms(j, dev, (struct span){ terms, strlen(terms) }, pass, true);
        return rc < 0 ? rc : 1;
    }
    if (dp_pmu_raw(name.ptr, name.len, &raw)) {
        if (pass == WHOLE)
            j->config[0] = raw;
        return 1;
    }
    bool is_of_core = dev->is_core || strncmp(dev->name, "cpu_", 4) == 0;
    if (is_of_core && dp_pmu_known_find(name.ptr, name.len, &known) == 1
        && (known.group == DP_PMU_G_HARDWARE || known.group == DP_PMU_G_CACHE)) {
        int rc = pass == WHOLE ? generic_event(j, &known, dev) : 0;
        return rc < 0 ? rc : 1;
    }
    return 0;
}

/* Applies a term of a device's event. nested: it is a term of an alias, whose own names are not
 * looked up. */
static int put_term(struct job *j, struct dp_pmu_dev *dev, const struct dp_pmu_term *t,
                    enum pass pass, bool nested)
{
    uint64_t n;
    int rc = common_term(j, t, pass);
    if (rc)
        return rc;
    const struct dp_pmu_format *format = dp_pmu_dev_format(dev, t->key, t->key_len);
    bool event_is_name = t->value_len && dp_pmu_term_is(t, "event")
                         && !dp_pmu_number(t->value, t->value_len, &n) && t->value[0] != '?';
    if (format && !event_is_name)
        return pass == BITS ? put_bits(j, format, t) : 0;
    /* some users write name=1 for a bare name */
    bool is_name_alone = !t->value || (dp_pmu_number(t->value, t->value_len, &n) && n == 1);
    if (!nested && (event_is_name || is_name_alone)) {
        rc = name_as_term(j, dev,
                          event_is_name ? (struct span){ t->value, t->value_len }
                                        : (struct span){ t->key, t->key_len },
                          pass);
        if (rc)
            return rc < 0 ? rc : 0;
    }
    return unknown_term(j, dev, t);
}

static int put_terms(struct job *j, struct dp_pmu_dev *dev, struct span terms, enum pass pass,
                     bool nested)
{
    struct dp_pmu_term t;
    const char *p = terms.ptr, *end = p + terms.len;
    int rc = 0;
    while (rc >= 0 && dp_pmu_term_next(&p, end, &t))
        rc = put_term(j, dev, &t, pass, nested);
    return rc < 0 ? rc : 0;
}

/* Handles an event of a PMU: the terms of a name, if there is one, then those between the
 * slashes. */
static int device_event(struct job *j, struct dp_pmu_dev *dev, const char *name_terms)
{
    if (dp_pmu_dev_load(&j->pmu->devs, dev) < 0)
        return DP_E_NOMEM;
    if (!dev->has_type)
        return fail(j, "the PMU %s cannot be read", dev->name);
    j->ev->type = dev->type;
    j->ev->pmu = dev->name;
    j->ev->whole_machine = dev->whole_machine;
    j->ev->no_core = dev->is_made_up;
    for (int pass = WHOLE; pass <= BITS; pass++) {
        int rc = name_terms ? put_terms(j, dev, (struct span){ name_terms, strlen(name_terms) },
                                        (enum pass)pass, true)
                            : 0;
        if (rc == 0 && j->has_terms)
            rc = put_terms(j, dev, j->terms, (enum pass)pass, false);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- names ---- */

/* Translates a name that only another PMU has, in sysfs or in the table; else refuses it. */
static int other_devices_event(struct job *j)
{
    struct dp_pmu_devs *devs = &j->pmu->devs;
    for (size_t i = 0; i < devs->count; i++) {
        struct dp_pmu_dev *dev = &devs->ptr[i];
        if (dp_pmu_dev_load(devs, dev) < 0)
            return DP_E_NOMEM;
        const char *terms = dev->has_type ? named_terms(j, dev, j->head) : NULL;
        if (terms)
            return device_event(j, dev, terms);
    }
    for (const struct pmu_event *e = j->pmu->row ? j->pmu->row->table : NULL;
         e && !dp_pmu_table_ends(e); e++)
        if (e->name && e->event && e->pmu && is_name(e->name, j->head))
            return fail(j, "the PMU %s counts it, and this system does not show that one", e->pmu);
    return unknown_event(j);
}

/* Translates a name without a PMU: an event of the processor's core, a raw code (r1a8), or an event
 * of another PMU. */
static int named_event(struct job *j)
{
    struct dp_pmu_dev *core = j->pmu->devs.core;
    uint64_t raw;
    if (dp_pmu_dev_load(&j->pmu->devs, core) < 0)
        return DP_E_NOMEM;
    const char *terms = named_terms(j, core, j->head);
    if (terms)
        return device_event(j, core, terms);
    if (!dp_pmu_raw(j->head.ptr, j->head.len, &raw))
        return other_devices_event(j);
    int rc = device_event(j, core, NULL);
    j->ev->type = strncmp(core->name, "cpu_", 4) == 0 ? core->type : DP_PMU_RAW;
    j->config[0] |= raw;
    return rc;
}

/* Translates a generic event. It has no device, so only common terms such as config1= may
 * follow. */
static int generic_with_terms(struct job *j, const struct dp_pmu_known *k)
{
    struct dp_pmu_term t;
    const char *p = j->terms.ptr, *end = p + j->terms.len;
    int rc = generic_event(j, k, NULL);
    while (rc >= 0 && j->has_terms && dp_pmu_term_next(&p, end, &t)) {
        rc = common_term(j, &t, WHOLE);
        if (rc == 0)
            rc = unknown_term(j, NULL, &t);
    }
    return rc < 0 ? rc : 0;
}

/* Translates any event of the kernel; is_known: result of dp_pmu_known_find, whose entry is *k. */
static int perf_event(struct job *j, int is_known, const struct dp_pmu_known *k)
{
    if (!DP_PMU_HAS_PERF)
        return fail(j, "this system has no perf events; there are ops, svs and bytes");
    if (is_known < 0)
        return fail(j, "%s has no %s", k->name, k->unit);
    if (is_known > 0) {
        j->as_written = k->group == DP_PMU_G_CACHE;
        j->ev->desc = k->desc;
        return generic_with_terms(j, k);
    }
    if (dp_pmu_ready(j->pmu) < 0)
        return DP_E_NOMEM;
    struct dp_pmu_dev *dev = j->has_terms
                                 ? dp_pmu_devs_find(&j->pmu->devs, j->head.ptr, j->head.len) : NULL;
    return dev ? device_event(j, dev, NULL) : named_event(j);
}

/* ---- around the name ---- */

/* Applies modifiers. perf excludes guests with u, too. Here they are included: a perl runs none,
 * and not every PMU can distinguish them. */
static int put_mods(struct job *j)
{
    struct dp_pmu_event *ev = j->ev;
    bool any = false, host = false;
    for (size_t i = 0; i < j->mods.len; i++) {
        char c = j->mods.ptr[i], text[SHOWN];
        if (c != 'p' && memchr(j->mods.ptr, c, i))
            return fail(j, "modifier '%s' stands there twice",
                        shown_text(text, (struct span){ &c, 1 }));
        if (!any && strchr("ukh", c))
            any = ev->exclude_user = ev->exclude_kernel = ev->exclude_hv = true;
        if (!host && strchr("GH", c))
            host = ev->exclude_guest = ev->exclude_host = true;
        switch (c) {
        case 'u': ev->exclude_user = false; break;
        case 'k': ev->exclude_kernel = false; break;
        case 'h': ev->exclude_hv = false; break;
        case 'G': ev->exclude_guest = false; break;
        case 'H': ev->exclude_host = false; break;
        case 'I': ev->exclude_idle = true; break;
        case 'D': ev->pinned = true; break;
        case 'e': ev->exclusive = true; break;
        case 'p': ev->precise++; break;
        default:
            return fail(j, "unknown modifier '%s'; known are u, k, h, p, G, H, I, D, e",
                        shown_text(text, (struct span){ &c, 1 }));
        }
    }
    if (ev->precise > 3)
        return fail(j, "more than three p");
    if (ev->precise && !host)
        ev->exclude_guest = true;
    ev->has_mods = j->mods.len > 0;
    return 0;
}

/* Splits the text of an event: NAME, NAME:MODS, NAME/TERMS/, NAME/TERMS/MODS, NAME/TERMS/:MODS. */
static int split_text(struct job *j)
{
    const char *p = j->text.ptr, *end = p + j->text.len;
    const char *slash = memchr(p, '/', j->text.len),
               *colon = slash ? NULL : memchr(p, ':', j->text.len);
    const char *close = end;
    if (memchr(p, '\0', j->text.len))
        return fail(j, "a NUL within");
    while (slash && --close > slash && *close != '/')
        ;
    if (slash && close == slash)
        return fail(j, "there is no closing slash");
    j->has_terms = slash != NULL;
    j->head = (struct span){ p, (size_t)((slash ? slash : colon ? colon : end) - p) };
    if (slash)
        j->terms = (struct span){ slash + 1, (size_t)(close - slash) - 1 };
    const char *mods = slash ? close + 1 : colon ? colon + 1 : end;
    if (slash && mods < end && *mods == ':')
        mods++;
    j->mods = (struct span){ mods, (size_t)(end - mods) };
    j->event = j->head;
    if (j->head.len)
        return 0;
    return fail(j, slash ? "no PMU in front of the slash"
                         : "modifiers of a group are written behind each of its events");
}

/* Sets what depends on the whole text: the column's name, which is the text unless name= gives
 * another, the config words, and the unit. */
static int finish_event(struct job *j, const struct dp_pmu_known *known)
{
    struct dp_pmu_event *ev = j->ev;
    size_t lower = j->has_terms || j->as_written ? 0 : j->head.len;
    struct span name = j->rename.len ? j->rename : j->text;
    if (!dp_pmu_column(ev->name, name.ptr, name.len, j->rename.len ? 0 : lower))
        return fail(
            j, "too long for the name of a column; name=NAME between slashes gives it another");
    ev->config = j->config[0];
    ev->config1 = j->config[1];
    ev->config2 = j->config[2];
    snprintf(ev->unit, sizeof ev->unit, "%s",
             known ? known->unit : dp_pmu_unit_of(j->event.ptr, j->event.len));
    return 0;
}

int dp_pmu_find(struct dp_pmu *pmu, const char *text, size_t len, struct dp_pmu_event *ev,
                struct dp_err *err)
{
    struct dp_pmu_known known = { DP_PMU_PERF, 0, NULL, NULL, NULL, NULL, 0, 0 };
    struct job j = { .pmu = pmu, .ev = ev, .err = err, .text = { text, len } };
    memset(ev, 0, sizeof *ev);
    if (len && *text == '?')
        j.text = (struct span){ text + 1, len - 1 };
    if (!j.text.len)
        return dp_err_set(err, DP_E_ARG, "an event without a name");
    if (j.text.len >= DP_PMU_TEXT)
        return fail(&j, "too long");
    int rc = split_text(&j);
    if (rc < 0)
        return rc;
    int is_known = dp_pmu_known_find(j.head.ptr, j.head.len, &known);
    ev->kind = known.kind;
    if (is_known > 0 && known.kind != DP_PMU_PERF) {
        ev->desc = known.desc;
        if (j.has_terms || j.mods.len)
            return fail(&j, "perl's own counters have no modifiers and no terms");
    } else if ((rc = perf_event(&j, is_known, &known)) == 0) {
        rc = put_mods(&j);
    }
    if (rc == DP_E_NOMEM)
        return dp_err_set(err, rc, "out of memory");
    return rc < 0 ? rc : finish_event(&j, is_known > 0 ? &known : NULL);
}
