/* Translates names of subs as Devel::NYTProf writes them. */
#ifndef DP_NYTPROF_NAME_H
#define DP_NYTPROF_NAME_H

#include "dp_reader.h"

/* Fills in package and name as we write them. Additions of NYTProf become the place:
 * Pkg::__ANON__[FILE:LINE], Pkg::BEGIN@LINE. Pkg::CORE:print becomes a builtin with the name of its
 * op. All texts are borrowed from name, or constant. */
void dp_nytprof_name(struct dp_subdef *def, struct dp_text name);

/* The name of a file. (eval 3)[FILE:LINE], a string eval and its place, is (eval 3) in our
 * files. */
struct dp_text dp_nytprof_file(struct dp_text file);

#endif
