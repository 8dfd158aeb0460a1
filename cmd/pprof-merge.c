/* pprof-merge: the sum of any number of profiles, or sums by label or time. One profile is in memory at a time, or as
 * many as threads read ahead, so that memory follows the distinct stacks and not the number of files. */
#include "cmd/cli.h"
#include "cmd/input.h"
#include "cmd/parts.h"
#include "cmd/profileout.h"
#include "cmd/readahead.h"
#include "libdiff/utctime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_SAME, TYPES_COMMON };
static const char *const types[] = {[TYPES_SAME] = "same", [TYPES_COMMON] = "common", NULL};

struct request {
	struct input input;
	struct profileout output;
	int types; /* TYPES_SAME, TYPES_COMMON */
	bool keep_going;
	uint64_t threads;
	const char *by_label, *by_time;
	int64_t width_ns; /* of by_time; 0: not asked for */
};

#define NO_TIME INT64_MIN

/* The profiles of one span of time, or all. */
struct bucket {
	int64_t start_ns; /* NO_TIME: of profiles without one, or all */
	size_t profiles_n;
	struct pp_merge *merge;
};

struct buckets {
	struct bucket *list; /* in the order of start_ns */
	size_t n;
};

/* ---- options ---- */

/* "90s", "5m", "1h", "7d": nanoseconds, or 0 for anything else. */
static int64_t parse_width(const char *text)
{
	static const struct {
		char unit;
		int64_t ns;
	} units[] = {{'s', INT64_C(1000000000)}, {'m', INT64_C(60000000000)}, {'h', INT64_C(3600000000000)}, {'d', INT64_C(86400000000000)}};
	int64_t number = 0, ns;
	size_t n = strspn(text, "0123456789");
	for (size_t i = 0; i < n && i < 10; i++)
		number = 10 * number + (text[i] - '0');
	for (size_t i = 0; i < PP_COUNT(units); i++)
		if (n > 0 && n <= 10 && text[n] == units[i].unit && text[n + 1] == '\0' &&
		    !__builtin_mul_overflow(number, units[i].ns, &ns))
			return ns;
	return 0;
}

static enum cli_status check(struct request *request)
{
	if (request->by_label && request->by_time)
		return cli_usage("--by-label and --by-time do not go together: split one of its parts by the other");
	if ((request->by_label || request->by_time) && !request->output.output.path)
		return cli_usage("--by-%s needs --output, a folder", request->by_label ? "label" : "time");
	if (request->by_label && !*request->by_label)
		return cli_usage("--by-label names no label");
	if (request->by_time && (request->width_ns = parse_width(request->by_time)) == 0)
		return cli_usage("--by-time takes a span such as 30s, 5m, 1h or 1d, and not '%s'", request->by_time);
	return CLI_OK;
}

/* ---- sums ---- */

/* Where the span begins that a time is in: a multiple of its width. */
static int64_t start_of(int64_t time_ns, int64_t width_ns)
{
	const int64_t rest = time_ns % width_ns;
	return time_ns - rest - (rest < 0 && time_ns > INT64_MIN + width_ns ? width_ns : 0);
}

/* The bucket of this start, made if there is none. NULL, with *status, after saying what failed. */
static struct bucket *find_bucket(const struct request *request, struct buckets *buckets, int64_t start_ns,
                                  enum cli_status *status)
{
	const struct pp_limits limits = input_limits(&request->input);
	struct pp_error err = PP_ERROR_INIT;
	size_t at = buckets->n;
	while (at > 0 && buckets->list[at - 1].start_ns > start_ns)
		at--;
	if (at > 0 && buckets->list[at - 1].start_ns == start_ns)
		return &buckets->list[at - 1];
	*status = CLI_INPUT;
	if (buckets->n == PARTS_MAX) {
		cli_error("more than %d spans of time", PARTS_MAX);
		return NULL;
	}
	struct bucket *grown = realloc(buckets->list, (buckets->n + 1) * sizeof *grown);
	struct pp_merge *merge = grown ? pp_merge_new(&limits, &err) : NULL;
	buckets->list = grown ? grown : buckets->list;
	if (!merge) {
		*status = cli_no_memory();
		return NULL;
	}
	if (request->types == TYPES_COMMON)
		pp_merge_take_common(merge);
	memmove(grown + at + 1, grown + at, (buckets->n - at) * sizeof *grown);
	grown[at] = (struct bucket){start_ns, 0, merge};
	buckets->n++;
	*status = CLI_OK;
	return &grown[at];
}

