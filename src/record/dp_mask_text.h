/* Paths, URLs and commands without the values in them: numbers, identifiers, queries, arguments. */
#ifndef DP_MASK_TEXT_H
#define DP_MASK_TEXT_H

#include "dp_base.h"
#include "dp_buf.h"

/* These functions take len bytes, which may be any, in linear time. When memory is short, to->err
 * says so. */

/* Appends a path of a file or a URL, with `*` for each UUID and for each token that is a value.
 * A token is a run of letters, digits, bytes beyond ASCII and escapes like %20. It is a value if it
 * has 16 characters or more and both letters and digits, or if one of its parts between escaped
 * punctuation has digits alone, or 8 hexadecimal digits or more, one of them from 0 to 9. */
void dp_mask_path(struct dp_buf *to, const char *path, size_t len);

/* Appends scheme://host[:port]/path, with the scheme and the host in lower case and the path
 * masked; the user, the query and the fragment are left out. `*` stands for a host and port that
 * cannot be such. Leading white space does not count. Another text is masked like a path up to the
 * first `?` or `#`; if it has a `:` before an `@`, as before a password, only what follows the last
 * `@` is taken. */
void dp_mask_url(struct dp_buf *to, const char *url, size_t len);

/* Appends the name of the program that a command of the shell starts: the last component of its
 * path, masked. What comes before the program is skipped: VAR=value, and exec, env, nice, time and
 * command with those of their options that are known. Arguments never get into the name:
 * `(shell)` stands for a command that begins with syntax of the shell, and for one without a
 * program. The elements of a list, as in system(LIST), are no command. */
void dp_command_name(struct dp_buf *to, const char *command, size_t len);

#endif
