/* XSUB declarations only: each unpacks, makes one call, converts, returns.
 * The recorder's side and the analyzers' side meet nowhere but in the file. */
#include "dpx.h"

MODULE = Devel::DProf    PACKAGE = Devel::DProf

PROTOTYPES: DISABLE

INCLUDE: xs/recorder.xsi

INCLUDE: xs/profile.xsi

INCLUDE: xs/report.xsi

INCLUDE: xs/stacks.xsi

INCLUDE: xs/list.xsi
