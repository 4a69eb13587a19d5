/* Is the perl that has loaded this object the one that it was built for?
 *
 * A perl of another version, or configured otherwise, has other structures. perl's own check comes
 * too late: it runs in the boot function and ends the process, and it does not distinguish perls
 * that differ in assertions or in a reference-counted stack. So this check runs before, and calls
 * nothing of perl's: no header of perl is included here, and everything that is declared is data,
 * or is never called.
 *
 * What this relies on: PL_bincompat_options, PL_revision, PL_version and PL_subversion are data
 * of every perl since 5.10. Only perls with assertions have Perl_hv_assert; only those with a
 * reference-counted stack have Perl_runops_wrap. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "dpx_fit.h"

/* Every perl since 5.10 has these. A blank stands before each of the options. */
extern const char PL_bincompat_options[];
extern const unsigned char PL_revision, PL_version, PL_subversion;

/* Perls with assertions have the first, perls with a reference-counted stack the second. Systems
 * without ELF have other ways to declare an object that may be absent; there, neither is tested. */
#ifdef __ELF__
extern void Perl_hv_assert(void) __attribute__((weak));
extern void Perl_runops_wrap(void) __attribute__((weak));
#endif

/* Makefile.PL's description of the perl that runs it: "perl 5.36.0,DEBUGGING,HAS_TIMES,..." */
static const char built_for[] = "perl " DPX_BUILT_FOR;

/* Steps over text, if it comes next. */
static bool next_is(const char **p, const char *text)
{
    size_t len = strlen(text);
    if (strncmp(*p, text, len) != 0)
        return false;
    *p += len;
    return true;
}

bool dpx_fits(void)
{
    const char *p = built_for;
    char version[40];
    snprintf(version, sizeof version, "perl %d.%d.%d", PL_revision, PL_version, PL_subversion);
    if (!next_is(&p, version))
        return false;
    bool debugging = next_is(&p, ",DEBUGGING"), counts = next_is(&p, ",PERL_RC_STACK");
#ifdef __ELF__
    if (debugging != (Perl_hv_assert != NULL) || counts != (Perl_runops_wrap != NULL))
        return false;
#else
    (void)debugging, (void)counts;
#endif
    for (const char *q = PL_bincompat_options; *q; p++, q++)
        if (*p != (*q == ' ' ? ',' : *q))
            return false;
    return !*p;
}
