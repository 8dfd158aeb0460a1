#include "cmd/fetch/pbjson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 64

/* "profile_typeID" → "profileTypeID". Field names of querier.proto are shorter than KEY_MAX. */
static const char *camel(const char *name, char out[KEY_MAX])
{
	size_t n = 0;

	for (; *name && n < KEY_MAX - 1; name++) {
		bool up = *name == '_' && name[1];
		if (up)
			name++;
		out[n++] = up && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
	}
	out[n] = '\0';
	return out;
}

static size_t element_bytes(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		return sizeof(int64_t);
	case PROTOBUF_C_TYPE_DOUBLE:
		return sizeof(double);
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	default:
		return sizeof(int32_t); /* int32 and enums; querier.proto has no other types */
	}
}

/* ---- base64 ---- */

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_base64(struct pp_json *json, const char *key, const ProtobufCBinaryData *bytes)
{
	size_t n = 0;
	char *text = malloc(bytes->len / 3 * 4 + 5);

	for (size_t i = 0; text && i < bytes->len; i += 3) {
		size_t left = bytes->len - i;
		uint32_t three = (uint32_t)bytes->data[i] << 16 | (uint32_t)(left > 1 ? bytes->data[i + 1] : 0) << 8 |
		                 (uint32_t)(left > 2 ? bytes->data[i + 2] : 0);
		for (size_t k = 0; k < 4; k++)
			text[n++] = k <= left ? base64_digits[three >> (18 - 6 * k) & 63] : '=';
	}
	if (text)
		pp_json_str(json, key, (struct pp_str){text, n});
	free(text);
}

/* Standard or URL alphabet; false for anything else. */
static bool get_base64(struct pp_str text, ProtobufCBinaryData *bytes)
{
	uint32_t bits = 0;
	unsigned have = 0;

	bytes->len = 0;
	while (text.len > 0 && text.ptr[text.len - 1] == '=')
		text.len--;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i] == '-' ? '+' : text.ptr[i] == '_' ? '/' : text.ptr[i];
		const char *digit = c ? strchr(base64_digits, c) : NULL;
		if (!digit)
			return false;
		bits = bits << 6 | (uint32_t)(digit - base64_digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			bytes->data[bytes->len++] = (uint8_t)(bits >> have);
		}
	}
	return true;
}

/* ---- out ---- */

static void put_i64(struct pp_json *json, const char *key, bool is_unsigned, int64_t value)
{
	struct pp_buf text = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text);
	struct pp_error err = PP_ERROR_INIT;

	if ((is_unsigned ? pp_sink_u64(&sink, (uint64_t)value, &err) : pp_sink_i64(&sink, value, &err)) == 0)
		pp_json_str(json, key, (struct pp_str){text.bytes, text.n});
	pp_buf_release(&text);
}

static void put_element(struct pp_json *json, const char *key, const ProtobufCFieldDescriptor *field, const void *at)
{
	int32_t small;
	int64_t big;
	double real;

	switch (field->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		memcpy(&big, at, sizeof(big));
		put_i64(json, key, field->type == PROTOBUF_C_TYPE_UINT64, big);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		memcpy(&real, at, sizeof(real));
		pp_json_real(json, key, real);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		pp_json_bool(json, key, *(const protobuf_c_boolean *)at);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		put_base64(json, key, at);
		break;
	case PROTOBUF_C_TYPE_STRING:
		pp_json_str(json, key, pp_str_of(*(char *const *)at));
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		pp_json_add(json, key, pbjson_object(*(ProtobufCMessage *const *)at));
		break;
	case PROTOBUF_C_TYPE_ENUM: {
		memcpy(&small, at, sizeof(small));
		const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(field->descriptor, small);
		if (value)
			pp_json_str(json, key, pp_str_of(value->name));
		else
			pp_json_i64(json, key, small);
		break;
	}
	default:
		memcpy(&small, at, sizeof(small));
		pp_json_i64(json, key, small);
		break;
	}
}