static enum cli_status add_profile(const struct request *request, struct buckets *buckets, const char *name,
                                   const struct pp_profile *profile)
{
	const bool timed = request->width_ns && profile->time_ns != 0;
	enum cli_status status = CLI_OK;
	struct pp_error err = PP_ERROR_INIT;
	struct bucket *bucket = find_bucket(request, buckets, timed ? start_of(profile->time_ns, request->width_ns) : NO_TIME, &status);
	if (!bucket)
		return status;
	bucket->profiles_n++;
	return pp_merge_add(bucket->merge, profile, 1, NULL, &err) == 0 ? CLI_OK : cli_report(name, &err);
}

/* Adds the profiles up. With keep_going those that cannot be read are left out, as long as there are others. */
static enum cli_status add_all(const struct request *request, struct readahead *ahead, const struct input_names *names,
                               struct buckets *buckets)
{
	enum cli_status status = CLI_OK;
	size_t unread = 0;
	for (size_t i = 0; i < names->n; i++) {
		struct pp_profile *profile = readahead_take(ahead, true, NULL, &status);
		if (profile)
			status = add_profile(request, buckets, names->names[i], profile);
		else if (request->keep_going && ++unread < names->n)
			status = CLI_OK;
		pp_profile_free(profile);
		if (status != CLI_OK)
			return status;
	}
	if (unread > 0)
		cli_warn("%zu of %zu profiles are left out of the sum", unread, names->n);
	return CLI_OK;
}

static enum cli_status read_all(const struct request *request, const struct input_names *names, struct buckets *buckets)
{
	const char *const *all = (const char *const *)names->names;
	struct readahead *ahead = readahead_new(&request->input, all, names->n, request->threads);
	enum cli_status status = ahead ? add_all(request, ahead, names, buckets) : CLI_SYSTEM;
	readahead_free(ahead);
	return status;
}

/* ---- results ---- */

/* The sum of a bucket; NULL, with *status, after saying what failed. */
static struct pp_profile *finish(struct bucket *bucket, enum cli_status *status)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *sum = pp_merge_finish(bucket->merge, &err);
	*status = sum ? CLI_OK : cli_report(NULL, &err);
	return sum;
}

/* "KEY=VALUE", or "KEY" without a value; malloc'ed. NULL after saying that there is no memory. */
static char *label_name(const char *key, const struct pp_split_part *part, uint32_t number)
{
	char *plain = parts_name("", pp_str_of(key), 0), *name = NULL;
	const size_t n = plain ? strlen(plain) + 2 : 0;
	char *prefix = plain ? malloc(n) : NULL;
	if (prefix) {
		snprintf(prefix, n, "%s%s", plain, part->without ? "" : "=");
		name = parts_name(prefix, part->value, number);
	} else if (plain) {
		cli_no_memory();
	}
	free(plain);
	free(prefix);
	return name;
}

static enum cli_status write_label_value(const struct pp_profile *sum, const struct pp_split *split, uint32_t i, size_t profiles_n,
                                         const char *key, const struct pp_limits *limits, struct parts *parts)
{
	const struct pp_split_part *part = &split->parts[i];
	struct pp_error err = PP_ERROR_INIT;
	struct pp_merge *merge = pp_merge_new(limits, &err);
	struct pp_profile *profile = NULL;
	char *name = label_name(key, part, i);
	enum cli_status status = CLI_SYSTEM; /* without a name, which has been said */
	if (name && (!merge || pp_split_add(merge, sum, split, i, &err) != 0 || !(profile = pp_merge_finish(merge, &err))))
		status = cli_report(NULL, &err);
	else if (name)
		status = parts_add(parts, name, part->value, profiles_n, profile);
	free(name);
	pp_profile_free(profile);
	pp_merge_free(merge);
	return status;
}

