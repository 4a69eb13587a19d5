#include "dpx_snapshot.h"
#include "dpx_life.h"
#include "dpx_say.h"
#include "dp_char.h"
#include "dp_io.h"

#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MOST = 100, PIECE = 1 << 14 };

/* Copies a file that is whole. Returns 0 or a DP_E, with a message in err. */
static int copy_file(const char *from, const char *to, struct dp_err *err)
{
    char piece[PIECE];
    struct dp_outfile out;
    struct stat st;
    ssize_t n;
    int in = dp_io_open_regular(from, DP_IO_NOFOLLOW, &st);
    if (in < 0)
        return dp_err_set(err, DP_E_IO, "%s: %s", from, strerror(errno));
    dp_outfile_init(&out);
    int rc = dp_outfile_open(&out, to, DP_OUT_NOFOLLOW, err);
    while (rc == 0 && (n = read(in, piece, sizeof piece)) != 0)
        rc = n > 0 ? dp_outfile_write(&out, piece, (size_t)n, err)
             : errno == EINTR ? 0 : dp_err_set(err, DP_E_IO, "%s: %s", from, strerror(errno));
    dp_outfile_close(&out);
    close(in);
    return rc;
}

/* The name of a snapshot's file. */
static void add_path(struct dp_buf *to, const char *file, const char *name, size_t len)
{
    dp_buf_addf(to, "%s-", file);
    for (size_t i = 0; i < len && i < NAME_MOST; i++)
        dp_buf_addc(to, dp_is_word(name[i]) || name[i] == '.' ? name[i] : '_');
}

bool dpx_snapshot_write(pTHX_ struct dpx_ctx *ctx, const char *name, size_t len)
{
    struct dp_err err;
    struct dp_buf path;
    int why = errno, rc = DP_E_IO;
    PERL_UNUSED_CONTEXT;
    if (!dpx_run.opt.heap || !len || dpx_run.opt.spool)     /* a slice is a snapshot already */
        return false;
    dp_err_init(&err);
    dp_buf_init(&path);
    dpx_life_before_exec();
    if (ctx->state == DPX_EXEC) {
        add_path(&path, ctx->out.path, name, len);
        rc = path.err ? path.err : copy_file(ctx->out.path, dp_buf_cstr(&path), &err);
        dpx_life_after_exec(ctx);
        if (rc < 0)
            dpx_say("DProf: %s; there is no snapshot", err.code ? err.message : dp_err_text(rc));
    }
    dp_buf_release(&path);
    errno = why;
    return rc == 0;
}
