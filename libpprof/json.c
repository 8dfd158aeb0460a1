#include "libpprof/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/utf8.h"

/* Digits that bring back every decimal of that many, so that 0.1 prints as 0.1. */
#define REAL_DIGITS 15

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

struct pp_json {
	json_t *value;
	bool failed; /* something could not be stored: no memory */
};

static struct pp_json *wrap(json_t *value)
{
	struct pp_json *json = value ? malloc(sizeof(*json)) : NULL;
	if (!json) {
		json_decref(value);
		return NULL;
	}
	*json = (struct pp_json){value, false};
	return json;
}

struct pp_json *pp_json_object(void)
{
	return wrap(json_object());
}

struct pp_json *pp_json_array(void)
{
	return wrap(json_array());
}

void pp_json_free(struct pp_json *json)
{
	if (!json)
		return;
	json_decref(json->value);
	free(json);
}

/* Takes value over; NULL value is a failed allocation. */
static void put(struct pp_json *json, const char *key, json_t *value)
{
	int result = key ? json_object_set_new(json->value, key, value) : json_array_append_new(json->value, value);
	if (result < 0)
		json->failed = true;
}

/* Bytes with what is not UTF-8 replaced. */
static json_t *text_of(struct pp_str bytes)
{
	struct pp_buf buf = PP_BUF_INIT;
	struct pp_error err = PP_ERROR_INIT;
	json_t *value = NULL;
	size_t plain = 0, at = 0;
	while (at < bytes.len) {
		size_t run = pp_utf8_length(bytes.ptr + at, bytes.len - at);
		if (run > 0) {
			at += run;
			continue;
		}
		if (pp_buf_append(&buf, bytes.ptr + plain, at - plain, &err) < 0 ||
		    pp_buf_append(&buf, replacement, sizeof(replacement) - 1, &err) < 0)
			goto done;
		plain = ++at;
	}
	if (plain == 0)
		value = json_stringn_nocheck(bytes.len ? bytes.ptr : "", bytes.len);
	else if (pp_buf_append(&buf, bytes.ptr + plain, at - plain, &err) == 0)
		value = json_stringn_nocheck(buf.bytes, buf.n);
done:
	pp_buf_release(&buf);
	return value;
}

void pp_json_str(struct pp_json *json, const char *key, struct pp_str value)
{
	put(json, key, text_of(value));
}

void pp_json_i64(struct pp_json *json, const char *key, int64_t value)
{
	put(json, key, json_integer(value));
}

void pp_json_real(struct pp_json *json, const char *key, double value)
{
	put(json, key, isfinite(value) ? json_real(value) : json_null());
}

void pp_json_bool(struct pp_json *json, const char *key, bool value)
{
	put(json, key, json_boolean(value));
}

void pp_json_null(struct pp_json *json, const char *key)
{
	put(json, key, json_null());
}

void pp_json_add(struct pp_json *json, const char *key, struct pp_json *child)
{
	if (!child) {
		pp_json_null(json, key);
		return;
	}
	json->failed |= child->failed;
	put(json, key, json_incref(child->value));
	pp_json_free(child);
}

struct dump {
	struct pp_sink *sink;
	struct pp_error *err;
};

static int dump_bytes(const char *bytes, size_t n, void *context)
{
	struct dump *dump = context;
	return pp_sink_bytes(dump->sink, bytes, n, dump->err);
}

int pp_json_write(const struct pp_json *json, int indent, struct pp_sink *sink, struct pp_error *err)
{
	if (json->failed)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for JSON");
	struct dump dump = {sink, err};
	size_t flags = JSON_INDENT((size_t)indent) | JSON_REAL_PRECISION(REAL_DIGITS);
	if (json_dump_callback(json->value, dump_bytes, &dump, flags) < 0)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for JSON");
	return indent > 0 ? pp_sink_bytes(sink, "\n", 1, err) : 0;
}

int pp_json_write_str(struct pp_str value, struct pp_sink *sink, struct pp_error *err)
{
	struct dump dump = {sink, err};
	json_t *text = text_of(value);
	int result = text ? json_dump_callback(text, dump_bytes, &dump, JSON_ENCODE_ANY) : -1;

	json_decref(text);
	return result < 0 ? pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for JSON") : 0;
}

/* ---- reading ---- */

struct pp_json *pp_json_parse(struct pp_str text, struct pp_error *err)
{
	json_error_t why;
	json_t *value = json_loadb(text.len ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!value) {
		pp_fail(err, PP_EFORMAT, why.position >= 0 ? (uint64_t)why.position : PP_NO_OFFSET, "not JSON: %s", why.text);
		return NULL;
	}
	struct pp_json *json = wrap(value);
	if (!json)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for JSON");
	return json;
}

/* A struct pp_json_value is a json_t under a name that others may know. */
static const json_t *inner(const struct pp_json_value *value)
{
	return (const json_t *)(const void *)value;
}

static const struct pp_json_value *outer(const json_t *value)
{
	return (const struct pp_json_value *)(const void *)value;
}

const struct pp_json_value *pp_json_root(const struct pp_json *json)
{
	return outer(json->value);
}

enum pp_json_kind pp_json_kind_of(const struct pp_json_value *value)
{
	if (!value)
		return PP_JSON_NULL;
	switch (json_typeof(inner(value))) {
	case JSON_OBJECT:
		return PP_JSON_OBJECT;
	case JSON_ARRAY:
		return PP_JSON_ARRAY;
	case JSON_STRING:
		return PP_JSON_STRING;
	case JSON_INTEGER:
		return PP_JSON_INTEGER;
	case JSON_REAL:
		return PP_JSON_REAL;
	case JSON_TRUE:
	case JSON_FALSE:
		return PP_JSON_BOOL;
	case JSON_NULL:
		break;
	}
	return PP_JSON_NULL;
}

const struct pp_json_value *pp_json_get(const struct pp_json_value *object, const char *key)
{
	return object ? outer(json_object_get(inner(object), key)) : NULL;
}

const struct pp_json_value *pp_json_next(const struct pp_json_value *object, const char **key)
{
	if (pp_json_kind_of(object) != PP_JSON_OBJECT)
		return NULL;
	/* jansson's interface takes an object that it does not change as one that it may. */
	json_t *members = (json_t *)(uintptr_t)inner(object);
	void *at = *key ? json_object_iter_next(members, json_object_key_to_iter(*key)) : json_object_iter(members);
	if (!at)
		return NULL;
	*key = json_object_iter_key(at);
	return outer(json_object_iter_value(at));
}

size_t pp_json_count(const struct pp_json_value *array)
{
	return array ? json_array_size(inner(array)) : 0;
}

const struct pp_json_value *pp_json_at(const struct pp_json_value *array, size_t index)
{
	return array ? outer(json_array_get(inner(array), index)) : NULL;
}

struct pp_str pp_json_text(const struct pp_json_value *value)
{
	if (pp_json_kind_of(value) != PP_JSON_STRING)
		return PP_LIT("");
	return (struct pp_str){json_string_value(inner(value)), json_string_length(inner(value))};
}

int64_t pp_json_integer(const struct pp_json_value *value)
{
	return value ? json_integer_value(inner(value)) : 0;
}

double pp_json_number(const struct pp_json_value *value)
{
	return value ? json_number_value(inner(value)) : 0;
}

bool pp_json_is_true(const struct pp_json_value *value)
{
	return value && json_is_true(inner(value));
}
