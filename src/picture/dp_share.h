/* The files of share/ that pictures and pages contain, compiled in.
 *
 * tools/embed.c makes dp_share.c from these files when one of them changes. It writes the bytes as
 * C, and the SHA-256 that a page's Content-Security-Policy names, so that a browser runs nothing
 * else. tools/join.c makes the page's script, dp_page.js, from the modules in share/page/. Nothing
 * in share/ is installed, fetched or minified. */
#ifndef DP_SHARE_H
#define DP_SHARE_H

#include "dp_base.h"

struct dp_share {
    const char *ptr;
    size_t len;
    const char *sha256;         /* in base64 */
};

extern const struct dp_share dp_share_svg_css, dp_share_svg_js;
extern const struct dp_share dp_share_page_html, dp_share_page_css, dp_share_page_js;

#endif