/* A field that is not repeated and holds its default. */
static bool is_default(const ProtobufCFieldDescriptor *field, const void *at)
{
	static const char zeros[sizeof(int64_t)];

	if (field->type == PROTOBUF_C_TYPE_STRING)
		return !*(char *const *)at || !**(char *const *)at;
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		return !*(ProtobufCMessage *const *)at;
	if (field->type == PROTOBUF_C_TYPE_BYTES)
		return ((const ProtobufCBinaryData *)at)->len == 0;
	return memcmp(at, zeros, element_bytes(field->type)) == 0;
}

struct pp_json *pbjson_object(const ProtobufCMessage *message)
{
	struct pp_json *object = pp_json_object();
	char key[KEY_MAX];

	for (unsigned i = 0; object && i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		const char *at = (const char *)message + field->offset;
		if (field->label != PROTOBUF_C_LABEL_REPEATED) {
			if (!is_default(field, at))
				put_element(object, camel(field->name, key), field, at);
			continue;
		}
		size_t n;
		memcpy(&n, (const char *)message + field->quantifier_offset, sizeof(n));
		struct pp_json *array = n > 0 ? pp_json_array() : NULL;
		const char *elements = *(const char *const *)(const void *)at;
		for (size_t k = 0; array && k < n; k++)
			put_element(array, NULL, field, elements + k * element_bytes(field->type));
		if (array)
			pp_json_add(object, camel(field->name, key), array);
	}
	return object;
}

/* ---- in ---- */

static int wrong(const ProtobufCFieldDescriptor *field, const char *wanted, struct pp_error *err)
{
	return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "%s: not %s", field->name, wanted);
}

/* An integer as such, as a real without a fraction, or as either in a string. */
static bool get_i64(const struct pp_json_value *value, bool is_unsigned, int64_t *out)
{
	double real;
	uint64_t u;

	switch (pp_json_kind_of(value)) {
	case PP_JSON_INTEGER:
		*out = pp_json_integer(value);
		return !is_unsigned || *out >= 0;
	case PP_JSON_REAL:
		real = pp_json_number(value);
		*out = fabs(real) < 9e15 ? (int64_t)real : 0;
		return fabs(real) < 9e15 && real == floor(real);
	case PP_JSON_STRING:
		if (!is_unsigned)
			return pp_parse_i64(pp_json_text(value), out);
		if (!pp_parse_u64(pp_json_text(value), &u))
			return false;
		memcpy(out, &u, sizeof(u));
		return true;
	default:
		return false;
	}
}

static bool get_real(const struct pp_json_value *value, double *out)
{
	enum pp_json_kind kind = pp_json_kind_of(value);
	struct pp_str text = pp_json_text(value);

	*out = pp_json_number(value);
	if (kind == PP_JSON_INTEGER || kind == PP_JSON_REAL)
		return true;
	if (pp_str_eq(text, PP_LIT("NaN")))
		*out = (double)NAN;
	else if (pp_str_eq(text, PP_LIT("Infinity")))
		*out = (double)INFINITY;
	else if (pp_str_eq(text, PP_LIT("-Infinity")))
		*out = (double)-INFINITY;
	else
		return false;
	return true;
}

static bool get_i32(const ProtobufCFieldDescriptor *field, const struct pp_json_value *value, int32_t *out)
{
	int64_t number;

	if (field->type == PROTOBUF_C_TYPE_ENUM && pp_json_kind_of(value) == PP_JSON_STRING) {
		const ProtobufCEnumValue *known =
			protobuf_c_enum_descriptor_get_value_by_name(field->descriptor, pp_json_text(value).ptr);
		*out = known ? known->value : 0;
		return known != NULL;
	}
	if (!get_i64(value, false, &number) || number < INT32_MIN || number > INT32_MAX)
		return false;
	*out = (int32_t)number;
	return true;
}

static void *take(ProtobufCAllocator *allocator, size_t n, struct pp_error *err)
{
	void *memory = allocator->alloc(allocator->allocator_data, n);

	if (!memory)
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for the message");
	return memory;
}

