/* Profiles read from the texts of wiretext.h. Include after cmocka.h. */
#ifndef PP_TEST_READTEXT_H
#define PP_TEST_READTEXT_H

#include "libpprof/read.h"
#include "libpprof/test/wiretext.h"

/* Tables that most tests do not look at: strings 0 to 5 are "", "a" … "e". */
#define STRINGS " 6\"\" 6\"a\" 6\"b\" 6\"c\" 6\"d\" 6\"e\""
#define TYPE "1{1:1 2:2} "
#define FUNCTION " 5{1:1 2:3}"
#define LOCATION " 4{1:1 4{1:1 2:10}}"

static inline struct pp_profile *read_bytes(const struct wire_bytes *bytes, enum pp_strictness strictness,
                                     const struct pp_limits *limits, struct pp_error *err)
{
	struct pp_read_options options = PP_READ_OPTIONS_DEFAULT;
	struct pp_memory_source memory;

	*err = (struct pp_error)PP_ERROR_INIT;
	options.strictness = strictness;
	if (limits)
		options.limits = *limits;
	pp_memory_source_init(&memory, bytes->at, bytes->n);
	return pp_read(&memory.source, &options, err);
}

/* Reads what must be readable. */
static inline struct pp_profile *read_text(const char *text, enum pp_strictness strictness)
{
	struct wire_bytes bytes = {.n = 0};
	struct pp_error err;
	struct pp_profile *profile;

	wire_add(&bytes, text);
	profile = read_bytes(&bytes, strictness, NULL, &err);
	if (!profile)
		fail_msg("%s: %s", text, err.text);
	return profile;
}

static inline void assert_refused(const char *text, enum pp_strictness strictness, uint64_t offset, const char *message)
{
	struct wire_bytes bytes = {.n = 0};
	struct pp_error err;

	wire_add(&bytes, text);
	assert_null(read_bytes(&bytes, strictness, NULL, &err));
	if (strcmp(err.text, message) != 0 || err.offset != offset || err.code != PP_EFORMAT)
		fail_msg("%s: %s at %lld: '%s'", text, pp_code_name(err.code), (long long)err.offset, err.text);
}

#endif
