/* JSON of protobuf messages, both ways, by their descriptors: what the published JSON mapping says. Keys are
 * the lowerCamelCase of the field names (either form is read), 64-bit integers are strings (numbers are
 * read too), enums go by name, bytes are base64, fields with their default value are left out. */
#ifndef FETCH_PBJSON_H
#define FETCH_PBJSON_H

#include <protobuf-c/protobuf-c.h>

#include "libpprof/pprof.h"

/* The message as an object, for pp_json_free(); NULL without memory. */
struct pp_json *pbjson_object(const ProtobufCMessage *message) PP_MUSTUSE;

/* An object → a message of this kind, whose memory is of allocator. Unknown
 * keys are passed over, as servers newer than this may have them; a value of the wrong kind is PP_EFORMAT
 * naming the field. PP_ENOMEM when the allocator gives nothing. After a failure what was read so far is left
 * to the allocator (an arena). */
ProtobufCMessage *pbjson_message(const ProtobufCMessageDescriptor *descriptor, const struct pp_json_value *object,
                                 ProtobufCAllocator *allocator, struct pp_error *err) PP_MUSTUSE;

#endif