/* Reads one element to `at`. */
static int get_element(const ProtobufCFieldDescriptor *field, const struct pp_json_value *value,
                       ProtobufCAllocator *allocator, void *at, struct pp_error *err)
{
	struct pp_str text = pp_json_text(value);
	ProtobufCBinaryData bytes;
	int64_t big;
	int32_t small;
	double real;

	switch (field->type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		if (!get_i64(value, field->type == PROTOBUF_C_TYPE_UINT64, &big))
			return wrong(field, "a 64-bit integer", err);
		memcpy(at, &big, sizeof(big));
		return 0;
	case PROTOBUF_C_TYPE_DOUBLE:
		if (!get_real(value, &real))
			return wrong(field, "a number", err);
		memcpy(at, &real, sizeof(real));
		return 0;
	case PROTOBUF_C_TYPE_BOOL:
		if (pp_json_kind_of(value) != PP_JSON_BOOL)
			return wrong(field, "true or false", err);
		*(protobuf_c_boolean *)at = pp_json_is_true(value);
		return 0;
	case PROTOBUF_C_TYPE_BYTES:
		bytes.data = take(allocator, text.len + 1, err);
		if (!bytes.data)
			return -1;
		if (pp_json_kind_of(value) != PP_JSON_STRING || !get_base64(text, &bytes))
			return wrong(field, "base64", err);
		memcpy(at, &bytes, sizeof(bytes));
		return 0;
	case PROTOBUF_C_TYPE_STRING: {
		if (pp_json_kind_of(value) != PP_JSON_STRING)
			return wrong(field, "a string", err);
		char *copy = take(allocator, text.len + 1, err);
		if (!copy)
			return -1;
		memcpy(copy, text.ptr, text.len);
		copy[text.len] = '\0';
		*(char **)at = copy;
		return 0;
	}
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)at = pbjson_message(field->descriptor, value, allocator, err);
		return *(ProtobufCMessage **)at ? 0 : -1;
	default:
		if (!get_i32(field, value, &small))
			return wrong(field, "a 32-bit integer or a known name", err);
		memcpy(at, &small, sizeof(small));
		return 0;
	}
}

static int get_array(const ProtobufCFieldDescriptor *field, const struct pp_json_value *value,
                     ProtobufCAllocator *allocator, ProtobufCMessage *message, struct pp_error *err)
{
	size_t size = element_bytes(field->type), n = pp_json_count(value);

	if (pp_json_kind_of(value) != PP_JSON_ARRAY)
		return wrong(field, "a list", err);
	char *elements = n > 0 ? take(allocator, n * size, err) : NULL;
	if (n > 0 && !elements)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (get_element(field, pp_json_at(value, i), allocator, elements + i * size, err) != 0)
			return -1;
	memcpy((char *)message + field->quantifier_offset, &n, sizeof(n));
	memcpy((char *)message + field->offset, &elements, sizeof(elements));
	return 0;
}

ProtobufCMessage *pbjson_message(const ProtobufCMessageDescriptor *descriptor, const struct pp_json_value *object,
                                 ProtobufCAllocator *allocator, struct pp_error *err)
{
	char key[KEY_MAX];

	if (pp_json_kind_of(object) != PP_JSON_OBJECT) {
		pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "%s: not an object", descriptor->short_name);
		return NULL;
	}
	ProtobufCMessage *message = take(allocator, descriptor->sizeof_message, err);
	if (!message)
		return NULL;
	descriptor->message_init(message);
	for (unsigned i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
		const struct pp_json_value *value = pp_json_get(object, camel(field->name, key));
		if (!value)
			value = pp_json_get(object, field->name);
		if (pp_json_kind_of(value) == PP_JSON_NULL)
			continue;
		int result = field->label == PROTOBUF_C_LABEL_REPEATED
		                     ? get_array(field, value, allocator, message, err)
		                     : get_element(field, value, allocator, (char *)message + field->offset, err);
		if (result != 0)
			return NULL;
	}
	return message;
}
