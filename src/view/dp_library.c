#include "dp_library.h"
#include "dp_text.h"

#include <string.h>

bool dp_library_is_core(const char *ptr, size_t len)
{
    static const char *const folders[] = { "/perl/5.", "/perl5/5.", "/perl-base/", "/lib/5." };
    if (dp_text_holds(ptr, len, "site_perl") || dp_text_holds(ptr, len, "vendor_perl")
        || dp_text_holds(ptr, len, "/local/"))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (dp_text_holds(ptr, len, folders[i]))
            return true;
    return false;
}

/* Is the package one of these, or below one of them? bin/dprofreport lists them. */
static bool is_of_library(const struct dp_name *package)
{
    static const char *const names[] = {
        "DBI", "DBD", "DBIx", "LWP", "HTTP", "Net", "Mojo", "Mojolicious", "Template",
        "Text::Xslate", "HTML::Template", "HTML::Mason", "Mason", "IPC"
    };
    for (size_t i = 0; i < DP_ARRAY_LEN(names); i++) {
        size_t n = strlen(names[i]);
        if (package->len >= n && memcmp(package->ptr, names[i], n) == 0
            && (package->len == n
                || (package->len > n + 2 && memcmp(package->ptr + n, "::", 2) == 0)))
            return true;
    }
    return false;
}

bool dp_library_has(const struct dp_subs *subs, uint32_t n)
{
    const struct dp_sub *sub = &subs->subs[n];
    const struct dp_name *file = dp_subs_text(subs, sub->file);
    return dp_subs_has_no_lines(sub) || dp_library_is_core(file->ptr, file->len)
        || is_of_library(dp_subs_text(subs, sub->package));
}