static enum cli_status write_by_label(struct request *request, struct bucket *all)
{
	const struct pp_limits limits = input_limits(&request->input);
	struct pp_error err = PP_ERROR_INIT;
	struct pp_split split = {.arena = NULL};
	enum cli_status status;
	struct parts *parts = NULL;
	struct pp_profile *sum = finish(all, &status);
	if (sum && pp_split_by_label(sum, pp_str_of(request->by_label), PARTS_MAX, &limits, &split, &err) != 0)
		status = cli_report(request->by_label, &err);
	if (status == CLI_OK)
		parts = parts_open(request->output.output.path, "value", &request->output, &limits, &status);
	for (uint32_t i = 0; status == CLI_OK && i < split.parts_n; i++)
		status = write_label_value(sum, &split, i, all->profiles_n, request->by_label, &limits, parts);
	status = parts_finish(parts, status);
	pp_split_release(&split);
	pp_profile_free(sum);
	return status;
}

static enum cli_status write_by_time(struct request *request, struct buckets *buckets)
{
	const struct pp_limits limits = input_limits(&request->input);
	enum cli_status status;
	struct parts *parts = parts_open(request->output.output.path, "time", &request->output, &limits, &status);
	for (size_t i = 0; status == CLI_OK && i < buckets->n; i++) {
		struct bucket *bucket = &buckets->list[i];
		char time[64] = "";
		struct pp_profile *sum = finish(bucket, &status);
		if (bucket->start_ns != NO_TIME)
			pd_time_text(time, sizeof time, bucket->start_ns);
		if (sum)
			status = parts_add(parts, *time ? time : "unknown", pp_str_of(time), bucket->profiles_n, sum);
		pp_profile_free(sum);
	}
	return parts_finish(parts, status);
}

static enum cli_status write_results(struct request *request, struct buckets *buckets)
{
	const struct pp_limits limits = input_limits(&request->input);
	enum cli_status status;
	if (request->by_time)
		return write_by_time(request, buckets);
	if (request->by_label)
		return write_by_label(request, &buckets->list[0]);
	struct pp_profile *sum = finish(&buckets->list[0], &status);
	if (sum)
		status = profileout_write(&request->output, sum, &limits);
	pp_profile_free(sum);
	return status;
}

static void release(struct buckets *buckets)
{
	for (size_t i = 0; i < buckets->n; i++)
		pp_merge_free(buckets->list[i].merge);
	free(buckets->list);
}

int main(int argc, char **argv)
{
	struct request request = {.output = PROFILEOUT_INIT, .types = TYPES_SAME, .threads = 1};
	const struct cli_option options[] = {
		PROFILEOUT_OPTIONS(&request.output),
		{"types", 0, CLI_CHOICE, &request.types, "WHICH", "sample types that differ: refuse, or keep what all have", 0, 0, types},
		{"by-label", 0, CLI_STRING, &request.by_label, "KEY", "a sum for each value of this label, in the folder --output", 0, 0, NULL},
		{"by-time", 0, CLI_STRING, &request.by_time, "SPAN", "a sum for each span of time (30s, 5m, 1h), in the folder --output", 0, 0, NULL},
		{"keep-going", 'k', CLI_FLAG, &request.keep_going, NULL, "leave out profiles that cannot be read", 0, 0, NULL},
		READAHEAD_OPTION(&request.threads),
		INPUT_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-merge", "[FILE | FOLDER | @LIST]...",
	                                    "Add profiles up into one, or one a label value or time.", options, PP_COUNT(options)};
	struct cli_list operands;
	struct input_names names = {0};
	struct buckets buckets = {NULL, 0};
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	status = check(&request);
	if (status == CLI_OK)
		status = input_expand(&operands, &names);
	if (status == CLI_OK && names.n == 0)
		status = cli_usage("the list of names is empty");
	if (status == CLI_OK)
		status = read_all(&request, &names, &buckets);
	if (status == CLI_OK)
		status = write_results(&request, &buckets);

	release(&buckets);
	profileout_release(&request.output);
	input_names_release(&names);
	cli_list_release(&operands);
	return (int)status;
}
