#include "libpprof/source.h"

#include <string.h>

static int64_t read_memory(void *context, void *buf, size_t n, struct pp_error *err)
{
	struct pp_memory_source *memory = context;
	size_t left = memory->n - memory->at;

	(void)err;
	if (n > left)
		n = left;
	if (n)
		memcpy(buf, memory->bytes + memory->at, n);
	memory->at += n;
	return (int64_t)n;
}

void pp_memory_source_init(struct pp_memory_source *memory, const void *bytes, size_t n)
{
	memory->source.read = read_memory;
	memory->source.context = memory;
	memory->bytes = bytes;
	memory->n = n;
	memory->at = 0;
}
