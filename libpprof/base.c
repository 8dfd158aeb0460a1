#include "libpprof/base.h"

#include <string.h>

int pp_str_cmp(struct pp_str a, struct pp_str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int order = n ? memcmp(a.ptr, b.ptr, n) : 0;

	if (order)
		return order;
	return a.len < b.len ? -1 : a.len > b.len;
}

bool pp_str_eq(struct pp_str a, struct pp_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

struct pp_str pp_str_of(const char *c_string)
{
	return c_string ? (struct pp_str){c_string, strlen(c_string)} : PP_LIT("");
}
