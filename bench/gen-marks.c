/* Writes a trace of a number of marks, each with an `@` line, of a made-up program. Every sub has a
 * body of calls, some in loops, some under a condition; some subs recurse. Times are from a
 * microsecond to a millisecond. The same seed gives the same bytes. Usage: gen-marks [marks [seed]]
 * > tmon.out */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 9, LAYER = 40, SUBS = LAYERS * LAYER, DEPTH = 24, BODY = 5 };

struct call { int sub, times, percent; };
struct frame { int sub, at, left; };

static struct call body[SUBS][BODY];
static struct frame stack[DEPTH + 1];
static uint64_t state;

static uint32_t rnd(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(((state >> 33) * n) >> 31);
}

/* Subs are in layers and call subs of the next layers; subs of the last layer are leaves. */
static void make_bodies(void)
{
    for (int i = 0; i < SUBS; i++)
        for (int k = 0; k < BODY; k++) {
            int layer = i / LAYER + 1 + (int)(k > 1 ? rnd(3) : 0);
            struct call *c = &body[i][k];
            c->sub = layer >= LAYERS || k >= 2 + (int)rnd(BODY - 1) ? -1
                : layer * LAYER + (int)rnd(LAYER);
            if (i % 16 == 15 && k == 1)
                c->sub = i;
            c->times = c->sub == i || rnd(3) ? 1 : 2 + (int)rnd(8);
            c->percent = c->sub == i ? 40 : rnd(4) ? 100 : 20 + (int)rnd(60);
        }
}

/* Returns the sub that the frame calls next, or -1 when it is done. */
static int next_call(struct frame *f)
{
    while (f->at < BODY) {
        struct call *c = &body[f->sub][f->at];
        if (f->left > 0 && c->sub >= 0) {
            f->left--;
            return c->sub;
        }
        if (++f->at < BODY) {
            c++;
            f->left = c->sub >= 0 && (int)rnd(100) < c->percent ? c->times : 0;
        }
    }
    return -1;
}

int main(int argc, char **argv)
{
    uint64_t marks = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 42;
    uint64_t user = 0, sys = 0, real = 0;
    static char named[SUBS], buf[1 << 16];
    int depth = 0;
    setvbuf(stdout, buf, _IOFBF, sizeof buf);
    make_bodies();
    printf("#fOrTyTwO\n$hz=10000000;\n$XS_VERSION='DProf 20261120.00';\n"
           "# All values are given in HZ\n$over_utime=0; $over_stime=0; $over_rtime=0;\n"
           "$over_tests=10000;\n$dprof_format='trace 1';\n");
    long gap = ftell(stdout);
    printf("%240s\n\nPART2\n", "");
    for (uint64_t m = 0; m < marks; m++) {
        uint32_t u = rnd(8) ? 5 + rnd(120) : 100 + rnd(9000), s = rnd(20) ? 0 : rnd(80);
        uint32_t r = u + s + rnd(30);
        int at = -1;
        if ((uint64_t)depth < marks - m && depth < DEPTH)
            at = depth ? next_call(&stack[depth]) : (int)rnd(3);
        printf("@ %u %u %u\n", u, s, r);
        user += u, sys += s, real += r;
        if (at >= 0) {
            if (!named[at])
                printf("& %x Package%02d function_%d lib/Package%02d.pm:%d\n",
                       at + 2, at % 20, at, at % 20, at * 7);
            named[at] = 1;
            printf("+ %x\n", at + 2);
            stack[++depth] = (struct frame){ at, 0, body[at][0].sub >= 0 ? body[at][0].times : 0 };
        } else {
            printf("- %x\n", stack[depth--].sub + 2);
        }
    }
    if (gap > 0 && fseek(stdout, gap, SEEK_SET) == 0)
        printf("$rrun_utime=%llu; $rrun_stime=%llu; $rrun_rtime=%llu; $total_marks=%llu;",
               (unsigned long long)user, (unsigned long long)sys, (unsigned long long)real,
               (unsigned long long)marks);
    return 0;
}
