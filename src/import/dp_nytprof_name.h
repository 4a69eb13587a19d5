/* Names of subs as Devel::NYTProf writes them. */
#ifndef DP_NYTPROF_NAME_H
#define DP_NYTPROF_NAME_H

#include "dp_reader.h"

/* Fills in package and name, as we write them. What NYTProf's names have beside that becomes the
 * place: Pkg::__ANON__[FILE:LINE], Pkg::BEGIN@LINE. Pkg::CORE:print is a builtin, by its op's name.
 * All texts are borrowed from name, or constant. */
void dp_nytprof_name(struct dp_subdef *def, struct dp_text name);

/* (eval 3)[FILE:LINE], a string eval and where it stands, is (eval 3) for us. */
struct dp_text dp_nytprof_file(struct dp_text file);

#endif
