/* The files of share/, compiled in: tools/embed.c makes dp_share.c of them. */
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
