/* One question about UTF-8, asked by everything that shows or escapes bytes. */
#ifndef PP_UTF8_H
#define PP_UTF8_H

#include <stddef.h>

/* Length of the well-formed UTF-8 sequence at the start of n > 0 bytes (1 … 4), or 0 when there is
 * none: over-long forms, surrogates and code points above U+10FFFF are not well-formed. */
size_t pp_utf8_length(const char *bytes, size_t n);

#endif
