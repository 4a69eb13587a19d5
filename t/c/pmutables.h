/* A table of processors as jevents makes it, with their lists of events: small ones of every kind,
 * and rows that are wrong. */
#ifndef PMUTABLES_H
#define PMUTABLES_H

#include "dp_pmu.h"

#define END { .name = NULL }
static const struct pmu_event none[] = { END };
static const struct pmu_event skylake[] = {
    { .metric_name = "IPC", .metric_expr = "inst_retired.any / cpu_clk_unhalted.thread",
      .topic = "metrics" },
    { .name = "inst_retired.any", .event = "event=0xc0,period=2000003",
      .desc = "Instructions retired", .topic = "pipeline" },
    { .name = "br_misp_retired.all_branches", .event = "umask=0x00,period=400009,event=0xc5",
      .desc = "Mispredicted branches", .topic = "pipeline" },
    { .name = "strange.all",
      .event = "umask=0x01,cmask=1,inv=1,edge=1,any=1,period=2000003,event=0x3c",
      .topic = "other" },
    { .name = "offcore_response.demand",
      .event = "umask=0x1,period=100003,event=0xb7,offcore_rsp=0x10001", .topic = "cache" },
    { .name = "mem_trans_retired.load_latency_gt_128", .event = "umask=0x1,event=0xcd,ldlat=0x80",
      .topic = "memory", .deprecated = "1" },
    { .name = "l1d.replacement", .event = "umask=0X0f,event=0x51", .desc = "Lines brought in",
      .long_desc = "Lines brought into the cache", .topic = "cache" },
    { .name = "mem-loads", .event = "event=0x1", .desc = "Loads, sampled", .topic = "memory" },
    { .name = "frontend.dsb_miss", .event = "event=0xc6,umask=0x1,frontend=0x11",
      .topic = "frontend" },
    { .name = "unc_m_cas", .event = "event=0x4,umask=0x3", .pmu = "uncore_imc", .perpkg = "1",
      .topic = "uncore" },
    { .name = "unc_p_clockticks", .event = "event=0x0", .pmu = "uncore_pcu", .topic = "uncore" },
    { .name = "bad.term", .event = "event=0x1,fc_mask=7", .topic = "other" },
    END,
};
static const struct pmu_event zen[] = {
    { .name = "ex_ret_instr", .event = "event=0xc0", .topic = "core" },
    { .name = "l2_far", .event = "umask=0xff,event=0x1cf", .topic = "cache" },
    END
};
static const struct pmu_event alderlake[] = {
    { .name = "inst_retired.any", .event = "event=0xc0", .pmu = "cpu_atom", .desc = "small" },
    { .name = "inst_retired.any", .event = "event=0xc0,umask=0x1", .pmu = "cpu_core",
      .desc = "large" },
    { .name = "only.atom", .event = "event=0x77", .pmu = "cpu_atom" }, END,
};
static const struct pmu_event arm[] = {
    { .name = "br_pred", .event = "event=0x12", .topic = "branch" },
    { .name = "flux_wr", .event = "event=0x80", .pmu = "hisi_sccl,ddrc" },
    END
};
static const struct pmu_event z13[] = {
    { .name = "l1d_ro_excl_writes", .event = "event=0x80", .pmu = "cpum_cf" }, END
};
static const struct pmu_event power[] = { { .name = "pm_1plus_ppc_cmpl", .event = "event=0x100f2" },
                                          END };
static const struct pmu_event unc[] = { { .name = "wrong", .event = "event=1" }, END };

static const struct pmu_events_map map[] = {
    { "GenuineIntel-6-55-4", "v1", "uncore", unc },
    { "GenuineIntel-6-(55-4", "v1", "core", unc },
    { "enuineIntel-6-55-4", "v1", "core", unc },
    { "GenuineIntel-6-55-[01234]", "v1", "core", skylake },
    { "GenuineIntel-6-55-[56789ABCDEF]", "v1", "core", none },
    { "GenuineIntel-6-(4E|5E)", "v1", "core", skylake },
    { "GenuineIntel-6-[8-9]E", "v1", "core", skylake },
    { "GenuineIntel-6-(97|9A)", "v1", "core", alderlake },
    { "AuthenticAMD-(23|25)-([12][0-9A-F]|[0-9A-F])", "v1", "core", zen },
    { "AuthenticAMD-25-1", "v1", "core", unc },
    { "0x00000000410fd08[[:xdigit:]]", "v1", "core", arm },
    { "^IBM.296[45].*[13]\\.[1-5].[[:xdigit:]]+$", "1", "core", z13 },
    { "004[bB][0-9]{4}", "1", "core", power },
    { "GenuineIntel-6-66", "1", NULL, unc },
    { NULL, NULL, NULL, NULL },
};

#endif
