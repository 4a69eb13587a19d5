/* Processors by their CPUID, and which row of the table is a processor's. */
#include "tap.h"
#include "pmutables.h"
#include "sysfs.h"
#include "dp_cpuid.h"

/* ---- processors ---- */

static const char cpuinfo_power[] =
    "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300.000000MHz\nrevision\t:"
    " 2.2 (pvr 004e 1202)\n\nprocessor\t: 1\n";
static const char cpuinfo_riscv[] =
    "processor\t: 0\nhart\t\t: 4\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t:"
    " sifive,bullet0\nmvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000007\nmimpid\t\t:"
    " 0x20181004\n\n";
static const char sysinfo[] =
    "Manufacturer:         IBM\nType:                 2964\nLIC Identifier:      "
    " d27c56ee0d0c3a2d\nModel:                702              N96\nSequence Code:        0\n";
static const char levels[] = "z/VM: z/VM Version 6\nCPU-MF: Counter facility: version=3.5"
                             " authorization=002f\nCPU-MF: Sampling facility: min_rate=5208\n";

static const char *x86(uint32_t eax, const char vendor[12], uint32_t max)
{
    static char id[DP_CPUID_SIZE];
    uint32_t l0[4] = { max, 0, 0, 0 }, l1[4] = { eax, 0, 0, 0 };
    memcpy(&l0[1], vendor, 4);
    memcpy(&l0[3], vendor + 4, 4);
    memcpy(&l0[2], vendor + 8, 4);
    int rc = dp_cpuid_x86(id, sizeof id, l0, l1);
    return rc == 0 ? id : rc == DP_E_IO && !id[0] ? "none" : "?";
}

static void cpuids(void)
{
    char id[DP_CPUID_SIZE];
    is_s(x86(0x50654, "GenuineIntel", 0x16), "GenuineIntel-6-55-4", "Skylake's server");
    is_s(x86(0x206e6, "GenuineIntel", 0xb), "GenuineIntel-6-2E-6", "Nehalem EX");
    is_s(x86(0xa00f11, "AuthenticAMD", 0x10), "AuthenticAMD-25-1-1",
         "Zen 3: the extended family is added");
    is_s(x86(0x800f12, "HygonGenuine", 0xd), "HygonGenuine-23-1-2", "Zen's relative");
    is_s(x86(0x00f41, "GenuineIntel", 5), "GenuineIntel-15-4-1", "Pentium 4");
    is_s(x86(0x00543, "GenuineIntel", 1), "GenuineIntel-5-4-3",
         "a family below 6 has no extended model");
    is_s(x86(0, "GenuineIntel", 0), "none", "a processor that says nothing");
    is_i(dp_cpuid_x86(id, 19, (uint32_t[4]){ 1, 0, 0, 0 }, (uint32_t[4]){ 0x50654 }), 0,
         "room enough");
    is_i(dp_cpuid_arm64(id, 18, "0x410fd080"), DP_E_LIMIT, "too little room");
    is_s(id, "", "and nothing is left");
    is_i(dp_cpuid_arm64(id, sizeof id, "0x00000000411fd083\n"), 0, "Arm");
    is_s(id, "0x00000000410fd080", "without variant and revision");
    is_i(dp_cpuid_arm64(id, sizeof id, "nothing"), DP_E_IO, "no number");
    is_i(dp_cpuid_powerpc(id, sizeof id, cpuinfo_power), 0, "POWER9");
    is_s(id, "004e1202", "its PVR");
    is_i(dp_cpuid_powerpc(id, sizeof id, "revision\t: 2.2\n(pvr 004e 1202)\n"), DP_E_IO,
         "a PVR on another line is not the revision's");
    is_i(dp_cpuid_powerpc(id, sizeof id, "revision\t: 2.2 (pvr 004e)\n"), DP_E_IO, "half a PVR");
    is_i(dp_cpuid_s390(id, sizeof id, sysinfo, levels), 0, "z13");
    is_s(id, "IBM,2964,702,N96,3.5,002f", "with its counter facility");
    is_i(dp_cpuid_s390(id, sizeof id, sysinfo, NULL), 0, "a guest of z/VM");
    is_s(id, "IBM,2964,702,N96", "without");
    is_i(dp_cpuid_s390(id, sizeof id, "Manufacturer: IBM\nType: 2964\n", levels), DP_E_IO,
         "no model");
    is_i(dp_cpuid_s390(id, sizeof id, "Manufacturer: IBM\nType: 296412345\nModel: 1\n", levels),
         DP_E_IO, "a type that is none");
    is_i(dp_cpuid_riscv(id, sizeof id, cpuinfo_riscv), 0, "RISC-V");
    is_s(id, "0x489-0x8000000000000007-0x20181004", "its three numbers");
    is_i(dp_cpuid_riscv(id, sizeof id, "mvendorid : 0x489\nmarchid :\nmimpid : 0x1\n"), DP_E_IO,
         "one of them missing");
}

