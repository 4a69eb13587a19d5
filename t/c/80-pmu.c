/* Events by name: the request to the kernel, to the bit. */
#include "tap.h"
#include "pmutables.h"
#include "sysfs.h"
#include "random.h"
#include "dp_mem.h"
#include "dp_pmu.h"
#include "dp_pmu_near.h"

#include <errno.h>
#include <inttypes.h>

#if DP_PMU_HAS_PERF
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

/* ---- events ---- */

static char message[240];

static int find(struct dp_pmu *pmu, const char *text, struct dp_pmu_event *ev)
{
    struct dp_err err;
    dp_err_init(&err);
    size_t n = strlen(text);
    char *exact = malloc(n ? n : 1);        /* not terminated */
    memcpy(exact, text, n);
    int rc = dp_pmu_find(pmu, exact, n, ev, &err);
    free(exact);
    snprintf(message, sizeof message, "%s", rc < 0 ? err.message : "");
    return rc;
}

static struct dp_pmu *on(const char *cpuid, const char *dir)
{
    struct dp_pmu *pmu;
    struct dp_pmu_where where = { cpuid, dir, map };
    return dp_pmu_new(&pmu, &where) == 0 ? pmu : NULL;
}

/* type, config, config1, config2 and the unit in one line. */
struct expect {
    const char *text;
    uint32_t type;
    uint64_t config, config1;
    const char *unit, *name;                /* name: NULL if it is the text */
};

static void expect(struct dp_pmu *pmu, const struct expect *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct dp_pmu_event ev;
        char got[256], want[256];
        if (find(pmu, x[i].text, &ev) < 0)
            snprintf(got, sizeof got, "%s", message);
        else
            snprintf(got, sizeof got, "%u 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " %s %s", ev.type,
                     ev.config, ev.config1, ev.config2, ev.unit, ev.name);
        snprintf(want, sizeof want, "%u 0x%" PRIx64 " 0x%" PRIx64 " 0x0 %s %s", x[i].type,
                 x[i].config, x[i].config1, x[i].unit, x[i].name ? x[i].name : x[i].text);
        is_s(got, want, "%s", x[i].text);
    }
}
#define EXPECT(pmu, x) expect(pmu, x, sizeof(x) / sizeof *(x))

static void perls_own(struct dp_pmu *pmu)
{
    static const struct {
        const char *text;
        enum dp_pmu_kind kind;
        const char *name, *unit;
    } cases[] = {
        { "ops", DP_PMU_OPS, "ops", "ops" },
        { "SVs", DP_PMU_SVS, "svs", "SVs" },
        { "?Bytes", DP_PMU_BYTES, "bytes", "bytes" },
    };
    for (int i = 0; i < 3; i++) {
        struct dp_pmu_event ev;
        ok(find(pmu, cases[i].text, &ev) == 0 && ev.kind == cases[i].kind, "%s", cases[i].text);
        is_s(ev.name, cases[i].name, "its name");
        is_s(ev.unit, cases[i].unit, "its unit");
    }
}

/* Numbers as in linux/perf_event.h, which the next test compares. */
static const struct expect everywhere[] = {
    { "cycles", 0, 0, 0, "cycles", NULL }, { "CPU-Cycles", 0, 0, 0, "cycles", "cpu-cycles" },
    { "instructions", 0, 1, 0, "instructions", NULL },
    { "cache-references", 0, 2, 0, "references", NULL },
    { "cache-misses", 0, 3, 0, "misses", NULL },
    { "branch-instructions", 0, 4, 0, "branches", NULL },
    { "branches", 0, 4, 0, "branches", NULL }, { "branch-misses", 0, 5, 0, "misses", NULL },
    { "bus-cycles", 0, 6, 0, "cycles", NULL },
    { "stalled-cycles-frontend", 0, 7, 0, "cycles", NULL },
    { "idle-cycles-frontend", 0, 7, 0, "cycles", NULL },
    { "stalled-cycles-backend", 0, 8, 0, "cycles", NULL },
    { "idle-cycles-backend", 0, 8, 0, "cycles", NULL }, { "ref-cycles", 0, 9, 0, "cycles", NULL },
    { "cpu-clock", 1, 0, 0, "ns", NULL }, { "task-clock", 1, 1, 0, "ns", NULL },
    { "page-faults", 1, 2, 0, "faults", NULL }, { "faults", 1, 2, 0, "faults", NULL },
    { "context-switches", 1, 3, 0, "switches", NULL }, { "cs", 1, 3, 0, "switches", NULL },
    { "cpu-migrations", 1, 4, 0, "migrations", NULL },
    { "migrations", 1, 4, 0, "migrations", NULL }, { "minor-faults", 1, 5, 0, "faults", NULL },
    { "major-faults", 1, 6, 0, "faults", NULL },
    { "alignment-faults", 1, 7, 0, "faults", NULL },
    { "emulation-faults", 1, 8, 0, "faults", NULL }, { "dummy", 1, 9, 0, "events", NULL },
    { "cgroup-switches", 1, 11, 0, "switches", NULL },
    { "L1-dcache-loads", 3, 0x00000, 0, "loads", NULL },
    { "L1-dcache-load-misses", 3, 0x10000, 0, "misses", NULL },
    { "l1d-stores", 3, 0x00100, 0, "stores", NULL },
    { "L1-data-write-miss", 3, 0x10100, 0, "misses", NULL },
    { "l1-d-speculative-read", 3, 0x00200, 0, "prefetches", NULL },
    { "L1-dcache-prefetch-misses", 3, 0x10200, 0, "misses", NULL },
    { "L1-dcache", 3, 0, 0, "loads", NULL },
    { "L1-icache-load-misses", 3, 0x10001, 0, "misses", NULL },
    { "l1i-prefetches", 3, 0x00201, 0, "prefetches", NULL },
    { "l1-i", 3, 1, 0, "loads", NULL }, { "L1-instruction-read-access", 3, 1, 0, "loads", NULL },
    { "LLC-loads", 3, 2, 0, "loads", NULL }, { "L2-misses", 3, 0x10002, 0, "misses", NULL },
    { "llc-speculative-load-miss", 3, 0x10202, 0, "misses", NULL },
    { "dTLB-store-misses", 3, 0x10103, 0, "misses", NULL },
    { "Data-TLB-refs", 3, 3, 0, "loads", NULL },
    { "d-tlb-Reference", 3, 3, 0, "loads", NULL },
    { "iTLB-load-misses", 3, 0x10004, 0, "misses", NULL }, { "i-tlb", 3, 4, 0, "loads", NULL },
    { "Instruction-TLB-misses", 3, 0x10004, 0, "misses", NULL },
    { "branch-loads", 3, 5, 0, "loads", NULL }, { "branch", 3, 5, 0, "loads", NULL },
    { "branches-load-misses", 3, 0x10005, 0, "misses", NULL },
    { "bpu-miss", 3, 0x10005, 0, "misses", NULL },
    { "btb-ops", 3, 5, 0, "loads", NULL }, { "bpc-loads-misses", 3, 0x10005, 0, "misses", NULL },
    { "node-loads", 3, 6, 0, "loads", NULL },
    { "node-stores-misses", 3, 0x10106, 0, "misses", NULL },
    { "node-misses-prefetch", 3, 0x10206, 0, "misses", NULL },
    { "cycles/config1=0x7,name=a b%/", 0, 0, 7, "cycles", "a%20b%25" },
    { "page-faults/period=7/", 1, 2, 0, "faults", NULL },
};

