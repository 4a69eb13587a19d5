/* The file of a process or thread: its name, header and end, and the files beside it while the
 * process lives. */
#ifndef DPX_FILE_H
#define DPX_FILE_H

#include "dpx.h"

/* The program's name, as its $0 is now; never NULL. The string is perl's. */
const char *dpx_file_script(pTHX);

/* Opens this process' or thread's file and writes its header. Returns 0 or an
 * error code with the detail in err. */
int dpx_file_open(pTHX_ struct dpx_ctx *ctx, struct dp_err *err);

/* Prepares the same for later: now it only finds out whether the file could be opened, and keeps
 * the header. Until dpx_file_begin the disk has no file of this run, and an older profile stays: a
 * perl that only compiles, or fails to, is no run. An event that needs the file earlier, such as a
 * full buffer, makes it. Returns 0 or a DP_E. */
int dpx_file_prepare(pTHX_ struct dpx_ctx *ctx, struct dp_err *err);

/* Makes a file that was only prepared, and the files beside it; does nothing otherwise. To be
 * called between an arrival and a leaving, so that its time, waiting included, is the recorder's
 * own. */
void dpx_file_begin(struct dpx_ctx *ctx);

/* Makes the recorder's memory beside the file. Returns 0 or DP_E_NOMEM. */
int dpx_file_open_live(struct dpx_ctx *ctx);

/* Makes the recorder's memory beside the file of the next slice, after the memory of the slice
 * before was released. Returns 0 or DP_E_NOMEM. */
int dpx_file_renew_live(struct dpx_ctx *ctx);

/* For a slice: writes the tree behind the header, and completes the header. Returns false, with a
 * message and the file as it was, if there is no room. */
bool dpx_file_write_tree(struct dpx_ctx *ctx, struct dp_err *err);

/* The writer's sink, which returns 0 or a DP_E, and the recorder's callback after a window was
 * written; the argument is the struct dpx_ctx. */
int dpx_file_sink(void *arg, const char *ptr, size_t len);
void dpx_file_flushed(void *arg);

/* Keep the & line of an id, or the call site of a number, in memory that outlives the process. */
void dpx_file_keep_name(struct dpx_ctx *ctx, U32 id);
void dpx_file_keep_site(struct dpx_ctx *ctx, U32 site);

/* Keeps all known lines and sites, in memory that was made anew. */
void dpx_file_keep_all(struct dpx_ctx *ctx);

/* Brings the file up to date; the recorder calls it with the struct dpx_ctx. Gives no message if
 * that is impossible, as the end is still to come. */
void dpx_file_save(void *arg);

/* Writes everything that is not written yet: the writer's pending text, the tree. */
void dpx_file_rest(struct dpx_ctx *ctx);

/* Puts the values known so far into the header; the recording goes on. */
void dpx_file_trailer(struct dpx_ctx *ctx);

/* Writes the last lines of a trace, and completes the header. All marks, or the tree, are in the
 * file. */
void dpx_file_end(struct dpx_ctx *ctx);

#endif
