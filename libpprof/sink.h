/* Where bytes go. Libraries write to no file: a command hands in a sink. */
#ifndef PP_SINK_H
#define PP_SINK_H

#include "libpprof/error.h"

/* write takes all n bytes and returns 0, or -1 with *err filled. */
struct pp_sink {
	int (*write)(void *context, const void *bytes, size_t n, struct pp_error *err);
	void *context;
};

int pp_sink_bytes(struct pp_sink *sink, const void *bytes, size_t n, struct pp_error *err) PP_MUSTUSE;
int pp_sink_str(struct pp_sink *sink, const char *text, struct pp_error *err) PP_MUSTUSE;
int pp_sink_i64(struct pp_sink *sink, int64_t value, struct pp_error *err) PP_MUSTUSE;
int pp_sink_u64(struct pp_sink *sink, uint64_t value, struct pp_error *err) PP_MUSTUSE;
int pp_sink_printf(struct pp_sink *sink, struct pp_error *err, const char *format, ...)
	PP_PRINTF(3, 4) PP_MUSTUSE; /* no locale-dependent conversions; result up to 4096 bytes */

/* Growable bytes, and a sink that appends to them. bytes stays NUL-terminated once non-NULL. */
struct pp_buf {
	char *bytes;
	size_t n, capacity;
};
#define PP_BUF_INIT {NULL, 0, 0}
void pp_buf_release(struct pp_buf *buf);
int pp_buf_append(struct pp_buf *buf, const void *bytes, size_t n, struct pp_error *err) PP_MUSTUSE;
struct pp_sink pp_buf_sink(struct pp_buf *buf);

#endif