static const struct expect on_intel[] = {
    { "inst_retired.any", 4, 0xc0, 0, "instructions", NULL },
    { "INST_RETIRED.ANY", 4, 0xc0, 0, "instructions", "inst_retired.any" },
    { "br_misp_retired.all_branches", 4, 0xc5, 0, "branches", NULL },
    { "strange.all", 4, 0x01a4013c, 0, "events", NULL },
    { "offcore_response.demand", 4, 0x1b7, 0x10001, "events", NULL },
    { "mem_trans_retired.load_latency_gt_128", 4, 0x1cd, 0x80, "events", NULL },
    { "l1d.replacement", 4, 0xf51, 0, "events", NULL },
    { "frontend.dsb_miss", 4, 0x1c6, 0x11, "misses", NULL },
    /* sysfs before the table */
    { "mem-loads", 4, 0x1cd, 3, "events", NULL },
    { "Mem-Stores", 4, 0x82d0, 0, "events", "mem-stores" },
    { "cycles-t", 4, UINT64_C(0x10000003c), 0, "cycles", NULL },
    { "cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30, "events", NULL },
    { "mem-loads/ldlat=30/", 4, 0x1cd, 30, "events", NULL },
    { "cpu/cpu-cycles/", 4, 0x3c, 0, "cycles", NULL },
    { "cpu/event=0x3c,umask=0x1/", 4, 0x13c, 0, "events", NULL },
    { "cpu/ event = 60 , umask=1 /", 4, 0x13c, 0, "events",
      "cpu/%20event%20=%2060%20,%20umask=1%20/" },
    { "cpu/inst_retired.any,cmask=2,inv/", 4, 0x028000c0, 0, "instructions", NULL },
    { "cpu/event=inst_retired.any,umask=0x1/", 4, 0x1c0, 0, "instructions", NULL },
    { "inst_retired.any/edge/", 4, 0x400c0, 0, "instructions", NULL },
    { "cpu/inst_retired.any=1/", 4, 0xc0, 0, "instructions", NULL },
    { "cpu/event=0x3c,name=mine/", 4, 0x3c, 0, "events", "mine" },
    { "cpu/event=0x3c,name='a,b'/u", 4, 0x3c, 0, "events", "a,b" },
    { "cpu/config=0x1234,config1=5,umask=0xff/", 4, 0xff34, 5, "events", NULL },
    { "cpu/umask=0xff,config=0x1234/", 4, 0xff34, 0, "events", NULL },
    { "cpu/r1a8/", 4, 0x12, 0, "events", NULL }, { "cpu/r1a9/", 4, 0x1a9, 0, "events", NULL },
    { "r1a8", 4, 0x12, 0, "events", NULL }, { "r01a9", 4, 0x1a9, 0, "events", NULL },
    { "R0x1A9", 4, 0x1a9, 0, "events", "r0x1a9" },
    { "rffffffffffffffff:u", 4, UINT64_MAX, 0, "events", NULL },
    { "cpu/cycles/", 0, 0, 0, "cycles", NULL }, { "cpu/LLC-loads/", 3, 2, 0, "events", NULL },
    { "cpu/event=0x1,event=0x2/", 4, 2, 0, "events", NULL }, { "cpu//", 4, 0, 0, "events", NULL },
    { "cpu/offcore_rsp=0xffffffffffffffff/", 4, 0, UINT64_MAX, "events", NULL },
    { "msr/tsc/", 9, 0, 0, "events", NULL }, { "smi", 9, 4, 0, "events", NULL },
    { "uncore_imc/data_reads/", 12, 1, 0, "events", NULL },
    { "imc/event=5/", 12, 5, 0, "events", NULL },
    { "uncore_imc_1/event=5/", 13, 5, 0, "events", NULL },
    { "unc_m_cas", 12, 0x304, 0, "events", NULL },
    { "uncore_imc_0/unc_m_cas/", 12, 0x304, 0, "events", NULL },
    { "hv_24x7/HPM_0,core=3/", 20, UINT64_C(0xe000030002), 0, "events", NULL },
    { "software/config=2/", 1, 2, 0, "events", NULL },
};

static const struct expect on_amd[] = { { "ex_ret_instr", 4, 0xc0, 0, "instructions", NULL },
                                        { "l2_far", 4, UINT64_C(0x10000ffcf), 0, "events", NULL },
                                        { "cpu/event=0xfff/", 4, UINT64_C(0xf000000ff), 0, "events",
                                          NULL } };
static const struct expect on_arm[] = {
    { "br_pred", 8, 0x12, 0, "events", NULL }, { "cpu_cycles", 8, 0x11, 0, "cycles", NULL },
    { "armv8_pmuv3_0/l1d_cache,long/", 8, 4, 1, "events", NULL },
    { "cpu/br_pred/", 8, 0x12, 0, "events", NULL },
    { "cycles", 0, 0, 0, "cycles", NULL }, { "r12", 4, 0x12, 0, "events", NULL },
    { "flux_wr", 30, 0x80, 0, "events", NULL },
};
static const struct expect on_hybrid[] = {
    { "cycles", 0, UINT64_C(0x400000000), 0, "cycles", NULL },
    { "cpu_atom/cycles/", 0, UINT64_C(0xa00000000), 0, "cycles", NULL },
    { "LLC-load-misses", 3, UINT64_C(0x400010002), 0, "misses", NULL },
    { "page-faults", 1, 2, 0, "faults", NULL },
    { "inst_retired.any", 4, 0x1c0, 0, "instructions", NULL },
    { "cpu_atom/inst_retired.any/", 10, 0xc0, 0, "instructions", NULL },
    { "cpu/event=0x3c/", 4, 0x3c, 0, "events", NULL }, { "only.atom", 10, 0x77, 0, "events", NULL },
    { "slots", 4, 0x400, 0, "events", NULL }, { "r12", 4, 0x12, 0, "events", NULL },
    { "mem-loads", 10, 0x5d0, 0, "events", NULL },
};
static const struct expect on_s390[] = { { "cpu_cycles", 7, 0, 0, "cycles", NULL },
                                         { "l1d_ro_excl_writes", 7, 0x80, 0, "events", NULL },
                                         { "cpum_cf/event=0x10/", 7, 0x10, 0, "events", NULL } };
/* Machines without the processor's PMU */
static const struct expect virtual_intel[] = {
    { "inst_retired.any", 4, 0xc0, 0, "instructions", NULL },
    { "mem_trans_retired.load_latency_gt_128", 4, 0x1cd, 0x80, "events", NULL },
    { "offcore_response.demand", 4, 0x1b7, 0x10001, "events", NULL },
    { "cpu/event=0x3c,in_tx,in_tx_cp/", 4, UINT64_C(0x30000003c), 0, "events", NULL },
    { "cpu/event=0x3c,pc,any,edge,inv,cmask=0xff,umask=0xff/", 4, 0xffacff3c, 0, "events", NULL },
    { "cycles", 0, 0, 0, "cycles", NULL },
};
static const struct expect virtual_amd[] = {
    { "cpu/event=0xfff/", 4, UINT64_C(0xf000000ff), 0, "events", NULL },
    { "ex_ret_instr", 4, 0xc0, 0, "instructions", NULL },
    { "l2_far", 4, UINT64_C(0x10000ffcf), 0, "events", NULL }
};
static const struct expect virtual_hybrid[] = { { "inst_retired.any", 4, 0x1c0, 0, "instructions",
                                                  NULL },
                                                { "only.atom", 4, 0x77, 0, "events", NULL } };
static const struct expect virtual_arm[] = { { "br_pred", 4, 0x12, 0, "events", NULL },
                                             { "cpu/event=0xffff,long/", 4, 0xffff, 1, "events",
                                               NULL } };
static const struct expect virtual_power[] = {
    { "pm_1plus_ppc_cmpl", 4, 0x100f2, 0, "events", NULL },
    { "cpu/event=0xffffffffffffffff/", 4, UINT64_MAX, 0, "events", NULL }
};

#define MACHINE(cpuid, tree, ...) do { \
    char dir_[64]; \
    ok(sysfs_make(dir_, tree), "a machine: %s", cpuid); \
    struct dp_pmu *pmu_ = on(cpuid, dir_); \
    is_s(dp_pmu_cpuid(pmu_), cpuid, "its CPUID"); \
    __VA_ARGS__; \
    dp_pmu_free(pmu_); \
    sysfs_remove(dir_, tree); \
} while (0)

