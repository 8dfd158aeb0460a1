/* Profiles to merge, and what must hold of their sums. Include after cmocka.h. */
#ifndef PP_TEST_MERGING_H
#define PP_TEST_MERGING_H

#include <stdarg.h>
#include <string.h>

#include "libpprof/build.h"
#include "libpprof/merge.h"
#include "libpprof/write.h"

static const struct pp_limits limits = PP_LIMITS_DEFAULT;

/* ---- profiles to merge ---- */

static inline struct pp_build *new_build(void)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_build *build = pp_build_new(&limits, &err);

	assert_non_null(build);
	return build;
}

static inline uint32_t text(struct pp_build *build, const char *s)
{
	return pp_build_string(build, pp_str_of(s));
}

static inline void add_type(struct pp_build *build, const char *name, const char *unit)
{
	pp_build_sample_type(build, (struct pp_value_type){text(build, name), text(build, unit)});
}

/* A location of one line in a function of this name. */
static inline uint32_t add_frame(struct pp_build *build, const char *name, uint32_t mapping, uint64_t address)
{
	struct pp_function function = {.name = text(build, name), .filename = text(build, "f.c")};
	struct pp_line line = {pp_build_function(build, &function), 7, 0};
	struct pp_location location = {.mapping = mapping, .address = address};

	return pp_build_location(build, &location, &line, 1);
}

static inline uint32_t add_mapping(struct pp_build *build, const char *filename, uint64_t start)
{
	struct pp_mapping mapping = {.start = start, .limit = start + 5000, .filename = text(build, filename)};

	return pp_build_mapping(build, &mapping);
}

static inline void add_sample(struct pp_build *build, uint32_t leaf, uint32_t list, int64_t a, int64_t b)
{
	const int64_t values[2] = {a, b};

	pp_build_sample(build, pp_build_stack(build, &leaf, 1), list, values);
}

static inline uint32_t add_label(struct pp_build *build, const char *key, const char *value)
{
	struct pp_label label = {.key = text(build, key), .str = text(build, value)};

	return pp_build_label_list(build, &label, 1);
}

static inline struct pp_profile *finish(struct pp_build *build)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *p = pp_build_finish(build, &err);

	pp_build_free(build);
	if (!p)
		fail_msg("%s", err.text);
	return p;
}

/* One column, one frame "f", one sample. */
static inline struct pp_profile *simple(const char *type, const char *unit, int64_t value)
{
	struct pp_build *build = new_build();

	add_type(build, type, unit);
	add_sample(build, add_frame(build, "f", PP_NONE, 0), 0, value, 0);
	return finish(build);
}

/* ---- merging ---- */

static inline struct pp_profile *merged(size_t n, ...)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_profile *profiles[8];
	struct pp_profile *sum;
	va_list args;

	va_start(args, n);
	for (size_t i = 0; i < n; i++)
		profiles[i] = va_arg(args, struct pp_profile *);
	va_end(args);
	sum = pp_merge_all(profiles, n, &limits, &err);
	if (!sum)
		fail_msg("%s", err.text);
	return sum;
}

static inline void assert_refused(const struct pp_profile *a, const struct pp_profile *b, enum pp_code code, const char *part)
{
	struct pp_error err = PP_ERROR_INIT;
	const struct pp_profile *profiles[2] = {a, b};

	assert_null(pp_merge_all(profiles, 2, &limits, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static inline void assert_same_bytes(const struct pp_profile *a, const struct pp_profile *b)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_buf x = PP_BUF_INIT, y = PP_BUF_INIT;
	struct pp_sink sink_x = pp_buf_sink(&x), sink_y = pp_buf_sink(&y);

	assert_int_equal(pp_write(a, &sink_x, &err), 0);
	assert_int_equal(pp_write(b, &sink_y, &err), 0);
	assert_int_equal(x.n, y.n);
	assert_memory_equal(x.bytes, y.bytes, x.n);
	pp_buf_release(&x);
	pp_buf_release(&y);
}

static inline const char *string_of(const struct pp_profile *p, uint32_t index)
{
	return pp_string(p, index).ptr;
}

#endif
