#include "libpprof/transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libpprof/build_private.h"
#include "libpprof/copy.h"
#include "libpprof/sampletype.h"
#include "libpprof/sink.h"

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory to change a profile");
}

struct pp_profile *pp_scale(const struct pp_profile *p, const double *factors, enum pp_rounding rounding,
                            const struct pp_limits *limits, struct pp_error *err)
{
	const size_t n = (size_t)p->samples_n * p->sample_types_n;
	int64_t *values = malloc((n + 1) * sizeof *values);
	const struct pp_copy copy = {.profile = p, .values = values};
	struct pp_profile *made = NULL;

	if (!values) {
		no_memory(err);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const double factor = factors[i % p->sample_types_n], product = (double)p->values[i] * factor;
		if (factor == 1) {
			values[i] = p->values[i];
		} else if (!(fabs(product) < 9.2e18)) {
			pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "a value times %g does not fit 64 bits", factor);
			goto done;
		} else {
			values[i] = rounding == PP_ROUND_NEAREST ? llround(product) : (int64_t)product;
		}
	}
	made = pp_copy_make(&copy, limits, err);
done:
	free(values);
	return made;
}

struct pp_profile *pp_without_inlines(const struct pp_profile *p, const struct pp_limits *limits, struct pp_error *err)
{
	unsigned char *line_gone = calloc((size_t)p->lines_n + 1, 1);
	const struct pp_copy copy = {.profile = p, .line_gone = line_gone};
	struct pp_profile *made;

	if (!line_gone) {
		no_memory(err);
		return NULL;
	}
	for (uint32_t l = 0; l < p->locations_n; l++)
		if (p->locations[l].lines_n > 1)
			memset(line_gone + p->locations[l].line_first, 1, p->locations[l].lines_n - 1);
	made = pp_copy_make(&copy, limits, err);
	free(line_gone);
	return made;
}

/* The name without the folder of n bytes, or unchanged when it is not under it. */
static bool cut_folder(struct pp_str *name, const char *folder, size_t n)
{
	const size_t slash = n > 0 && folder[n - 1] == '/' ? 0 : 1; /* to be added */

	if (name->len < n + slash || memcmp(name->ptr, folder, n) != 0 || (slash && name->ptr[n] != '/'))
		return false;
	name->ptr += n + slash;
	name->len -= n + slash;
	return true;
}

/* Of a folder that is a star and then "/x": leaves what is behind the first "/x/" in the name. */
static bool cut_inner_folder(struct pp_str *name, const char *folder, size_t n)
{
	const size_t from = 1, len = n - from - (folder[n - 1] == '/'); /* "/x" */

	for (size_t i = 0; i + len < name->len; i++)
		if (memcmp(name->ptr + i, folder + from, len) == 0 && name->ptr[i + len] == '/') {
			name->ptr += i + len + 1;
			name->len -= i + len + 1;
			return true;
		}
	return false;
}

static struct pp_str trimmed(struct pp_str name, const char *folders)
{
	static const char *const always[] = {"/proc/self/cwd/.", "/proc/self/cwd"};

	while (*folders) {
		const size_t n = strcspn(folders, ":");
		const bool inner = n > 2 && folders[0] == '*' && folders[1] == '/';
		if (n > 0 && (inner ? cut_inner_folder : cut_folder)(&name, folders, n))
			return name;
		folders += n + (folders[n] == ':');
	}
	for (size_t i = 0; i < PP_COUNT(always); i++)
		if (cut_folder(&name, always[i], strlen(always[i])))
			break;
	return name;
}

struct pp_profile *pp_trim_paths(const struct pp_profile *p, const char *folders, const struct pp_limits *limits,
                                 struct pp_error *err)
{
	struct pp_str *filenames = malloc(((size_t)p->functions_n + 1) * sizeof *filenames);
	const struct pp_copy copy = {.profile = p, .filenames = filenames};
	struct pp_profile *made;

	if (!filenames) {
		no_memory(err);
		return NULL;
	}
	for (uint32_t f = 0; f < p->functions_n; f++)
		filenames[f] = trimmed(pp_string(p, p->functions[f].filename), folders);
	made = pp_copy_make(&copy, limits, err);
	free(filenames);
	return made;
}

/* What a granularity keeps. */
struct kept {
	bool name, file, line, column, address;
};

