/* The two signals that a recording handles where options name them: one has the file written
 * (signal=), the other stops recording and starts it again (toggle=).
 *
 * What this relies on: perl looks at PL_sig_pending between statements, and calls PL_signalhook
 * then. Threads inherit both from the thread that makes them. */
#include "dpx_signal.h"
#include "dpx_control.h"
#include "dpx_life.h"
#include "dp_err.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

static struct sigaction save_before, toggle_before;

/* ---- saving ---- */

/* Notes that a signal has come. Only sets flags, because it may interrupt anything; the next event
 * of each interpreter sees them. */
static void on_signal(int number)
{
    PERL_UNUSED_ARG(number);
    for (struct dpx_ctx *ctx = __atomic_load_n(&dpx_run.all, __ATOMIC_ACQUIRE); ctx;
         ctx = ctx->next)
        dp_rec_want(&ctx->rec);
}

/* ---- switching ---- */

/* Recording stops or starts where perl would run a handler of %SIG: there the frames agree with the
 * program's, and without a signal calls cost nothing more. Perl tests PL_sig_pending between ops,
 * and calls PL_signalhook. */
static despatch_signals_proc_t orig_signalhook;

/* The handler of the signal that starts and stops recording: counts it, and makes some perl reach
 * its safe point, where follow_toggle() acts. */
static void on_toggle(int number)
{
    PERL_UNUSED_ARG(number);
    if (!orig_signalhook)
        return;                 /* nothing is recorded */
    __atomic_add_fetch(&dpx_run.toggles, 1, __ATOMIC_SEQ_CST);
#ifdef DPX_MULTIPLICITY
    PerlInterpreter *my_perl = PERL_GET_THX;
    const struct dpx_ctx *ctx = __atomic_load_n(&dpx_run.all, __ATOMIC_ACQUIRE);
    for (; ctx && !my_perl; ctx = ctx->next)    /* no perl runs in this thread */
        my_perl = ctx->thx;
    if (!my_perl)
        return;
#endif
    PL_sig_pending = 1;
}

/* Sets the flag of the other interpreters after one has seen the signal. No interpreter ends
 * meanwhile: its state leaves the list under the lock before that. */
static void wake_others(const struct dpx_ctx *me, unsigned come)
{
#ifdef DPX_MULTIPLICITY
    pthread_mutex_lock(&dpx_run.lock);
    for (const struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next) {
        PerlInterpreter *my_perl = ctx->thx;
        if (ctx != me && my_perl && ctx->toggles != come)
            PL_sig_pending = 1;
    }
    pthread_mutex_unlock(&dpx_run.lock);
#else
    PERL_UNUSED_ARG(me);
    PERL_UNUSED_ARG(come);
#endif
}

/* Starts or stops recording at a safe point if the signal has come an odd number of times since the
 * last one, and then lets perl handle its signals. errno stays. */
static void follow_toggle(pTHX)
{
    struct dpx_ctx *ctx = dpx_life_known(aTHX);
    unsigned come = __atomic_load_n(&dpx_run.toggles, __ATOMIC_SEQ_CST);
    if (ctx && !ctx->block.runs && ctx->toggles != come) {
        int why = errno;
        bool odd = (come - ctx->toggles) & 1;
        ctx->toggles = come;
        wake_others(ctx, come);
        if (odd && ctx->rec.paused)
            dpx_control_start(ctx);
        else if (odd)
            dpx_control_stop(ctx);
        errno = why;
    }
    /* Perl makes PL_psig_pend, its list of signals, with the first entry of %SIG, and follows the
     * pointer unchecked. So perl's own function is called only if there is a list; otherwise only
     * the flag is cleared, which that function does first. Another module's function is always
     * called. */
    if (PL_psig_pend || orig_signalhook != Perl_despatch_signals)
        orig_signalhook(aTHX);
    else
        PL_sig_pending = 0;
    if (__atomic_load_n(&dpx_run.toggles, __ATOMIC_SEQ_CST) != come)
        PL_sig_pending = 1;     /* the signal came once more, and this flag was cleared */
}

