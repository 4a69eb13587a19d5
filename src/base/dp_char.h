/* Classes of ASCII characters, which do not depend on the locale. */
#ifndef DP_CHAR_H
#define DP_CHAR_H

#include "dp_base.h"

DP_INLINE bool dp_is_blank(char c) { return c == ' ' || c == '\t'; }
/* Is it a separator of words within a line? */
DP_INLINE bool dp_is_space(char c) { return dp_is_blank(c) || c == '\r' || c == '\f'; }
DP_INLINE bool dp_is_digit(char c) { return c >= '0' && c <= '9'; }
DP_INLINE bool dp_is_lower(char c) { return c >= 'a' && c <= 'z'; }
DP_INLINE bool dp_is_upper(char c) { return c >= 'A' && c <= 'Z'; }
DP_INLINE bool dp_is_letter(char c) { return dp_is_lower(c) || dp_is_upper(c); }
/* Letters, digits and the underscore. */
DP_INLINE bool dp_is_word(char c) { return dp_is_letter(c) || dp_is_digit(c) || c == '_'; }

#endif