static void cpuid_files(void)
{
    static const char *const arm[] = {
        "devices/system/cpu/cpu2/regs/identification/midr_el1=0x00000000411fd083",
        "devices/system/cpu/cpu3/regs/identification/midr_el1=0x1", NULL
    };
    char dir[64], id[DP_CPUID_SIZE], text[2048];
    snprintf(text, sizeof text, "cpuinfo=%s%s", cpuinfo_power, cpuinfo_riscv);
    char info[512], level[512];
    snprintf(info, sizeof info, "sysinfo=%s", sysinfo);
    snprintf(level, sizeof level, "service_levels=%s", levels);
    const char *const proc[] = { text, info, level, NULL };
    ok(sysfs_make(dir, arm), "files of an Arm machine");
    is_i(dp_cpuid_from(DP_CPUID_ARM64, id, sizeof id, dir, "/nowhere"), 0, "they are read");
    is_s(id, "0x00000000410fd080", "the first that can be");
    is_i(dp_cpuid_from(DP_CPUID_ARM64, id, sizeof id, "/nowhere", dir), DP_E_IO, "nothing there");
    sysfs_remove(dir, arm);
    ok(access(dir, F_OK) != 0, "the folder is gone");
    ok(sysfs_make(dir, proc), "files of other machines");
    is_i(dp_cpuid_from(DP_CPUID_POWERPC, id, sizeof id, "/nowhere", dir), 0, "POWER's");
    is_s(id, "004e1202", "PVR");
    is_i(dp_cpuid_from(DP_CPUID_RISCV, id, sizeof id, "/nowhere", dir), 0, "RISC-V's");
    is_s(id, "0x489-0x8000000000000007-0x20181004", "numbers");
    is_i(dp_cpuid_from(DP_CPUID_S390, id, sizeof id, "/nowhere", dir), 0, "s390's");
    is_s(id, "IBM,2964,702,N96,3.5,002f", "both files");
    sysfs_remove(dir, proc);
    is_i(dp_cpuid_from(DP_CPUID_OTHER, id, sizeof id, "/sys", "/proc"), DP_E_IO,
         "no architecture that we know");
#if defined(__x86_64__) || defined(__i386__)
    is_i(dp_cpuid(id, sizeof id, "/sys", "/proc"), 0, "this machine: %s", id);
    int dashes = 0;
    for (const char *p = id; *p; p++)
        dashes += *p == '-';
    is_i(dashes, 3, "vendor, family, model, stepping");
#endif
}
/* ---- the table ---- */

static void rows(void)
{
    static const struct {
        const char *cpuid;
        const struct pmu_event *table;
        const char *why;
    } cases[] = {
        { "GenuineIntel-6-55-4", skylake, "uncore rows, bad regexes and parts are passed over" },
        { "GenuineIntel-6-55-7", none, "the stepping counts where the regex has one" },
        { "GenuineIntel-6-55", NULL, "and is missed then" },
        { "GenuineIntel-6-5E-3", skylake, "and does not where it has none" },
        { "GenuineIntel-6-5E", skylake, "nor has to be there" },
        { "GenuineIntel-6-9E-A", skylake, "a range in brackets is no stepping" },
        { "GenuineIntel-6-9E", skylake, "without a stepping" },
        { "GenuineIntel-6-5", NULL, "half a model" },
        { "GenuineIntel-6-5EE-3", NULL, "a longer model" },
        { "AuthenticAMD-25-1-1", zen, "the first row wins" },
        { "AuthenticAMD-25-1F-0", zen, "a model of two digits" },
        { "authenticamd-25-1-1", NULL, "case counts" },
        { "0x00000000410fd080", arm, "Arm" },
        { "0x00000000410fd090", NULL, "another Arm" },
        { "IBM,2964,702,N96,3.5,002f", z13, "s390" },
        { "004b0201", power, "POWER" },
        { "GenuineIntel-6-66-1", NULL, "a row without a type" },
        { "", NULL, "nothing" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pmu_events_map *row = dp_pmu_row(map, cases[i].cpuid);
        ok((row ? row->table : NULL) == cases[i].table, "%s: %s", cases[i].cpuid, cases[i].why);
    }
    ok(!dp_pmu_row(NULL, "x"), "no map");
}

int main(void)
{
    cpuids();
    cpuid_files();
    rows();
    return tap_done();
}
