/* JSON out. The only file that knows jansson. Integers stay exact; bytes that are not UTF-8 become
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

#endif
