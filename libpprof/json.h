/* JSON out and in. The only file that knows jansson. Integers stay exact; bytes that are not UTF-8 become
 * U+FFFD; a real that is not finite becomes null; keys keep the order in which they were set. */
#ifndef PP_JSON_H
#define PP_JSON_H

#include "libpprof/sink.h"

struct pp_json; /* an object or an array under construction */

struct pp_json *pp_json_object(void) PP_MUSTUSE;
struct pp_json *pp_json_array(void) PP_MUSTUSE;
void pp_json_free(struct pp_json *json);

/* Set (objects: key) or append (arrays: key is NULL). Errors are sticky and come out of write. add
 * takes the child over, also on failure; NULL child is the JSON null. */
void pp_json_str(struct pp_json *json, const char *key, struct pp_str value);
void pp_json_i64(struct pp_json *json, const char *key, int64_t value);
void pp_json_real(struct pp_json *json, const char *key, double value);
void pp_json_bool(struct pp_json *json, const char *key, bool value);
void pp_json_null(struct pp_json *json, const char *key);
void pp_json_add(struct pp_json *json, const char *key, struct pp_json *child);

/* Writes the text; indent 0 is one line without a newline at the end. */
int pp_json_write(const struct pp_json *json, int indent, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

/* One string as JSON text, for what is streamed. */
int pp_json_write_str(struct pp_str value, struct pp_sink *sink, struct pp_error *err) PP_MUSTUSE;

/* Reads one JSON text (RFC 8259; a key given twice is a mistake): PP_EFORMAT with the byte offset. For
 * pp_json_free(). */
struct pp_json *pp_json_parse(struct pp_str text, struct pp_error *err) PP_MUSTUSE;

/* A value inside of a text that was read; lives as long as it. Every function takes NULL as null, so that
 * paths need no checks. */
struct pp_json_value;
enum pp_json_kind { PP_JSON_NULL, PP_JSON_BOOL, PP_JSON_INTEGER, PP_JSON_REAL, PP_JSON_STRING, PP_JSON_ARRAY, PP_JSON_OBJECT };

const struct pp_json_value *pp_json_root(const struct pp_json *json);
enum pp_json_kind pp_json_kind_of(const struct pp_json_value *value);
/* The member of an object, or NULL. */
const struct pp_json_value *pp_json_get(const struct pp_json_value *object, const char *key);
/* The member of an object behind the one named *key, the first where that is NULL, in no order that means
 * anything; *key becomes its name. NULL at the end. */
const struct pp_json_value *pp_json_next(const struct pp_json_value *object, const char **key);
/* The elements of an array; 0 and NULL for other kinds. */
size_t pp_json_count(const struct pp_json_value *array);
const struct pp_json_value *pp_json_at(const struct pp_json_value *array, size_t index);
/* Contents: "", 0 and false for other kinds; a real of an integer is that number. */
struct pp_str pp_json_text(const struct pp_json_value *value);
int64_t pp_json_integer(const struct pp_json_value *value);
double pp_json_number(const struct pp_json_value *value);
bool pp_json_is_true(const struct pp_json_value *value);

#endif