static struct kept kept_by(enum pp_granularity by)
{
	static const struct kept kept[] = {
		[PP_BY_FRAMES] = {.name = true, .file = true},        [PP_BY_FUNCTIONS] = {.name = true},
		[PP_BY_FILEFUNCTIONS] = {.name = true, .file = true}, [PP_BY_FILES] = {.file = true},
		[PP_BY_LINES] = {true, true, true, false, false},     [PP_BY_COLUMNS] = {true, true, true, true, false},
		[PP_BY_ADDRESSES] = {true, true, true, true, true},   [PP_BY_MAPPINGS] = {.name = false},
	};

	return kept[by];
}

static bool has_name(const struct pp_profile *p, const struct pp_location *l)
{
	for (uint32_t i = l->line_first; i < l->line_first + l->lines_n; i++)
		if (p->lines[i].function != PP_NONE && pp_string(p, p->functions[p->lines[i].function].name).len > 0)
			return true;
	return false;
}

static void blank_tables(const struct pp_profile *p, enum pp_granularity by, struct pp_mapping *mappings,
                         struct pp_function *functions, struct pp_location *locations, struct pp_line *lines)
{
	const struct kept kept = kept_by(by);

	for (uint32_t i = 0; i < p->mappings_n; i++) {
		mappings[i] = p->mappings[i];
		mappings[i].has_functions &= kept.name;
		mappings[i].has_filenames &= kept.file;
		mappings[i].has_line_numbers &= kept.line;
	}
	for (uint32_t i = 0; i < p->functions_n; i++) {
		functions[i] = p->functions[i];
		if (!kept.name)
			functions[i].name = functions[i].system_name = 0;
		if (!kept.file)
			functions[i].filename = 0;
	}
	for (uint32_t i = 0; i < p->locations_n; i++) {
		locations[i] = p->locations[i];
		if (!kept.address && (by != PP_BY_FRAMES || has_name(p, &p->locations[i])))
			locations[i].address = 0;
	}
	for (uint32_t i = 0; i < p->lines_n; i++) {
		lines[i] = p->lines[i];
		lines[i].line = kept.line ? lines[i].line : 0;
		lines[i].column = kept.column ? lines[i].column : 0;
	}
}

struct pp_profile *pp_blank(const struct pp_profile *p, enum pp_granularity by, const struct pp_limits *limits,
                            struct pp_error *err)
{
	struct pp_mapping *mappings = malloc(((size_t)p->mappings_n + 1) * sizeof *mappings);
	struct pp_function *functions = malloc(((size_t)p->functions_n + 1) * sizeof *functions);
	struct pp_location *locations = malloc(((size_t)p->locations_n + 1) * sizeof *locations);
	struct pp_line *lines = malloc(((size_t)p->lines_n + 1) * sizeof *lines);
	const struct pp_copy copy = {.profile = p, .mappings = mappings, .functions = functions,
	                             .locations = locations, .lines = lines};
	struct pp_profile *made = NULL;

	if (!mappings || !functions || !locations || !lines) {
		no_memory(err);
	} else {
		blank_tables(p, by, mappings, functions, locations, lines);
		made = pp_copy_make(&copy, limits, err);
	}
	free(mappings);
	free(functions);
	free(locations);
	free(lines);
	return made;
}

/* ---- totals ---- */

static bool is_base(const struct pp_profile *p, const struct pp_label_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (pp_str_eq(pp_string(p, list->labels[i].key), PP_LIT("pprof::base")) &&
		    pp_str_eq(pp_string(p, list->labels[i].str), PP_LIT("true")))
			return true;
	return false;
}

struct total {
	uint64_t size;
	int64_t sum;
};

static int sum_up(const struct pp_profile *p, uint32_t column, struct total *total, struct pp_error *err)
{
	unsigned char *base = malloc((size_t)p->label_lists_n + 1);
	struct total all = {0, 0}, of_base = {0, 0};

	if (!base)
		return no_memory(err);
	for (uint32_t l = 0; l < p->label_lists_n; l++)
		base[l] = is_base(p, &p->label_lists[l]);
	for (uint32_t s = 0; s < p->samples_n; s++) {
		const int64_t value = pp_value(p, s, column);
		/* Both terms are at most 2^63, so this cannot wrap; nor can the sum, which is no larger. */
		all.size += pp_abs_i64(value);
		if (all.size > INT64_MAX)
			break;
		all.sum += value;
		if (base[p->sample_labels[s]]) {
			of_base.size += pp_abs_i64(value);
			of_base.sum += value;
		}
	}
	free(base);
	if (all.size > INT64_MAX)
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the values add up to more than 63 bits");
	*total = of_base.size > 0 ? of_base : all;
	return 0;
}

