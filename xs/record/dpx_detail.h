/* detail=: which subs of libraries tell what time was spent on, such as the statement of an SQL
 * database. This file has the list of these subs, and finds them when they get their names. */
#ifndef DPX_DETAIL_H
#define DPX_DETAIL_H

#include "dpx.h"

/* The kinds, in the order of the manual: X(id, word, in the bare option). */
#define DPX_DETAIL_KINDS(X) \
    X(SQL, "sql", true) X(HTTP, "http", true) X(TEMPLATE, "template", true) \
    X(COMMAND, "command", true) X(FILE, "file", false) X(REGEX, "regex", false)

enum dpx_detail_kind {
#define KIND(id, word, bare) DPX_DETAIL_##id,
    DPX_DETAIL_KINDS(KIND)
#undef KIND
    DPX_DETAIL_COUNT
};

/* Where a sub has what it is about:
 *
 *     HANDLE      the statement handle it is called on
 *     FETCH       the same; the call gives rows and is no execution
 *     STATEMENT   the first argument, an SQL text or a statement handle
 *     PREPARE     the first argument, an SQL text that is only prepared
 *     NAME        the sub's own name
 *     REQUEST     the first argument, an HTTP::Request
 *     ADDRESS     the first two arguments, a method and a URL
 *     MOJO        the first argument, a Mojo::Transaction; a second one, unless it is undefined, is
 *                 called later, and the call is no span
 *     SOCKET      the connection it is called on, and the first two arguments, a method and a path
 *     RESPONSE    the request that was last sent on the connection; the call goes on with it
 *     FILE        the first argument, the name of a template
 *     TEXT        nowhere: the template is a text
 *     SELF        the object, under `name`
 *     RENDERER    the third argument, the options of a renderer of Mojolicious
 *     OPTIONS     the object's options, under `filename`
 *     COMPONENT   the first argument, or the second if the first has options: a component of Mason
 *     FOURTH      the fourth argument, and those after it: a command
 *     THIRD       the third argument, and those after it: a command
 *     COMMAND     the first argument: a command, or a reference to its words */
enum dpx_subject_of {
    DPX_OF_HANDLE, DPX_OF_FETCH, DPX_OF_STATEMENT, DPX_OF_PREPARE, DPX_OF_NAME,
    DPX_OF_REQUEST, DPX_OF_ADDRESS, DPX_OF_MOJO, DPX_OF_SOCKET, DPX_OF_RESPONSE,
    DPX_OF_FILE, DPX_OF_TEXT, DPX_OF_SELF, DPX_OF_RENDERER, DPX_OF_OPTIONS, DPX_OF_COMPONENT,
    DPX_OF_FOURTH, DPX_OF_THIRD, DPX_OF_COMMAND
};

/* The subs: X(kind, package, name, where). */
#define DPX_DETAIL_SUBS(X) \
    X(SQL, "DBI::st", "execute", HANDLE) \
    X(SQL, "DBI::st", "fetch", FETCH) X(SQL, "DBI::st", "fetchrow", FETCH) \
    X(SQL, "DBI::st", "fetchrow_array", FETCH) X(SQL, "DBI::st", "fetchrow_arrayref", FETCH) \
    X(SQL, "DBI::st", "fetchrow_hashref", FETCH) X(SQL, "DBI::st", "fetchall_arrayref", FETCH) \
    X(SQL, "DBI::st", "fetchall_hashref", FETCH) \
    X(SQL, "DBI::db", "do", STATEMENT) \
    X(SQL, "DBI::db", "selectrow_array", STATEMENT) \
    X(SQL, "DBI::db", "selectrow_arrayref", STATEMENT) \
    X(SQL, "DBI::db", "selectrow_hashref", STATEMENT) \
    X(SQL, "DBI::db", "selectall_array", STATEMENT) \
    X(SQL, "DBI::db", "selectall_arrayref", STATEMENT) \
    X(SQL, "DBI::db", "selectall_hashref", STATEMENT) \
    X(SQL, "DBI::db", "selectcol_arrayref", STATEMENT) \
    X(SQL, "DBI::db", "prepare", PREPARE) X(SQL, "DBI::db", "prepare_cached", PREPARE) \
    X(SQL, "DBI::db", "begin_work", NAME) X(SQL, "DBI::db", "commit", NAME) \
    X(SQL, "DBI::db", "rollback", NAME) \
    X(HTTP, "LWP::UserAgent", "simple_request", REQUEST) \
    X(HTTP, "HTTP::Tiny", "_request", ADDRESS) \
    X(HTTP, "Mojo::UserAgent", "start", MOJO) \
    X(HTTP, "Net::HTTP::Methods", "write_request", SOCKET) \
    X(HTTP, "Net::HTTP::Methods", "read_response_headers", RESPONSE) \
    X(HTTP, "Net::HTTP::Methods", "read_entity_body", RESPONSE) \
    X(TEMPLATE, "Template::Document", "process", SELF) \
    X(TEMPLATE, "Mojolicious::Renderer", "_render_template", RENDERER) \
    X(TEMPLATE, "Mojo::Template", "render_file", FILE) \
    X(TEMPLATE, "Mojo::Template", "render", TEXT) \
    X(TEMPLATE, "Text::Xslate::Engine", "render", FILE) \
    X(TEMPLATE, "Text::Xslate::Engine", "render_string", TEXT) \
    X(TEMPLATE, "Text::Xslate::PP", "render", FILE) \
    X(TEMPLATE, "HTML::Template", "output", OPTIONS) \
    X(TEMPLATE, "HTML::Mason::Request", "comp", COMPONENT) \
    X(COMMAND, "IPC::Open3", "open3", FOURTH) X(COMMAND, "IPC::Open2", "open2", THIRD) \
    X(COMMAND, "IPC::Run", "run", COMMAND)

struct dpx_detail_sub {
    enum dpx_detail_kind kind;
    char package[24], name[24];         /* no pointers, which the loader would have to move */
    enum dpx_subject_of of;
};

/* Sets dpx_run.detail from the words of the option, separated by `+`; NULL: none. Returns 0 or
 * DP_E_ARG. */
int dpx_detail_choose(const char *words, struct dp_err *err);

/* The word of a kind. */
const char *dpx_detail_word(enum dpx_detail_kind kind);

/* Is this the name of a sub in the list, of a kind that is wanted? Either may be NULL. */
bool dpx_detail_has(const HEK *package, const HEK *name);

/* The same for a sub that gets an id. If it is, remembers its code: the CV of an XS sub, or the
 * first op. id: its own, or 0. Returns false, too, if memory is short. */
bool dpx_detail_note(struct dpx_ctx *ctx, const HEK *package, const HEK *name, UV code, U32 id);

/* The row and the id of code that was noted; NULL: it was not. */
const struct dpx_detail_sub *dpx_detail_find(struct dpx_ctx *ctx, UV code, U32 *id);

#endif
