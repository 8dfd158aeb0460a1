#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/fetch/pbjson.h"
#include "cmd/fetch/querier.pb-c.h"

static void *take(void *arena, size_t n)
{
	return pp_arena_alloc(arena, n);
}
static void leave(void *arena, void *memory)
{
	(void)arena;
	(void)memory;
}

struct memory {
	struct pp_arena *arena;
	ProtobufCAllocator allocator;
};

static int begin(void **state)
{
	struct memory *memory = malloc(sizeof(*memory));

	memory->arena = pp_arena_new(1 << 20);
	memory->allocator = (ProtobufCAllocator){take, leave, memory->arena};
	*state = memory;
	return 0;
}

static int end(void **state)
{
	struct memory *memory = *state;

	pp_arena_free(memory->arena);
	free(memory);
	return 0;
}

/* JSON → message; NULL with the reason in *err. */
static ProtobufCMessage *read(struct memory *memory, const ProtobufCMessageDescriptor *kind, const char *text, struct pp_error *err)
{
	struct pp_json *json = pp_json_parse(pp_str_of(text), err);

	assert_non_null(json);
	ProtobufCMessage *message = pbjson_message(kind, pp_json_root(json), &memory->allocator, err);
	pp_json_free(json);
	return message;
}

static void expect_json(const ProtobufCMessage *message, const char *wanted)
{
	struct pp_json *object = pbjson_object(message);
	struct pp_buf text = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text);
	struct pp_error err = PP_ERROR_INIT;

	assert_int_equal(pp_json_write(object, 0, &sink, &err), 0);
	assert_string_equal(text.bytes, wanted);
	pp_json_free(object);
	pp_buf_release(&text);
}

static void messages_come_back(void **state)
{
	static const char text[] =
		"{\"profileTypeID\": \"a:b\", \"start\": \"1796076000000\", \"end\": \"-1\", \"format\": \"PROFILE_FORMAT_DOT\", "
		"\"stackTraceSelector\": {\"callSite\": [{\"name\": \"main.main\"}, {}]}, \"spanSelector\": [\"x\", \"\"]}";
	struct pp_error err = PP_ERROR_INIT;
	const ProtobufCMessage *message = read(*state, &pyro__select_merge_stacktraces_request__descriptor, text, &err);

	assert_non_null(message);
	expect_json(message, text);
}

static void other_forms_are_read(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	const Pyro__SelectSeriesRequest *request =
		(const void *)read(*state, &pyro__select_series_request__descriptor,
	                           "{\"profile_typeID\": \"t\", \"start\": 10, \"end\": 1e1, \"step\": \"Infinity\", \"limit\": null,"
	                           " \"exemplarType\": 2, \"newerThanThis\": [1]}", &err);

	assert_non_null(request);
	assert_string_equal(request->profile_typeid, "t");
	assert_int_equal(request->start, 10);
	assert_int_equal(request->end, 10);
	assert_true(request->step > 1e308);
	assert_int_equal(request->limit, 0);
	assert_int_equal(request->exemplar_type, PYRO__EXEMPLAR_TYPE__EXEMPLAR_TYPE_INDIVIDUAL);
}

static void bytes_are_base64(void **state)
{
	static const struct {
		const char *text, *bytes;
	} pairs[] = {{"YQ==", "a"}, {"YWI=", "ab"}, {"YWJj", "abc"}, {"YWJj_-4", "abc\xff\xee"}};
	char json[64];

	for (size_t i = 0; i < PP_COUNT(pairs); i++) {
		struct pp_error err = PP_ERROR_INIT;
		snprintf(json, sizeof(json), "{\"tree\": \"%s\"}", pairs[i].text);
		const Pyro__SelectMergeStacktracesResponse *answer =
			(const void *)read(*state, &pyro__select_merge_stacktraces_response__descriptor, json, &err);
		assert_non_null(answer);
		assert_int_equal(answer->tree.len, strlen(pairs[i].bytes));
		assert_memory_equal(answer->tree.data, pairs[i].bytes, answer->tree.len);
		if (!strpbrk(pairs[i].text, "-_"))
			expect_json(&answer->base, json);
	}
}

static void wrong_values_are_named(void **state)
{
	static const struct {
		const char *json, *field;
	} cases[] = {
		{"{\"start\": \"ten\"}", "start"}, {"{\"start\": 10.5}", "start"}, {"{\"start\": true}", "start"},
		{"{\"start\": \"9223372036854775808\"}", "start"}, {"{\"groupBy\": \"pod\"}", "group_by"}, {"{\"groupBy\": [1]}", "group_by"},
		{"{\"step\": \"ten\"}", "step"}, {"{\"exemplarType\": \"SOME\"}", "exemplar_type"}, {"{\"labelSelector\": 1}", "label_selector"},
		{"{\"stackTraceSelector\": []}", "StackTraceSelector"},
	};

	for (size_t i = 0; i < PP_COUNT(cases); i++) {
		struct pp_error err = PP_ERROR_INIT;
		assert_null(read(*state, &pyro__select_series_request__descriptor, cases[i].json, &err));
		assert_int_equal(err.code, PP_EFORMAT);
		assert_non_null(strstr(err.text, cases[i].field));
	}
}

static void memory_is_bounded(void **state)
{
	struct pp_error err = PP_ERROR_INIT;
	struct memory small = {pp_arena_new(64), {take, leave, NULL}};

	(void)state;
	small.allocator.allocator_data = small.arena;
	assert_null(read(&small, &pyro__label_names_response__descriptor, "{\"names\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]}", &err));
	assert_int_equal(err.code, PP_ENOMEM);
	pp_arena_free(small.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_come_back, begin, end),
		cmocka_unit_test_setup_teardown(other_forms_are_read, begin, end),
		cmocka_unit_test_setup_teardown(bytes_are_base64, begin, end),
		cmocka_unit_test_setup_teardown(wrong_values_are_named, begin, end),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