int pp_total(const struct pp_profile *p, uint32_t column, int64_t *total, struct pp_error *err)
{
	struct total found;

	if (sum_up(p, column, &found, err) != 0)
		return -1;
	*total = (int64_t)found.size;
	return 0;
}

int pp_total_signed(const struct pp_profile *p, uint32_t column, int64_t *total, struct pp_error *err)
{
	struct total found;

	if (sum_up(p, column, &found, err) != 0)
		return -1;
	*total = found.sum;
	return 0;
}

static const char total_mark[] = "#total before filters: ";

bool pp_is_total(struct pp_str comment)
{
	return comment.len >= sizeof total_mark - 1 && memcmp(comment.ptr, total_mark, sizeof total_mark - 1) == 0;
}

static bool take(struct pp_str *text, struct pp_str part)
{
	if (text->len < part.len || memcmp(text->ptr, part.ptr, part.len) != 0)
		return false;
	*text = (struct pp_str){text->ptr + part.len, text->len - part.len};
	return true;
}

static bool read_total(struct pp_str digits, int64_t *total)
{
	int64_t sum = 0;

	for (size_t i = 0; i < digits.len; i++)
		if (digits.ptr[i] < '0' || digits.ptr[i] > '9' || __builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, digits.ptr[i] - '0', &sum))
			return false;
	*total = sum;
	return digits.len > 0;
}

bool pp_total_recorded(const struct pp_profile *p, uint32_t column, int64_t *total)
{
	for (uint32_t i = 0; i < p->comments_n; i++) {
		struct pp_str rest = pp_string(p, p->comments[i]);
		if (take(&rest, PP_LIT(total_mark)) && take(&rest, pp_sample_type_name(p, column)) &&
		    take(&rest, PP_LIT("/")) && take(&rest, pp_sample_type_unit(p, column)) && take(&rest, PP_LIT(" ")) &&
		    read_total(rest, total))
			return true;
	}
	return false;
}

static int add_total(struct pp_build *build, const struct pp_profile *p, uint32_t column, int64_t total,
                     struct pp_error *err)
{
	struct pp_buf text = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&text);
	const struct pp_str type = pp_sample_type_name(p, column), unit = pp_sample_type_unit(p, column);
	int status = -1;

	if (pp_sink_str(&sink, total_mark, err) == 0 && pp_sink_bytes(&sink, type.ptr, type.len, err) == 0 &&
	    pp_sink_str(&sink, "/", err) == 0 && pp_sink_bytes(&sink, unit.ptr, unit.len, err) == 0 &&
	    pp_sink_str(&sink, " ", err) == 0 && pp_sink_i64(&sink, total, err) == 0)
		status = pp_build_comment(build, pp_build_string_append(build, (struct pp_str){text.bytes, text.n}));
	pp_buf_release(&text);
	return status;
}

struct pp_profile *pp_record_totals(const struct pp_profile *p, const int64_t *totals, uint32_t default_column,
                                    const struct pp_limits *limits, struct pp_error *err)
{
	unsigned char *gone = malloc((size_t)p->comments_n + 1);
	const struct pp_copy copy = {.profile = p, .comment_gone = gone};
	struct pp_build *build = NULL;
	struct pp_profile *made = NULL;

	if (!gone) {
		no_memory(err);
		return NULL;
	}
	for (uint32_t i = 0; i < p->comments_n; i++)
		gone[i] = pp_is_total(pp_string(p, p->comments[i]));
	build = pp_copy_begin(&copy, limits, err);
	if (!build)
		goto done;
	for (uint32_t c = 0; totals && c < p->sample_types_n; c++)
		if (add_total(build, p, c, totals[c], err) != 0 && !pp_build_error(build))
			goto done;
	if (default_column != PP_NONE)
		pp_build_profile(build)->default_sample_type = p->sample_types[default_column].type;
	if (pp_copy_samples(build, &copy, err) == 0)
		made = pp_build_finish(build, err);
done:
	pp_build_free(build);
	free(gone);
	return made;
}

struct pp_profile *pp_add_comments(const struct pp_profile *p, const char *const *comments, size_t n,
                                   const struct pp_limits *limits, struct pp_error *err)
{
	const struct pp_copy copy = {.profile = p};
	struct pp_build *build = pp_copy_begin(&copy, limits, err);
	struct pp_profile *made = NULL;

	for (size_t i = 0; build && i < n && !pp_build_error(build); i++)
		if (pp_build_comment(build, pp_build_string_append(build, pp_str_of(comments[i]))) != 0)
			break;
	if (build && pp_copy_samples(build, &copy, err) == 0)
		made = pp_build_finish(build, err);
	pp_build_free(build);
	return made;
}
