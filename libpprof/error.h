/* Why something failed, in a struct that the caller owns. Nothing here allocates or prints.
 *
 * Convention of the whole library: functions return 0 or -1 (or a pointer, or NULL), fill *err on
 * failure, and set out parameters only on success. err may not be NULL. The first failure wins: a
 * later pp_fail on a filled struct changes nothing, so that cleanup cannot hide the cause. */
#ifndef PP_ERROR_H
#define PP_ERROR_H

#include "libpprof/base.h"

enum pp_code {
	PP_OK = 0,
	PP_EFORMAT,      /* malformed input: not what the format allows */
	PP_EUNSUPPORTED, /* recognised, and not readable by this version */
	PP_ELIMIT,       /* over a limit of struct pp_limits */
	PP_EOVERFLOW,    /* a sum does not fit 64 bits */
	PP_EINCOMPAT,    /* inputs that cannot be put together: types, units, periods */
	PP_EUSAGE,       /* the request names something that the input does not have */
	PP_ENOMEM,       /* the system gave no memory */
	PP_EIO           /* the source or the sink failed; text holds the system's reason */
};

#define PP_NO_OFFSET UINT64_MAX

struct pp_error {
	enum pp_code code;
	uint64_t offset; /* in the unpacked input (of gzip itself: in the packed one), or PP_NO_OFFSET */
	char text[400];  /* lower case, no full stop, control bytes masked */
};

#define PP_ERROR_INIT {PP_OK, PP_NO_OFFSET, ""}

/* Fills *err unless it already holds a failure. Control bytes and invalid UTF-8 of the formatted
 * text are masked as \xHH. Always returns -1, so that `return pp_fail(…)` reads well. */
int pp_fail(struct pp_error *err, enum pp_code code, uint64_t offset, const char *format, ...)
	PP_PRINTF(4, 5);

/* The constant name of a code, for tests and for JSON: "format", "limit", … */
const char *pp_code_name(enum pp_code code);

/* Copies n bytes to out (of out_n > 0 bytes) as printable text: control bytes, DEL and bytes that
 * are not UTF-8 become \xHH; cut with "..." where it does not fit. Returns out. The one way in
 * which hostile text reaches a diagnostic. */
const char *pp_printable(char *out, size_t out_n, const char *bytes, size_t n);

#endif
