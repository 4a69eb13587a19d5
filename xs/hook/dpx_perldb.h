/* -d:DProf in an interpreter that is not the first one of its process. */
#ifndef DPX_PERLDB_H
#define DPX_PERLDB_H

#include "dpx.h"

/* Makes interpreters of this process start the recorder from now on if their switches, or PERL5OPT,
 * have -d:DProf. Calls after the first one do nothing. */
void dpx_perldb_install(pTHX);

/* Do perls that this process starts record, because PERL5OPT says so? */
bool dpx_perldb_goes_on(void);

#endif
