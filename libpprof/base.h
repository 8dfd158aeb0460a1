/* What every file of the library may assume: attributes that let the compiler check contracts, the
 * index type, byte strings, and arithmetic that says when it overflows. */
#ifndef PP_BASE_H
#define PP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PP_MUSTUSE __attribute__((warn_unused_result))
#define PP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PP_MUSTUSE
#define PP_PRINTF(fmt, args)
#endif

#define PP_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "No such element", wherever a dense index may be absent. */
#define PP_NONE UINT32_MAX

/* Borrowed bytes. Not necessarily UTF-8 and possibly with NUL bytes inside. Those that a profile
 * owns are followed by a NUL byte, so that a name without inner NUL can be used as a C string. */
struct pp_str {
	const char *ptr;
	size_t len;
};

/* A string literal as a pp_str. */
#define PP_LIT(s) ((struct pp_str){(s), sizeof(s) - 1})

/* Checked arithmetic: the result is in *out and the return is true, or false on overflow. */
static inline bool pp_add_i64(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}
static inline bool pp_mul_i64(int64_t a, int64_t b, int64_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}
static inline bool pp_mul_size(size_t a, size_t b, size_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}
static inline bool pp_add_size(size_t a, size_t b, size_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

/* |v| without the overflow of -INT64_MIN. */
static inline uint64_t pp_abs_i64(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Bytewise order, shorter first among equals: the only string order that reaches output. */
int pp_str_cmp(struct pp_str a, struct pp_str b);
bool pp_str_eq(struct pp_str a, struct pp_str b);
struct pp_str pp_str_of(const char *c_string); /* NULL gives "" */

#endif
