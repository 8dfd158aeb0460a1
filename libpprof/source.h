/* Where bytes come from. Libraries open no files: a command hands in a source. */
#ifndef PP_SOURCE_H
#define PP_SOURCE_H

#include "libpprof/error.h"

/* read stores up to n bytes at buf and returns how many (0 at the end), or -1 with *err filled. */
struct pp_source {
	int64_t (*read)(void *context, void *buf, size_t n, struct pp_error *err);
	void *context;
};

/* A source over n bytes in memory, which must outlive it. */
struct pp_memory_source {
	struct pp_source source;
	const unsigned char *bytes;
	size_t n, at;
};
void pp_memory_source_init(struct pp_memory_source *memory, const void *bytes, size_t n);

#endif
