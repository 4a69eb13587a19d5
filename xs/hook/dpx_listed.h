/* Calls of subs that dpx_detail.h lists, while only samples are taken. */
#ifndef DPX_LISTED_H
#define DPX_LISTED_H

#include "dpx.h"

/* Hooks calls and goto, once for the process, and the builtins that detail= asks for. */
void dpx_listed_install(void);

/* The function that entersub or goto ran before; NULL: it is not hooked. */
Perl_ppaddr_t dpx_listed_original(Optype type);

#endif
