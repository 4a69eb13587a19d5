#include "dp_cpuid.h"
#include "dp_err.h"
#include "dp_num.h"
#include "dp_sysfile.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdarg.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#  include <cpuid.h>
#  define ARCH DP_CPUID_X86
#elif defined(__aarch64__)
#  define ARCH DP_CPUID_ARM64
#elif defined(__powerpc__)
#  define ARCH DP_CPUID_POWERPC
#elif defined(__s390__)
#  define ARCH DP_CPUID_S390
#elif defined(__riscv)
#  define ARCH DP_CPUID_RISCV
#else
#  define ARCH DP_CPUID_OTHER
#endif

enum {
    TEXT = 8192,                        /* number of bytes of a file that are read; the wanted part
                                         * is near its beginning */
    CPUS = 4096                         /* more than any kernel supports */
};

/* Writes the CPUID as text. Returns 0, or DP_E_LIMIT and an empty text if it does not fit. */
static DP_PRINTF(3, 4) int put_text(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(to, size, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < size)
        return 0;
    if (size)
        to[0] = '\0';
    return DP_E_LIMIT;
}

/* Reports that the CPUID is unknown: an empty text, and DP_E_IO. */
static int report_none(char *to, size_t size)
{
    if (size)
        to[0] = '\0';
    return DP_E_IO;
}

/* ---- x86 ---- */

int dp_cpuid_x86(char *to, size_t size, const uint32_t leaf0[4], const uint32_t leaf1[4])
{
    char vendor[13];
    const uint32_t order[3] = { leaf0[1], leaf0[3], leaf0[2] };
    memcpy(vendor, order, 12);
    vendor[12] = '\0';
    if (leaf0[0] < 1)
        return report_none(to, size);
    uint32_t a = leaf1[0], family = a >> 8 & 15, model = a >> 4 & 15;
    if (family == 15)
        family += a >> 20 & 255;
    if (family >= 6)
        model += (a >> 16 & 15) << 4;
    return put_text(to, size, "%s-%" PRIu32 "-%" PRIX32 "-%" PRIX32, vendor, family, model, a & 15);
}

/* Reads the processor's CPUID with its own instruction. Returns a DP_E on other architectures. */
static int from_x86(char *to, size_t size)
{
#if defined(__x86_64__) || defined(__i386__)
    uint32_t leaf[2][4] = { { 0 }, { 0 } };
    for (unsigned k = 0; k < 2; k++)
        __get_cpuid(k, &leaf[k][0], &leaf[k][1], &leaf[k][2], &leaf[k][3]);
    return dp_cpuid_x86(to, size, leaf[0], leaf[1]);
#else
    (void)to, (void)size;
    return DP_E_IO;
#endif
}

/* ---- architectures with the CPUID in files ---- */

/* The variant, in bits 20 to 23, and the revision, in bits 0 to 3, do not matter for the choice of
 * a table. */
int dp_cpuid_arm64(char *to, size_t size, const char *text)
{
    uint64_t midr;
    size_t skip = strncmp(text, "0x", 2) == 0 ? 2 : 0;
    if (!dp_num_hex(text + skip, strspn(text + skip, "0123456789abcdefABCDEF"), &midr) || !midr)
        return report_none(to, size);
    return put_text(to, size, "0x%016" PRIx64, midr & ~UINT64_C(0xf0000f));
}

