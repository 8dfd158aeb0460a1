#include "libpprof/filepath.h"

#include <string.h>

struct pp_str pp_path_base(struct pp_str path)
{
	while (path.len > 1 && path.ptr[path.len - 1] == '/')
		path.len--;
	for (size_t i = path.len; i > 0; i--)
		if (path.ptr[i - 1] == '/' && i < path.len)
			return (struct pp_str){path.ptr + i, path.len - i};
	return path;
}

size_t pp_path_clean(struct pp_str path, char *out)
{
	const char *p = path.ptr;
	size_t n = path.len, read = 0, w = 0;
	size_t keep; /* ".." does not go back before this */
	const bool rooted = n > 0 && p[0] == '/';

	if (rooted)
		out[w++] = '/';
	keep = w;
	while (read < n) {
		size_t end = read;
		while (end < n && p[end] != '/')
			end++;
		const size_t part = end - read;
		if (part == 0 || (part == 1 && p[read] == '.')) {
			/* nothing */
		} else if (part == 2 && p[read] == '.' && p[read + 1] == '.') {
			if (w > keep) {
				for (w--; w > keep && out[w] != '/'; w--)
					;
			} else if (!rooted) {
				if (w > 0)
					out[w++] = '/';
				out[w++] = '.';
				out[w++] = '.';
				keep = w;
			}
		} else {
			if (w > (rooted ? 1U : 0U))
				out[w++] = '/';
			memcpy(out + w, p + read, part);
			w += part;
		}
		read = end + 1;
	}
	if (w == 0)
		out[w++] = '.';
	return w;
}

struct pp_str pp_path_without_build(struct pp_str path)
{
	static const struct pp_str folders[] = {{"/proc/self/cwd/./", 17}, {"/proc/self/cwd/", 15}};

	for (size_t i = 0; i < PP_COUNT(folders); i++)
		if (path.len >= folders[i].len && memcmp(path.ptr, folders[i].ptr, folders[i].len) == 0)
			return (struct pp_str){path.ptr + folders[i].len, path.len - folders[i].len};
	return path;
}