static void modifiers(struct dp_pmu *pmu)
{
    static const struct { const char *text, *set; } cases[] = {
        { "cycles", "" }, { "cycles:u", "kernel hv" }, { "cycles:k", "user hv" },
        { "cycles:h", "user kernel" }, { "cycles:uk", "hv" }, { "cycles:ukh", "" },
        { "cycles:pp", "guest p2" },
        { "cycles:ppp", "guest p3" }, { "cycles:G", "host" }, { "cycles:H", "guest" },
        { "cycles:GH", "" }, { "cycles:GHp", "p1" }, { "cycles:uI", "kernel hv idle" },
        { "cycles:D", "pinned" },
        { "cycles:e", "exclusive" }, { "cpu/event=1/u", "kernel hv" },
        { "cpu/event=1/:k", "user hv" }, { "cpu/event=1/", "" },
        { "inst_retired.any:u", "kernel hv" }, { "page-faults:u", "kernel hv" },
        { "cycles/name=x/u", "kernel hv" }, { "LLC-loads:k", "user hv" }, { "cycles:", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dp_pmu_event ev;
        char got[128];
        int rc = find(pmu, cases[i].text, &ev);
        snprintf(got, sizeof got, "%s%s%s%s%s%s%s%s", ev.exclude_user ? " user" : "",
                 ev.exclude_kernel ? " kernel" : "", ev.exclude_hv ? " hv" : "",
                 ev.exclude_host ? " host" : "", ev.exclude_guest ? " guest" : "",
                 ev.exclude_idle ? " idle" : "", ev.pinned ? " pinned" : "",
                 ev.exclusive ? " exclusive" : "");
        if (ev.precise)
            snprintf(got + strlen(got), sizeof got - strlen(got), " p%u", ev.precise);
        ok(rc == 0, "%s%s", cases[i].text, message);
        is_s(got[0] ? got + 1 : got, cases[i].set, "what it leaves out");
    }
}

static void user_only(struct dp_pmu *pmu)
{
    static const struct { const char *text, *name; } cases[] = {
        { "cycles", "cycles:u" }, { "cpu/event=1/", "cpu/event=1/u" },
        { "cpu/event=1/pp", "cpu/event=1/ppu" }, { "cycles:pp", "cycles:ppu" },
        { "cycles:uk", "cycles:uku" },
        { "cpu/event=1,name=x/", "x:u" }, { "cycles:k", NULL }, { "cycles:u", NULL },
        { "ops", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dp_pmu_event ev;
        find(pmu, cases[i].text, &ev);
        bool done = dp_pmu_user_only(&ev);
        ok(done == (cases[i].name != NULL), "%s without the kernel", cases[i].text);
        if (cases[i].name)
            ok(strcmp(ev.name, cases[i].name) == 0 && ev.exclude_kernel && ev.exclude_hv
                   && !ev.exclude_user,
               "is %s", ev.name);
    }
}

/* ---- errors ---- */

static void errors(struct dp_pmu *pmu)
{
    static const struct { const char *text, *message; } cases[] = {
        { "", "an event without a name" },
        { "?", "an event without a name" },
        { "cylces", "event 'cylces': no such event; did you mean cycles?" },
        { "?cache-mises", "event 'cache-mises': no such event; did you mean cache-misses?" },
        { "INST_RETIRED", "event 'INST_RETIRED': no such event; did you mean inst_retired.any?" },
        { "replacement", "event 'replacement': no such event; did you mean l1d.replacement?" },
        { "dTLB", "" },
        { "dtlb-lod-misses",
          "event 'dtlb-lod-misses': no such event; did you mean dTLB-load-misses or"
          " iTLB-load-misses?" },
        { "stalled",
          "event 'stalled': no such event; did you mean stalled-cycles-backend or"
          " stalled-cycles-frontend?" },
        { "qqqqqqqqqq", "event 'qqqqqqqqqq': no such event" },
        { "IPC", "event 'IPC': no such event" },
        { "iTLB-stores", "event 'iTLB-stores': iTLB has no stores" },
        { "L1-icache-store-misses", "event 'L1-icache-store-misses': L1-icache has no stores" },
        { "branch-prefetches", "event 'branch-prefetches': branch has no prefetches" },
        { "L1-dcache-load-stores",
          "event 'L1-dcache-load-stores': no such event; did you mean L1-dcache-load-misses,"
          " L1-dcache-stores or L1-icache-load-misses?" },
        { "ex_ret_instr",
          "event 'ex_ret_instr': it is one of other processors"
          " (AuthenticAMD-(23|25)-([12][0-9A-F]|[0-9A-F])), not of this one"
          " (GenuineIntel-6-55-4)" },
        { "cycles:x",
          "event 'cycles:x': unknown modifier 'x'; known are u, k, h, p, G, H, I, D, e" },
        { "cycles:uu", "event 'cycles:uu': modifier 'u' stands there twice" },
        { "cycles:pppp", "event 'cycles:pppp': more than three p" },
        { "svs-freed", "event 'svs-freed': it comes with svs: ask for that" },
        { "Bytes-freed:u", "event 'Bytes-freed:u': it comes with bytes: ask for that" },
        { "ops-freed", "event 'ops-freed': no such event" },
        { "ops:u", "event 'ops:u': perl's own counters have no modifiers and no terms" },
        { "svs/name=x/",
          "event 'svs/name=x/': perl's own counters have no modifiers and no terms" },
        { ":u", "event ':u': modifiers of a group are written behind each of its events" },
        { "/event=1/", "event '/event=1/': no PMU in front of the slash" },
        { "cpu/event=1", "event 'cpu/event=1': there is no closing slash" },
        { "cpo/event=1/", "event 'cpo/event=1/': no such event or PMU; did you mean cpu?" },
        { "nonsense/event=1/", "event 'nonsense/event=1/': no such event or PMU" },
        { "broken/event=1/", "event 'broken/event=1/': the PMU broken cannot be read" },
        { "cpu/evnt=1/", "event 'cpu/evnt=1/': unknown term 'evnt'; did you mean event?" },
        { "cpu/nothing=1/",
          "event 'cpu/nothing=1/': unknown term 'nothing'; known are acr_mask, any, cmask, edge,"
          " event, frontend, in_tx, in_tx_cp, inv, ldlat, offcore_rsp, umask, config, config1,"
          " config2, name" },
        { "cpu/event=0x100/",
          "event 'cpu/event=0x100/': 0x100 is too much for 'event', at most 0xff" },
        { "cpu/edge=2/", "event 'cpu/edge=2/': 0x2 is too much for 'edge', at most 0x1" },
        { "cpu/umask/", "event 'cpu/umask/': 'umask' wants a number, at most 0xff" },
        { "cpu/umask=x/", "event 'cpu/umask=x/': 'umask' wants a number" },
        { "cpu/event=nothing/",
          "event 'cpu/event=nothing/': unknown term 'event'; did you mean event?" },
        { "cpu/config=/", "event 'cpu/config=/': 'config' wants a number" },
        { "cpu/name=/", "event 'cpu/name=/': 'name' wants a name" },
        { "cpu/acr_mask=1/",
          "event 'cpu/acr_mask=1/': 'acr_mask' goes to config3, which is not known here" },
        { "cycles/umask=1/",
          "event 'cycles/umask=1/': unknown term 'umask'; known are config, config1, config2,"
          " name" },
        { "bad.term", "event 'bad.term': unknown term 'fc_mask'; did you mean acr_mask or cmask?" },
        { "hv_24x7/HPM_0/",
          "event 'hv_24x7/HPM_0/': it leaves 'core' open: write core=N behind it, between the"
          " slashes" },
        { "unc_p_clockticks",
          "event 'unc_p_clockticks': the PMU uncore_pcu counts it, and this system does not show"
          " that one" },
        { "sched:sched_switch", "event 'sched:sched_switch': tracepoints are not counted" },
        { "a\tb\xff", "event 'a\\x09b\\xff': no such event" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dp_pmu_event ev;
        int rc = find(pmu, cases[i].text, &ev);
        is_i(rc, cases[i].message[0] ? DP_E_ARG : 0, "'%s'", cases[i].text);
        is_s(message, cases[i].message, "what is said");
    }
    struct dp_pmu_event ev;
    struct dp_err err;
    char text[2000];
    memset(text, 'a', sizeof text);
    dp_err_init(&err);
    ok(dp_pmu_find(pmu, text, sizeof text, &ev, &err) == DP_E_ARG
           && strstr(err.message, "': too long"),
       "%s", err.message);
    dp_err_init(&err);
    memcpy(text, "cycles/name=", 12);
    text[150] = '/';
    ok(dp_pmu_find(pmu, text, 151, &ev, &err) == DP_E_ARG
           && strstr(err.message, "too long for the name of a column"),
       "%s", err.message);
    dp_err_init(&err);
    ok(dp_pmu_find(pmu, "ops\0x", 5, &ev, &err) == DP_E_ARG && strstr(err.message, "a NUL within"),
       "%s", err.message);
    is_i(dp_pmu_find(pmu, "nothing", 7, &ev, NULL), DP_E_ARG, "nobody to tell it");
}

static void errors_elsewhere(void)
{
    struct dp_pmu_event ev;
    struct dp_pmu *pmu = on("SomethingElse-1-2-3", NULL);
    find(pmu, "cylces", &ev);
    is_s(message,
         "event 'cylces': no such event, and this processor (SomethingElse-1-2-3) has no table;"
         " did you mean cycles?",
         "a processor without a table");
    find(pmu, "inst_retired.any", &ev);
    is_s(message,
         "event 'inst_retired.any': it is one of other processors (GenuineIntel-6-55-[01234]), not"
         " of this one (SomethingElse-1-2-3)",
         "names of others");
    dp_pmu_free(pmu);
    pmu = on(NULL, NULL);
    find(pmu, "nothing", &ev);
    is_s(message, "event 'nothing': no such event, and this processor (unknown) has no table",
         "an unknown processor");
    dp_pmu_free(pmu);
    struct dp_pmu_where where = { "x", NULL, NULL };
    dp_pmu_new(&pmu, &where);
    find(pmu, "nothing", &ev);
    is_s(message, "event 'nothing': no such event", "no tables at all");
    ok(find(pmu, "cycles", &ev) == 0 && ev.no_core, "generic events are there all the same");
    dp_pmu_free(pmu);
}

/* Against the distance by its definition: all prefixes, no rows left out. */
static unsigned naive_distance(const char *a, const char *b)
{
    unsigned d[16][16];
    size_t n = strlen(a), m = strlen(b);
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k <= m; k++) {
            unsigned best = i && k ? 99 : (unsigned)(i + k);
            if (i && k) {
                bool same = a[i - 1] == b[k - 1];
                unsigned all[] = { d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + !same, 99 };
                if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                    all[3] = d[i - 2][k - 2] + 1;
                for (int x = 0; x < 4; x++)
                    best = all[x] < best ? all[x] : best;
            }
            d[i][k] = best;
        }
    return d[n][m];
}

static void distances(void)
{
    int wrong = 0;
    for (int t = 0; t < 5000; t++) {
        char a[12], b[12];
        size_t n = rnd(11), m = rnd(11);
        for (size_t i = 0; i < n; i++)
            a[i] = (char)('a' + rnd(3));
        for (size_t i = 0; i < m; i++)
            b[i] = (char)('a' + rnd(3));
        a[n] = b[m] = '\0';
        unsigned d = naive_distance(a, b), most = rnd(6);
        wrong += dp_pmu_near_distance(a, b, most) != (d <= most ? d : most + 1);
    }
    is_i(wrong, 0, "distances are those of the definition");
}

/* ---- bits: random formats and values, read back bit by bit ---- */

static void random_bits(struct dp_pmu *pmu)
{
    int wrong = 0, refused = 0, seen = 0;
    for (int t = 0; t < 4000; t++) {
        char text[256];
        bool in[64] = { false };
        unsigned config = rnd(3), width = 0, order[64];
        size_t at = (size_t)snprintf(text, sizeof text, config ? "config%u:" : "config:", config);
        for (unsigned piece = 0, from = rnd(20); piece < 1 + rnd(4) && from < 64; piece++) {
            unsigned to = rnd(8) ? from + rnd(12) : 63;
            to = to > 63 ? 63 : to;
            at += (size_t)snprintf(text + at, sizeof text - at, from == to ? "%s%u" : "%s%u-%u",
                                   piece ? "," : "", from, to);
            for (unsigned b = from; b <= to; b++)
                in[b] = true;
            from = to + 1 + rnd(9);
        }
        for (unsigned b = 0; b < 64; b++)
            if (in[b])
                order[width++] = b;
        struct dp_pmu_format f = { "f", 9, 0 };
        uint64_t value = (uint64_t)rnd(1u << 31) << 33 | (uint64_t)rnd(1u << 31) << 2 | rnd(4),
                 c[3] = { rnd(1000), rnd(1000), rnd(1000) }, before[3];
        value = width && width < 64 ? value >> (rnd(8) ? 64 - width : 0) : value;
        memcpy(before, c, sizeof c);
        bool parsed = dp_pmu_format_parse(&f, text), fits = width == 64 || value >> width == 0;
        wrong += !parsed || f.config != config || dp_pmu_format_put(&f, value, c) != fits;
        refused += !fits;
        for (unsigned k = 0; k < 3; k++)
            for (unsigned b = 0; b < 64; b++) {
                bool want = before[k] >> b & 1;
                for (unsigned w = 0; fits && k == config && w < width; w++)
                    if (order[w] == b)
                        want = value >> w & 1;
                wrong += (c[k] >> b & 1) != want;
                seen += want;
            }
    }
    ok(wrong == 0 && refused > 100 && seen > 1000, "random formats: %d wrong, %d values too big",
       wrong, refused);
    static const char *const bad[] = { "",          "config",       "config:",     "config:1-",
                                       "config:64", "config:7-0",   "config:1,",   "config:1;2",
                                       "confg:1",   "config1234:1", "config:0-7 ", "config-1:0",
                                       "config:-1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dp_pmu_format f = { "f", 0, 0 };
        ok(!dp_pmu_format_parse(&f, bad[i]), "no format: '%s'", bad[i]);
    }
    /* and through the text of an event, in any order */
    static const struct {
        const char *name;
        unsigned at, width;
    } fields[] = { { "event", 0, 8 }, { "umask", 8, 8 },  { "edge", 18, 1 }, { "any", 21, 1 },
                   { "inv", 23, 1 },  { "cmask", 24, 8 }, { "in_tx", 32, 1 } };
    wrong = 0;
    for (int t = 0; t < 2000; t++) {
        char text[256];
        uint64_t want = 0;
        size_t at = (size_t)snprintf(text, sizeof text, "cpu/");
        for (unsigned n = rnd(9); n > 0; n--) {
            unsigned k = rnd(7), v = rnd(1u << fields[k].width);
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   fields[k].width == 1 && v && rnd(2) ? "%s,"
                                   : rnd(2) ? "%s=%u,"
                                   : "%s=0x%X,",
                                   fields[k].name, v);
            uint64_t mask = ((UINT64_C(1) << fields[k].width) - 1) << fields[k].at;
            want = (want & ~mask) | (uint64_t)v << fields[k].at;
        }
        snprintf(text + at, sizeof text - at, "/");
        struct dp_pmu_event ev;
        wrong += find(pmu, text, &ev) != 0 || ev.config != want || ev.type != 4;
    }
    is_i(wrong, 0, "random terms: the last one of a kind counts");
}

/* ---- lists ---- */

static void lists(void)
{
    static const struct { const char *list, *split; } cases[] = {
        { "ops", "ops" }, { "ops+svs", "ops|svs" },
        { "cycles,instructions", "cycles|instructions" }, { " a  b\tc\n", "a|b|c" },
        { "cpu/event=1,umask=2/,cycles", "cpu/event=1,umask=2/|cycles" },
        { "{cycles,instructions}:u", "cycles|instructions|:u" }, { "{a,b},{c,d}", "a|b|c|d" },
        { "cpu/name=a + b/u+cs", "cpu/name=a + b/u|cs" }, { "?cycles+ops", "?cycles|ops" },
        { "cpu/event=1+cycles", "cpu/event=1|cycles" }, { "", "" }, { "+,+ ", "" },
        { "a//b,c", "a//b|c" }, { "a/x/,b/y/", "a/x/|b/y/" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[256];
        size_t at = 0, n;
        const char *p = cases[i].list, *text;
        got[0] = '\0';
        while ((n = dp_pmu_next(&p, &text)) > 0)
            at += (size_t)snprintf(got + at, sizeof got - at, "%s%.*s", at ? "|" : "", (int)n,
                                   text);
        is_s(got, cases[i].split, "'%s'", cases[i].list);
    }
}

/* ---- attributes ---- */

static void attributes(struct dp_pmu *pmu)
{
#if DP_PMU_HAS_PERF
    ok(PERF_TYPE_HARDWARE == 0 && PERF_TYPE_SOFTWARE == 1 && PERF_TYPE_HW_CACHE == 3
           && PERF_TYPE_RAW == 4,
       "types are the kernel's");
    ok(PERF_COUNT_HW_REF_CPU_CYCLES == 9 && PERF_COUNT_HW_BRANCH_MISSES == 5
           && PERF_COUNT_SW_DUMMY == 9 && PERF_COUNT_SW_PAGE_FAULTS_MAJ == 6,
       "so are events");
    ok(PERF_COUNT_HW_CACHE_NODE == 6 && PERF_COUNT_HW_CACHE_OP_PREFETCH == 2
           && PERF_COUNT_HW_CACHE_RESULT_MISS == 1,
       "and caches");
    struct dp_pmu_event ev;
    struct perf_event_attr got, want;
    memset(&got, 0xff, sizeof got);
    find(pmu, "mem_trans_retired.load_latency_gt_128:up", &ev);
    dp_pmu_attr(&ev, &got);
    memset(&want, 0, sizeof want);
    want.size = sizeof want;
    want.type = 4;
    want.config = 0x1cd;
    want.config1 = 0x80;
    want.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED
                       | PERF_FORMAT_TOTAL_TIME_RUNNING;
    want.exclude_kernel = want.exclude_hv = want.exclude_guest = 1;
    want.precise_ip = 1;
    ok(memcmp(&got, &want, sizeof got) == 0, "attributes, byte by byte");
    /* the flags' word by its bits: exclude_user 4, kernel 5, hv 6, idle 7, pinned 2, exclusive 3,
     * precise_ip 15, 16, host 19, guest 20 */
    static const struct { const char *text; uint64_t flags; } cases[] = {
        { "cycles", 0 }, { "cycles:u", 0x60 }, { "cycles:k", 0x50 }, { "cycles:h", 0x30 },
        { "cycles:I", 0x80 }, { "cycles:D", 4 }, { "cycles:e", 8 }, { "cycles:GHpp", 0x10000 },
        { "cycles:GHp", 0x8000 }, { "cycles:G", 0x80000 }, { "cycles:H", 0x100000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t flags;
        find(pmu, cases[i].text, &ev);
        dp_pmu_attr(&ev, &got);
        memcpy(&flags, (const char *)&got + 40, sizeof flags);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        ok(flags == cases[i].flags, "%s: flags 0x%llx", cases[i].text, (unsigned long long)flags);
#endif
    }
    find(pmu, "cpu/config2=0x1122334455667788/", &ev);
    dp_pmu_attr(&ev, &got);
    ok(got.config2 == UINT64_C(0x1122334455667788) && !got.disabled && !got.inherit,
       "config2; it counts from the start, for one thread");
    find(pmu, "page-faults:u", &ev);
    dp_pmu_attr(&ev, &got);
    int fd = (int)syscall(SYS_perf_event_open, &got, 0, -1, -1, 0);
    uint64_t read_back[4] = { 0, 0, 0, 0 };
    if (fd < 0)
        ok(errno != EINVAL && errno != E2BIG, "this kernel permits none: error %d", errno);
    else
        ok(read(fd, read_back, sizeof read_back) == 32 && read_back[0] == 1,
           "the kernel takes them: one event, %llu page faults", (unsigned long long)read_back[3]);
    if (fd >= 0)
        close(fd);
#else
    (void)pmu;
#endif
}

static void refusals(struct dp_pmu *real, struct dp_pmu *none)
{
    static const struct {
        bool is_virtual;
        const char *text;
        int error, paranoid;
        const char *why;
    } cases[] = {
        { 0, "cycles", EACCES, 4,
          "not permitted: kernel.perf_event_paranoid is 4, which lets nobody but root count;"
          " sysctl kernel.perf_event_paranoid=2 permits it" },
        { 0, "cycles", EACCES, 2,
          "not permitted: kernel.perf_event_paranoid is 2, which leaves the kernel's part out; put"
          " :u behind the name, or set it to 1" },
        { 0, "cycles:u", EPERM, 2,
          "not permitted, by a container's filter of system calls or another security policy" },
        { 0, "cycles", EPERM, DP_PMU_PARANOID_UNKNOWN,
          "not permitted, by a container's filter of system calls or another security policy" },
        { 0, "uncore_imc/data_reads/", EACCES, 1,
          "not permitted: it counts for the whole machine, and kernel.perf_event_paranoid is 1;"
          " such events are not for one program" },
        { 0, "uncore_imc/data_reads/", EINVAL, 0,
          "the PMU uncore_imc_0 counts for the whole machine only, not for one program" },
        { 0, "cycles", ENOENT, 0, "this processor (GenuineIntel-6-55-4) does not have it" },
        { 0, "msr/tsc/", ENOENT, 0, "the PMU msr does not have it" },
        { 0, "cycles:pp", EOPNOTSUPP, 0,
          "the processor cannot count it precisely; leave the p out" },
        { 0, "cycles:p", EINVAL, 0, "p is for samples, and this is a counter; leave the p out" },
        { 0, "r123", EINVAL, 0,
          "the kernel does not take these settings of the PMU cpu (config 0x123, config1 0x0,"
          " config2 0x0)" },
        { 0, "cycles", EINVAL, 0, "the kernel does not take these settings (type 0, config 0x0)" },
        { 0, "cycles", ENOSYS, 0, "this kernel has no perf events" },
        { 0, "cycles", EMFILE, 0, "too many open files: each event is one in each thread" },
        { 0, "cycles", EBUSY, 0, "another program has taken the counters" },
        { 0, "cycles", EIO, 0, "error 5" },
        { 1, "cycles", ENOENT, 0,
          "no hardware counters in this machine: a virtual machine is not given any, as a rule" },
        { 1, "LLC-loads", EOPNOTSUPP, 0,
          "no hardware counters in this machine: a virtual machine is not given any, as a rule" },
        { 1, "inst_retired.any", ENOENT, 0,
          "no hardware counters in this machine: a virtual machine is not given any, as a rule" },
        { 1, "alignment-faults", ENOENT, 0,
          "this processor (GenuineIntel-6-55-4) does not have it" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dp_pmu_event ev;
        char why[240];
        struct dp_pmu *pmu = cases[i].is_virtual ? none : real;
        find(pmu, cases[i].text, &ev);
        dp_pmu_refusal(pmu, &ev, cases[i].error, cases[i].paranoid, why, sizeof why);
        is_s(why, cases[i].why, "%s: error %d", cases[i].text, cases[i].error);
    }
}

/* ---- everything ---- */

struct listed {
    struct dp_pmu *pmu;
    size_t count[6], wrong, stop, deprecated, whole;
    int last_group;
    char text[4000], topic[64];
};

static int take(void *arg, const struct dp_pmu_item *item)
{
    struct listed *l = arg;
    struct dp_pmu_event ev;
    size_t before = l->wrong;
    l->count[item->group]++;
    l->deprecated += item->deprecated;
    l->whole += !item->per_thread;
    /* groups in their order; what is listed is found, and under the other name it is the same */
    l->wrong += item->group < l->last_group;
    l->last_group = item->group;
    if (l->pmu && strcmp(item->name, "unc_p_clockticks") != 0 && strcmp(item->name, "bad.term") != 0
        && !strstr(item->name, "HPM_0")) {
        struct dp_pmu_event other;
        l->wrong += find(l->pmu, item->name, &ev) != 0;
        if (item->alias)
            l->wrong += find(l->pmu, item->alias, &other) != 0 || other.type != ev.type
                        || other.config != ev.config || other.config1 != ev.config1;
        l->wrong += ev.kind == DP_PMU_PERF && ev.whole_machine == item->per_thread;
    }
    if (l->wrong > before)
        printf("# wrong: %s\n", item->name);
    if (item->group >= DP_PMU_G_SYSFS && strlen(l->text) < sizeof l->text - 200)
        snprintf(l->text + strlen(l->text), 200, "%s %s %s\n", item->topic ? item->topic : "-",
                 item->name, item->event);
    return l->stop && --l->stop == 0 ? 77 : 0;
}

static void everything(struct dp_pmu *pmu)
{
    struct listed l = { .pmu = pmu };
    is_i(dp_pmu_each(pmu, false, take, &l), 0, "all that can be named");
    is_u(l.wrong, 0, "in order, and each of them is found");
    ok(l.count[0] == 4 && l.count[1] == 10 && l.count[2] == 32 && l.count[3] == 11,
       "perl's, hardware, caches, software: %zu, %zu, %zu, %zu", l.count[0], l.count[1], l.count[2],
       l.count[3]);
    ok(l.deprecated == 1 && l.whole == 4, "%zu deprecated, %zu for the whole machine", l.deprecated,
       l.whole);
    is_s(l.text,
         "- cpu/cpu-cycles/ event=0x3c\n- cycles-t event=0x3c,in_tx=1\nmemory mem-loads"
         " event=0xcd,umask=0x1,ldlat=3\n- mem-stores event=0xd0,umask=0x82\n- r1a8 event=0x12\n"
         "- topdown-total-slots event=0x3c,umask=0x0,any=1\n- hv_24x7/HPM_0/"
         " domain=2,offset=0xe0,core=?\n- msr/smi/ event=0x04\n- msr/tsc/ event=0x00\n-"
         " uncore_imc_0/data_reads/ event=0x1\n"
         "cache l1d.replacement umask=0X0f,event=0x51\ncache offcore_response.demand"
         " umask=0x1,period=100003,event=0xb7,offcore_rsp=0x10001\nfrontend frontend.dsb_miss"
         " event=0xc6,umask=0x1,frontend=0x11\n"
         "memory mem-loads event=0x1\nmemory mem_trans_retired.load_latency_gt_128"
         " umask=0x1,event=0xcd,ldlat=0x80\nother bad.term event=0x1,fc_mask=7\n"
         "other strange.all"
         " umask=0x01,cmask=1,inv=1,edge=1,any=1,period=2000003,event=0x3c\npipeline"
         " br_misp_retired.all_branches umask=0x00,period=400009,event=0xc5\n"
         "pipeline inst_retired.any event=0xc0,period=2000003\nuncore unc_m_cas"
         " event=0x4,umask=0x3\nuncore unc_p_clockticks event=0x0\n",
         "sysfs and the table, by topic");
    struct listed all = { .pmu = NULL };
    dp_pmu_each(pmu, true, take, &all);
    is_u(all.count[DP_PMU_G_TABLE], 11 + 1 + 2 + 3 + 2 + 1 + 1,
         "tables of all processors, each once");
    struct listed few = { .pmu = NULL, .stop = 60 };
    is_i(dp_pmu_each(pmu, true, take, &few), 77, "until somebody has enough");
    ok(few.count[0] + few.count[1] + few.count[2] + few.count[3] + few.count[4] == 60, "at once");
    struct dp_pmu_event ev;
    find(pmu, "inst_retired.any", &ev);
    ok(strcmp(ev.desc, "Instructions retired") == 0 && strcmp(ev.topic, "pipeline") == 0,
       "description and topic");
    find(pmu, "mem-loads", &ev);
    is_s(ev.desc, "Loads, sampled", "sysfs has none: the table's");
}

/* ---- no memory ---- */

static int count_item(void *arg, const struct dp_pmu_item *item)
{
    (void)item;
    ++*(int *)arg;
    return 0;
}

static void no_memory(void)
{
    static const char *const texts[] = { "cycles",  "inst_retired.any", "cpu/event=1/", "smi",
                                         "nothing", "cpu_atom/cycles/", "ops" };
    char dir[64];
    int wrong = 0, failures = 0;
    long live = dp_mem_live();
    sysfs_make(dir, sysfs_intel);
    for (size_t k = 0; k <= sizeof texts / sizeof *texts; k++)
        for (long at = 0;; at++) {
            struct dp_pmu *pmu;
            struct dp_pmu_where where = { "GenuineIntel-6-55-4", dir, map };
            struct dp_pmu_event ev;
            struct dp_err err;
            int items = 0;
            dp_err_init(&err);
            dp_mem_fail_after(at);
            int rc = dp_pmu_new(&pmu, &where);
            bool made = rc == 0;
            if (made)
                rc = k < sizeof texts / sizeof *texts
                         ? dp_pmu_find(pmu, texts[k], strlen(texts[k]), &ev, &err)
                         : dp_pmu_each(pmu, true, count_item, &items);
            dp_mem_fail_after(-1);
            wrong += (rc == DP_E_NOMEM) && made && k < sizeof texts / sizeof *texts
                     && err.code != DP_E_NOMEM;
            /* what failed once is well the next time */
            if (rc == DP_E_NOMEM && made && k < sizeof texts / sizeof *texts)
                wrong += dp_pmu_find(pmu, texts[k], strlen(texts[k]), &ev, NULL) == DP_E_NOMEM;
            if (rc == DP_E_NOMEM && made && k < 4) {
                int all = 0;
                wrong += dp_pmu_each(pmu, true, count_item, &all) != 0 || all != 88
                         || pmu->devs.core->n_formats != 12;
            }
            dp_pmu_free(pmu);
            wrong += dp_mem_live() != live;
            failures += rc == DP_E_NOMEM;
            if (rc != DP_E_NOMEM)
                break;
        }
    sysfs_remove(dir, sysfs_intel);
    ok(wrong == 0 && failures > 50, "no memory at %d places: %d wrong", failures, wrong);
}

static void events(void)
{
    struct dp_pmu *bare = on("GenuineIntel-6-55-4", NULL);
    EXPECT(bare, everywhere);
    EXPECT(bare, virtual_intel);
    MACHINE("GenuineIntel-6-55-4", sysfs_intel, EXPECT(pmu_, everywhere); EXPECT(pmu_, on_intel);
            modifiers(pmu_); user_only(pmu_); errors(pmu_); random_bits(pmu_); attributes(pmu_);
            refusals(pmu_, bare); everything(pmu_));
    MACHINE("AuthenticAMD-25-1-1", sysfs_amd, EXPECT(pmu_, on_amd));
    MACHINE("0x00000000410fd080", sysfs_arm, EXPECT(pmu_, on_arm));
    MACHINE("GenuineIntel-6-97-2", sysfs_hybrid, EXPECT(pmu_, on_hybrid));
    MACHINE("IBM,2964,702,N96,3.5,002f", sysfs_s390, EXPECT(pmu_, on_s390));
    MACHINE("AuthenticAMD-25-1-1", sysfs_none, EXPECT(pmu_, virtual_amd));
    MACHINE("GenuineIntel-6-97-2", sysfs_none, EXPECT(pmu_, virtual_hybrid));
    MACHINE("0x00000000410fd080", sysfs_none, EXPECT(pmu_, virtual_arm));
    MACHINE("004b0201", sysfs_none, EXPECT(pmu_, virtual_power));
    dp_pmu_free(bare);
    errors_elsewhere();
    no_memory();
}

int main(void)
{
    lists();
    distances();
    struct dp_pmu *pmu = on(NULL, NULL);
    struct dp_pmu_event ev;
    perls_own(pmu);
    if (DP_PMU_HAS_PERF)
        events();
    else
        ok(find(pmu, "cycles", &ev) == DP_E_ARG
               && strstr(message, "this system has no perf events"),
           "%s", message);
    dp_pmu_free(pmu);
    is_i(dp_mem_live(), 0, "nothing is left behind");
    return tap_done();
}