/* Reads the identification of an ARM processor from sysfs: that of the first CPU that has one. */
static int from_arm64(char *to, size_t size, const char *sysfs)
{
    char text[64];
    for (int cpu = 0; cpu < CPUS; cpu++)
        if (dp_sysfile_read(text, sizeof text, sysfs,
                            "devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu)
                > 0
            && dp_cpuid_arm64(to, size, text) == 0)
            return 0;
    return DP_E_IO;
}

/* The text after `name` at the beginning of a line, without leading blanks: *len bytes, up to the
 * line's end. NULL: there is no such line. */
static const char *field_of(const char *text, const char *name, size_t *len)
{
    size_t n = strlen(name);
    for (const char *p = text; p && *p; p = strchr(p, '\n'), p += p != NULL) {
        if (strncmp(p, name, n) != 0)
            continue;
        p += n;
        p += strspn(p, " \t");
        *len = strcspn(p, "\n");
        return p;
    }
    return NULL;
}

/* Makes the CPUID of a POWER processor from the text of /proc/cpuinfo, which has: revision : 2.2
 * (pvr 004e 1202). Older kernels and some machines have no pvr there. */
int dp_cpuid_powerpc(char *to, size_t size, const char *cpuinfo)
{
    size_t len = 0;
    const char *p = field_of(cpuinfo, "revision", &len);
    const char *pvr = p ? strstr(p, "(pvr ") : NULL;
    uint64_t high, low;
    if (!pvr || pvr >= p + len || !dp_num_hex(pvr + 5, strspn(pvr + 5, "0123456789abcdef"), &high))
        return report_none(to, size);
    pvr += 5 + strspn(pvr + 5, "0123456789abcdef");
    if (*pvr++ != ' ' || !dp_num_hex(pvr, strspn(pvr, "0123456789abcdef"), &low) || high > 0xffff
        || low > 0xffff)
        return report_none(to, size);
    return put_text(to, size, "%.8" PRIx64, high << 16 | low);
}

/* Writes the words of a field, separated by `between`. Returns false if they do not fit. */
static bool put_words(char *to, size_t size, const char *text, const char *name,
                      const char *between)
{
    size_t len = 0, at = 0;
    const char *p = field_of(text, name, &len), *end = p ? p + len : NULL;
    to[0] = '\0';
    while (p && p < end) {
        size_t n = strcspn(p, " \t\n");
        int k = snprintf(to + at, size - at, "%s%.*s", at && n ? between : "", (int)n, p);
        if (k < 0 || (size_t)k >= size - at)
            return false;
        at += (size_t)k;
        p += n;
        p += strspn(p, " \t");
    }
    return at > 0;
}

/* Writes the word after name= in a line of the counter facility: CPU-MF: Counter facility:
 * version=3.5 authorization=002f */
static bool put_level(char *to, size_t size, const char *levels, const char *name)
{
    for (const char *p = levels; p && *p; p = strchr(p, '\n'), p += p != NULL) {
        size_t len = strcspn(p, "\n");
        const char *v = strncmp(p, "CPU-MF:", 7) == 0 ? strstr(p, name) : NULL;
        if (!v || v >= p + len)
            continue;
        v += strlen(name);
        int n = snprintf(to, size, "%.*s", (int)strcspn(v, " \t\n"), v);
        return n > 0 && (size_t)n < size;
    }
    return false;
}

/* Guests of z/VM have no service levels. */
int dp_cpuid_s390(char *to, size_t size, const char *sysinfo, const char *levels)
{
    char maker[32], type[8], model[33], version[8], authorization[8];
    if (!put_words(maker, sizeof maker, sysinfo, "Manufacturer:", "")
        || !put_words(type, sizeof type, sysinfo, "Type:", "")
        || !put_words(model, sizeof model, sysinfo, "Model:", ","))
        return report_none(to, size);
    if (levels && put_level(version, sizeof version, levels, "version=")
        && put_level(authorization, sizeof authorization, levels, "authorization="))
        return put_text(to, size, "%s,%s,%s,%s,%s", maker, type, model, version, authorization);
    return put_text(to, size, "%s,%s,%s", maker, type, model);
}

int dp_cpuid_riscv(char *to, size_t size, const char *cpuinfo)
{
    static const char *const names[3] = { "mvendorid", "marchid", "mimpid" };
    const char *value[3];
    size_t len[3];
    for (int k = 0; k < 3; k++) {
        value[k] = field_of(cpuinfo, names[k], &len[k]);
        if (!value[k] || !len[k] || *value[k] != ':')
            return report_none(to, size);
        size_t skip = 1 + strspn(value[k] + 1, " \t");
        value[k] += skip;
        len[k] = strcspn(value[k], " \t\r\n");
        if (!len[k])
            return report_none(to, size);
    }
    return put_text(to, size, "%.*s-%.*s-%.*s", (int)len[0], value[0], (int)len[1], value[1],
                    (int)len[2], value[2]);
}

int dp_cpuid_from(enum dp_cpuid_arch arch, char *to, size_t size, const char *sysfs,
                  const char *proc)
{
    char text[TEXT], more[TEXT];
    if (size)
        to[0] = '\0';
    switch (arch) {
    case DP_CPUID_X86:
        return from_x86(to, size);
    case DP_CPUID_ARM64:
        return from_arm64(to, size, sysfs);
    case DP_CPUID_POWERPC:
        return dp_sysfile_read(text, sizeof text, proc, "cpuinfo") > 0
                   ? dp_cpuid_powerpc(to, size, text) : DP_E_IO;
    case DP_CPUID_RISCV:
        return dp_sysfile_read(text, sizeof text, proc, "cpuinfo") > 0
                   ? dp_cpuid_riscv(to, size, text) : DP_E_IO;
    case DP_CPUID_S390:
        if (dp_sysfile_read(text, sizeof text, proc, "sysinfo") <= 0)
            return DP_E_IO;
        return dp_cpuid_s390(to, size, text,
                             dp_sysfile_read(more, sizeof more, proc, "service_levels") > 0
                                     ? more : NULL);
    case DP_CPUID_OTHER:
        break;
    }
    return DP_E_IO;
}

int dp_cpuid(char *to, size_t size, const char *sysfs_root, const char *proc_root)
{
    return dp_cpuid_from(ARCH, to, size, sysfs_root, proc_root);
}

/* ---- the choice of a table ---- */

/* Does the regex match the whole text? POSIX finds the longest of the leftmost matches, so a match
 * of the whole text is the one found. */
static bool is_whole_match(const regex_t *re, const char *text)
{
    regmatch_t m;
    return regexec(re, text, 1, &m, 0) == 0 && m.rm_so == 0 && (size_t)m.rm_eo == strlen(text);
}

/* Writes an x86 CPUID without its stepping; "" if it has none. */
static void without_stepping(char to[DP_CPUID_SIZE], const char *cpuid)
{
    int dashes = 0;
    const char *last = NULL;
    for (const char *p = cpuid; (p = strchr(p, '-')) != NULL; last = p++)
        dashes++;
    size_t len = dashes == 3 ? (size_t)(last - cpuid) : 0;
    if (len >= DP_CPUID_SIZE)
        len = 0;
    memcpy(to, cpuid, len);
    to[len] = '\0';
}

/* Finds the row. perf counts the dashes of a regex to see whether it has a stepping, and mistakes
 * the dash of a range in brackets for one: GenuineIntel-6-[4-5]E never matches. Here each regex is
 * tried with the whole CPUID, then without the stepping: a regex with a stepping matches only the
 * former. */
const struct pmu_events_map *dp_pmu_row(const struct pmu_events_map *map, const char *cpuid)
{
    char less[DP_CPUID_SIZE];
    without_stepping(less, cpuid);
    for (; map && map->cpuid; map++) {
        regex_t re;
        if (!map->type || strcmp(map->type, "core") != 0
            || regcomp(&re, map->cpuid, REG_EXTENDED) != 0)
            continue;
        bool match = is_whole_match(&re, cpuid) || (less[0] && is_whole_match(&re, less));
        regfree(&re);
        if (match)
            return map;
    }
    return NULL;
}
