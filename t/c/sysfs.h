/* Trees as /sys and /proc show them, of machines that are not here. Each is written to a folder of
 * its own, which goes at the end. */
#ifndef SYSFS_H
#define SYSFS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PATH=CONTENT, one a file. */
#define FORMATS_X86(pmu) \
    pmu "/format/umask=config:8-15", pmu "/format/edge=config:18", pmu "/format/inv=config:23", \
    pmu "/format/cmask=config:24-31"

static const char *const sysfs_intel[] = {
    "cpu/type=4", "cpu/format/event=config:0-7", FORMATS_X86("cpu"), "cpu/format/any=config:21",
    "cpu/format/in_tx=config:32", "cpu/format/in_tx_cp=config:33",
    "cpu/format/offcore_rsp=config1:0-63", "cpu/format/ldlat=config1:0-15",
    "cpu/format/frontend=config1:0-23", "cpu/format/acr_mask=config3:0-63",
    "cpu/format/strange=no format", "cpu/rdpmc=1",
    "cpu/events/cpu-cycles=event=0x3c", "cpu/events/mem-loads=event=0xcd,umask=0x1,ldlat=3",
    "cpu/events/mem-stores=event=0xd0,umask=0x82",
    "cpu/events/topdown-total-slots=event=0x3c,umask=0x0,any=1",
    "cpu/events/topdown-total-slots.scale=4", "cpu/events/cycles-t=event=0x3c,in_tx=1",
    "cpu/events/r1a8=event=0x12",
    "uncore_imc_0/type=12", "uncore_imc_0/cpumask=0", "uncore_imc_0/format/event=config:0-7",
    "uncore_imc_0/format/umask=config:8-15", "uncore_imc_0/events/data_reads=event=0x1",
    "uncore_imc_0/events/data_reads.unit=MiB", "uncore_imc_0/events/data_reads.scale=6.1e-5",
    "uncore_imc_0/events/data_reads.per-pkg=1",
    "uncore_imc_1/type=13", "uncore_imc_1/cpumask=0", "uncore_imc_1/format/event=config:0-7",
    "msr/type=9", "msr/format/event=config:0-63", "msr/events/tsc=event=0x00",
    "msr/events/smi=event=0x04",
    "hv_24x7/type=20", "hv_24x7/cpumask=0", "hv_24x7/format/domain=config:0-3",
    "hv_24x7/format/core=config:16-31", "hv_24x7/format/offset=config:32-63",
    "hv_24x7/events/HPM_0=domain=2,offset=0xe0,core=?",
    "software/type=1", "broken/format/event=config:0-7", NULL,
};
static const char *const sysfs_amd[] = {
    "cpu/type=4", "cpu/format/event=config:0-7,32-35", FORMATS_X86("cpu"),
    "cpu/events/cpu-cycles=event=0x76", "software/type=1", NULL,
};
static const char *const sysfs_arm[] = {
    "armv8_pmuv3_0/type=8", "armv8_pmuv3_0/cpus=0-3", "armv8_pmuv3_0/format/event=config:0-15",
    "armv8_pmuv3_0/format/long=config1:0",
    "armv8_pmuv3_0/events/cpu_cycles=event=0x0011", "armv8_pmuv3_0/events/l1d_cache=event=0x0004",
    "hisi_sccl0_ddrc0/type=29", "hisi_sccl0_ddrc0/format/event=config:0-7", "arm_cmn_0/type=11",
    "arm_cmn_0/cpumask=0", "hisi_sccl1_ddrc0/type=30", "hisi_sccl1_ddrc0/cpumask=0",
    "hisi_sccl1_ddrc0/format/event=config:0-7", "software/type=1", NULL,
};
static const char *const sysfs_hybrid[] = {
    "cpu_atom/type=10", "cpu_atom/cpus=16-23", "cpu_atom/format/event=config:0-7",
    FORMATS_X86("cpu_atom"), "cpu_atom/events/mem-loads=event=0xd0,umask=0x5",
    "cpu_core/type=4", "cpu_core/cpus=0-15", "cpu_core/format/event=config:0-7",
    FORMATS_X86("cpu_core"), "cpu_core/events/slots=event=0x00,umask=0x4", "software/type=1", NULL,
};
static const char *const sysfs_s390[] = { "cpum_cf/type=7", "cpum_cf/format/event=config:0-63",
                                          "cpum_cf/events/CPU_CYCLES=event=0x0000", NULL };
static const char *const sysfs_none[] = { "software/type=1", "breakpoint/type=5", NULL };

static void sysfs_mkdirs(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0777);
        *p = '/';
    }
}

/* Makes the folder, whose name `dir` then is. False where that fails. */
static bool sysfs_make(char dir[64], const char *const *files)
{
    strcpy(dir, "/tmp/dprof-sysfs-XXXXXX");
    if (!mkdtemp(dir))
        return false;
    for (; *files; files++) {
        char path[512];
        size_t n = strcspn(*files, "=");
        snprintf(path, sizeof path, "%s/%.*s", dir, (int)n, *files);
        sysfs_mkdirs(path);
        FILE *f = fopen(path, "w");
        if (!f || fprintf(f, "%s\n", *files + n + 1) < 0 || fclose(f))
            return false;
    }
    return true;
}

/* Each file, and each folder that is empty then. */
static void sysfs_remove(const char *dir, const char *const *files)
{
    for (; *files; files++) {
        char path[512], *end;
        snprintf(path, sizeof path, "%s/%.*s", dir, (int)strcspn(*files, "="), *files);
        unlink(path);
        while ((end = strrchr(path, '/')) != NULL && strlen(path) > strlen(dir)) {
            *end = '\0';
            rmdir(path);
        }
    }
}

#endif
