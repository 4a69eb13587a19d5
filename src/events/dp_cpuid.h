/* Identifies the processor in the words of perf's tables, and finds its table: that of the first
 * row of the mapfile that matches the CPUID. PERF_CPUID in the environment, which the caller reads,
 * selects another processor. */
#ifndef DP_CPUID_H
#define DP_CPUID_H

#include "dp_base.h"
#include "pmu-events/pmu-events.h"

enum { DP_CPUID_SIZE = 128 };           /* size of a CPUID with its NUL, as in perf */

enum dp_cpuid_arch { DP_CPUID_OTHER, DP_CPUID_X86, DP_CPUID_ARM64, DP_CPUID_POWERPC, DP_CPUID_S390,
                     DP_CPUID_RISCV };

/* Writes the CPUID of this machine, such as AuthenticAMD-25-1-1, 0x00000000410fd080, 004e1202,
 * IBM,2964,702,N96,3.5,002f, 0x489-0x8000000000000007-0x0. sysfs_root is /sys, proc_root /proc.
 * Returns 0, DP_E_LIMIT if `to` is too small, or DP_E_IO if it is unknown. Then `to` is empty. */
int dp_cpuid(char *to, size_t size, const char *sysfs_root, const char *proc_root);

/* Makes the CPUID from the files of another architecture, except x86, whose CPUID comes from the
 * processor itself. */
int dp_cpuid_from(enum dp_cpuid_arch arch, char *to, size_t size, const char *sysfs_root,
                  const char *proc_root);

/* Make a CPUID from what the functions above read. x86: eax, ebx, ecx, edx of leaves 0 and 1. */
int dp_cpuid_x86(char *to, size_t size, const uint32_t leaf0[4], const uint32_t leaf1[4]);
/* The file midr_el1 of a processor. */
int dp_cpuid_arm64(char *to, size_t size, const char *text);
/* /proc/cpuinfo; /proc/sysinfo and /proc/service_levels (NULL: missing). */
int dp_cpuid_powerpc(char *to, size_t size, const char *cpuinfo);
int dp_cpuid_s390(char *to, size_t size, const char *sysinfo, const char *levels);
int dp_cpuid_riscv(char *to, size_t size, const char *cpuinfo);

/* The first row of type `core` whose regex matches all of the CPUID, or all but an x86 processor's
 * stepping. NULL: none does. Rows with an invalid regex are skipped. */
const struct pmu_events_map *dp_pmu_row(const struct pmu_events_map *map, const char *cpuid);

#endif
