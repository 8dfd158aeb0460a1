/* The text seam: fields, rows, and their one escaping. A field holds any bytes; on the line a tab,
 * newline, carriage return and backslash are \t \n \r \\, and other control bytes, DEL, NUL and
 * bytes that are not UTF-8 are \xHH (two lower case digits). Everything else stands for itself. The
 * inverse is exact; an unknown escape or a raw control byte is an error. */
#ifndef PP_TSV_H
#define PP_TSV_H

#include "libpprof/limits.h"
#include "libpprof/sink.h"
#include "libpprof/source.h"

/* Writes bytes escaped. also, if not 0, is one more ASCII character to escape as \xHH (the samples
 * view escapes ';' within a frame). */
int pp_escape(struct pp_sink *sink, struct pp_str bytes, char also, struct pp_error *err) PP_MUSTUSE;

/* Undoes pp_escape in place and returns the new length; -1 with *err (offset is `offset` + position)
 * for an escape that does not exist. */
int64_t pp_unescape(char *bytes, size_t n, uint64_t offset, struct pp_error *err);

/* The escape \xHH of a byte, not NUL-terminated; returns PP_ESCAPE_MAX. And the byte of two
 * hexadecimal digits, or -1. For text forms with rules of their own (folded stacks). */
#define PP_ESCAPE_MAX 4
size_t pp_hex_escape(unsigned char c, char out[PP_ESCAPE_MAX]);
int pp_hex_byte(const char *two);

/* Lines of a source, one at a time, without their newline or carriage return and newline; a last line
 * may lack it. A line longer than limits.record_bytes is PP_ELIMIT. The source must outlive them. */
struct pp_lines;
struct pp_lines *pp_lines_new(struct pp_source *source, const struct pp_limits *limits,
                              struct pp_error *err) PP_MUSTUSE;
void pp_lines_free(struct pp_lines *lines);
/* 1: *line (writable, NUL-terminated, valid until the next call), *n and *offset (of its first byte) are set;
 * 0: the end; -1: failed. */
int pp_lines_next(struct pp_lines *lines, char **line, size_t *n, uint64_t *offset, struct pp_error *err);
uint64_t pp_lines_number(const struct pp_lines *lines); /* of the line last returned, from 1 */

/* Splits a line at tabs, in place: fields[i] borrowed from line, NUL-terminated, still escaped.
 * line[n] must be writable. Returns how many there are, which may exceed fields_n. */
size_t pp_split_tabs(char *line, size_t n, struct pp_str *fields, size_t fields_n);

/* A whole decimal (or 0x hexadecimal) field as a number; false for anything else. */
bool pp_parse_i64(struct pp_str text, int64_t *value);
bool pp_parse_u64(struct pp_str text, uint64_t *value);

#endif