/* ---- the guard ---- */

/* The handler of SIGBUS. The recorder's memory is a mapped file, and the kernel raises SIGBUS in a
 * thread that touches it after the file was truncated (by a log rotation, an editor). That ends the
 * recording, not the program. */
static void on_bus(int number, siginfo_t *info, void *where)
{
    static const struct sigaction as_ever;      /* SIG_DFL */
    int why = errno;
    struct dpx_ctx *ctx = __atomic_load_n(&dpx_run.all, __ATOMIC_ACQUIRE);
    PERL_UNUSED_ARG(where);
    bool touched = info->si_code == BUS_ADRERR;
    while (ctx && !(touched && dp_live_lose(&ctx->live, info->si_addr)))
        ctx = ctx->next;
    if (ctx) {
        ctx->writer.err = DP_E_IO;      /* the write in progress stops */
        dp_rec_trip(&ctx->rec);
    } else {
        sigaction(number, &as_ever, NULL);
        if (!touched)
            raise(number);              /* the signal was sent; otherwise the access is repeated */
    }
    errno = why;
}

/* Sets or removes on_bus. If the program's parent has SIGBUS ignored, it stays so: programs that
 * this one starts inherit that. */
static void guard_bus(bool on)
{
    struct sigaction act, now;
    if (sigaction(SIGBUS, NULL, &now) < 0)
        return;
    bool ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus;
    if (on ? (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL : !ours)
        return;
    memset(&act, 0, sizeof act);
    sigemptyset(&act.sa_mask);
    if (on) {
        act.sa_sigaction = on_bus;
        act.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    }
    sigaction(SIGBUS, &act, NULL);
}

/* ---- all ---- */

/* Sets the handler of a signal, and keeps the one before. Does nothing for the number 0. */
static void install_handler(int number, void (*handler)(int), struct sigaction *before)
{
    struct sigaction act;
    if (!number)
        return;
    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigemptyset(&act.sa_mask);
    sigaction(number, &act, before);
}

void dpx_signal_install(void)
{
    install_handler(dpx_run.signal, on_signal, &save_before);
    install_handler(dpx_run.toggle, on_toggle, &toggle_before);
    guard_bus(true);
}

void dpx_signal_restore(void)
{
    if (dpx_run.signal)
        sigaction(dpx_run.signal, &save_before, NULL);
    if (dpx_run.toggle)
        sigaction(dpx_run.toggle, &toggle_before, NULL);
    guard_bus(false);
}

void dpx_signal_follow(pTHX)
{
    if (!dpx_run.toggle)
        return;
    orig_signalhook = PL_signalhook;    /* threads inherit it */
    PL_signalhook = follow_toggle;
}

/* The number of the signal that the option names; 0: none. */
static int find_signal(pTHX_ const char *option, const char *name)
{
    if (!name)
        return 0;
    struct sigaction act;
    const char *bare = strnEQ(name, "SIG", 3) ? name + 3 : name;
    I32 number = whichsig_pv(bare);
    if (number <= 0)
        Perl_croak(aTHX_ "DProf: %s=%s: there is no such signal; USR1 and USR2 are usually free\n",
                   option, name);
    if (number == SIGKILL || number == SIGSTOP || sigaction(number, NULL, &act) < 0)
        Perl_croak(aTHX_ "DProf: %s=%s: a program cannot catch that; take USR1 or USR2\n", option,
                   name);
    return number;
}

void dpx_signal_choose(pTHX)
{
    const struct dpx_options *opt = &dpx_run.opt;
    dpx_run.signal = find_signal(aTHX_ "signal", opt->signal);
    dpx_run.toggle = dpx_run.blocks_only ? 0 : find_signal(aTHX_ "toggle", opt->toggle);
    if (dpx_run.toggle && dpx_run.toggle == dpx_run.signal)
        Perl_croak(aTHX_ "DProf: signal=%s and toggle=%s are one signal; take USR1 and USR2\n",
                   opt->signal, opt->toggle);
}
