/* pprof-top: ranks what a profile says by what it costs, itself (flat) and with its callees (cum). */
#include "cmd/cli.h"
#include "cmd/output.h"
#include "cmd/table.h"
#include "cmd/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
	struct input input;
	struct output output;
	struct view view;
	struct view_rows rows;
	int by, format; /* enum pp_granularity, enum table_format */
	bool by_cum;
	uint64_t limit;
};

/* A profile seen through one question. */
struct ranking {
	const struct pp_profile *profile;
	uint32_t column;
	int64_t total; /* what shares refer to */
	struct pp_count_rule rule;
	struct pp_frames *frames;
	struct pp_rollup rollup;
	struct pp_rollup divisor; /* of means: of the first sample type */
	uint32_t *order, order_n;
	struct pp_str unit, shown; /* of the profile; of --unit */
};

/* ---- work ---- */

static int rank(struct ranking *ranking, const struct request *request, struct pp_error *err)
{
	struct pp_frame_map map;
	pp_count_rule_for(ranking->profile, ranking->column, &ranking->rule);
	ranking->frames = pp_frames_new((enum pp_granularity)request->by, err);
	if (!ranking->frames || pp_frames_map(ranking->frames, ranking->profile, &map, err) != 0)
		return -1;
	int result = pp_rollup_make(ranking->profile, ranking->frames, &map, ranking->column, &ranking->rule, NULL,
	                            &ranking->rollup, err);
	if (result == 0 && request->rows.mean)
		result = pp_rollup_make(ranking->profile, ranking->frames, &map, 0, NULL, NULL, &ranking->divisor, err);
	pp_frame_map_release(&map);
	if (result != 0)
		return -1;
	return pp_rollup_order(&ranking->rollup, ranking->frames, request->by_cum, &ranking->order,
	                       &ranking->order_n, err);
}

/* Leaves out rows that the options do not want, as the reference: the cut is at a share of the sum of what
 * is there, not of the total. */
static void choose_rows(struct ranking *ranking, const struct view_rows *rows)
{
	const struct pp_rollup *rollup = &ranking->rollup;
	int64_t sum = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < ranking->order_n; i++) {
		const uint32_t frame = ranking->order[i];
		const int64_t flat = rollup->flat[frame], cum = rollup->cum[frame];
		if (rows->drop_negative && (flat < 0 || (flat == 0 && cum < 0)))
			continue;
		ranking->order[n++] = frame;
		if (pp_frames_at(ranking->frames, frame)->kind != PP_FRAME_NO_STACK)
			sum += flat; /* fits: no flat sum is over the total */
	}
	const double cut = fabs(trunc((double)sum * rows->node_fraction));
	ranking->order_n = n;
	n = 0;
	for (uint32_t i = 0; i < ranking->order_n; i++)
		if ((double)pp_abs_i64(rollup->cum[ranking->order[i]]) >= cut)
			ranking->order[n++] = ranking->order[i];
	ranking->order_n = rows->node_count > 0 && rows->node_count < n ? (uint32_t)rows->node_count : n;
}

static void release(struct ranking *ranking)
{
	free(ranking->order);
	pp_rollup_release(&ranking->rollup);
	pp_rollup_release(&ranking->divisor);
	pp_frames_free(ranking->frames);
}

/* ---- output ---- */

enum { FLAT, FLAT_SHARE, CUM, CUM_SHARE, NAME, FLAT_SAMPLES, FLAT_ERROR, CUM_SAMPLES, FILE_NAME, LINE, MAPPING, ADDRESS,
       SUM_SHARE, COLUMNS_N };

/* One standard error of a sum of n independent samples: the square root of n samples' share of it. */
static double sampling_error(int64_t value, double samples)
{
	return samples > 0 ? (double)pp_abs_i64(value) / sqrt(samples) : (double)NAN;
}

static double share(int64_t value, int64_t total)
{
	return total != 0 ? (double)value / (double)total : 0;
}

static struct pp_str address_text(uint64_t address, char *out, size_t out_n)
{
	if (address == 0)
		return PP_LIT("");
	snprintf(out, out_n, "0x%llx", (unsigned long long)address);
	return pp_str_of(out);
}

static int64_t flat_of(const struct ranking *ranking, const struct view_rows *rows, uint32_t frame)
{
	const int64_t flat = ranking->rollup.flat[frame];
	return rows->mean ? view_mean(flat, ranking->divisor.flat[frame]) : flat;
}

static int64_t cum_of(const struct ranking *ranking, const struct view_rows *rows, uint32_t frame)
{
	const int64_t cum = ranking->rollup.cum[frame];
	return rows->mean ? view_mean(cum, ranking->divisor.cum[frame]) : cum;
}

static void choose_unit(struct ranking *ranking, const struct request *request)
{
	const struct view_rows *rows = &request->rows;
	int64_t least = 0;
	ranking->unit = pp_sample_type_unit(ranking->profile, ranking->column);
	for (uint32_t i = 0; i < ranking->order_n && i < request->limit; i++) {
		const uint32_t frame = ranking->order[i];
		if (pp_frames_at(ranking->frames, frame)->kind != PP_FRAME_NO_STACK)
			view_take_least(&least, flat_of(ranking, rows, frame), cum_of(ranking, rows, frame));
	}
	view_unit(rows->unit, ranking->unit, view_divided(rows, least), view_divided(rows, ranking->total), &ranking->shown);
}

/* *sum becomes the sum of the flat values up to this row. */
static int print_row(struct table *table, const struct ranking *ranking, const struct view_rows *rows, uint32_t frame,
                     double *sum, struct pp_error *err)
{
	const struct pp_rollup *rollup = &ranking->rollup;
	const struct pp_frame *what = pp_frames_at(ranking->frames, frame);
	bool measured = ranking->rule.method != PP_COUNT_NOT_MEASURED;
	double flat_samples = measured ? rollup->flat_count[frame] : (double)NAN;
	const int64_t flat = flat_of(ranking, rows, frame), cum = cum_of(ranking, rows, frame);
	char address[32];
	*sum += (double)flat;
	const union table_cell cells[COLUMNS_N] = {
		[FLAT] = {.i = view_divided(rows, flat)},
		[FLAT_SHARE] = {.real = share(flat, ranking->total)},
		[CUM] = {.i = view_divided(rows, cum)},
		[CUM_SHARE] = {.real = share(cum, ranking->total)},
		[NAME] = {.text = pp_frames_label(ranking->frames, frame)},
		[FLAT_SAMPLES] = {.real = flat_samples},
		[FLAT_ERROR] = {.real = sampling_error(flat, flat_samples) / (rows->divide_by > 0 ? rows->divide_by : 1)},
		[CUM_SAMPLES] = {.real = measured ? rollup->cum_count[frame] : (double)NAN},
		[FILE_NAME] = {.text = what->file},
		[LINE] = {.i = what->line},
		[MAPPING] = {.text = what->mapping},
		[ADDRESS] = {.text = address_text(what->address, address, sizeof address)},
		[SUM_SHARE] = {.real = ranking->total != 0 ? *sum / (double)ranking->total : 0},
	};
	return table_row(table, cells, err);
}

static int print_table(const struct ranking *ranking, const struct request *request, enum table_format format,
                       struct pp_sink *sink, struct pp_error *err)
{
	const struct pp_str unit = ranking->unit;
	const struct table_column columns[COLUMNS_N] = {
		[FLAT] = {"flat", "flat", TABLE_INTEGER, unit, false},
		[FLAT_SHARE] = {"flat_share", "flat%", TABLE_SHARE, {0}, false},
		[CUM] = {"cum", "cum", TABLE_INTEGER, unit, false},
		[CUM_SHARE] = {"cum_share", "cum%", TABLE_SHARE, {0}, false},
		[NAME] = {"name", "name", TABLE_TEXT, {0}, false},
		[FLAT_SAMPLES] = {"flat_samples", NULL, TABLE_REAL, {0}, false},
		[FLAT_ERROR] = {"flat_error", "flat error", TABLE_REAL, unit, false},
		[CUM_SAMPLES] = {"cum_samples", NULL, TABLE_REAL, {0}, false},
		[FILE_NAME] = {"file", NULL, TABLE_TEXT, {0}, false},
		[LINE] = {"line", NULL, TABLE_INTEGER, {0}, false},
		[MAPPING] = {"mapping", NULL, TABLE_TEXT, {0}, false},
		[ADDRESS] = {"address", NULL, TABLE_TEXT, {0}, false},
		[SUM_SHARE] = {"sum_share", NULL, TABLE_SHARE, {0}, false},
	};
	double sum = 0;
	struct table *table = table_new_in(ranking->shown, format, columns, COLUMNS_N, sink, err);
	int result = table ? 0 : -1;
	for (uint32_t i = 0; result == 0 && i < ranking->order_n && i < request->limit; i++)
		result = print_row(table, ranking, &request->rows, ranking->order[i], &sum, err);
	if (result == 0)
		result = table_end(table, err);
	table_free(table);
	return result;
}

/* What people must know to read the numbers; programs get it from other columns and tools. */
static int print_heading(const struct ranking *ranking, struct pp_sink *sink, struct pp_error *err)
{
	const struct pp_profile *profile = ranking->profile;
	struct pp_str type = pp_sample_type_name(profile, ranking->column);
	const struct pp_str unit = ranking->unit;
	char name[200], total[80], duration[80], busy[40];
	if (pp_sink_printf(sink, err, "Sample type: %s\nTotal: %s",
	                   pp_printable(name, sizeof name, type.ptr, type.len),
	                   view_value_text(total, sizeof total, ranking->total, unit, ranking->shown)) != 0)
		return -1;
	if (profile->duration_ns > 0) {
		struct pp_str ns = PP_LIT("nanoseconds");
		double factor;
		bool is_time = pp_unit_find(unit, &factor) == PP_UNIT_TIME;
		snprintf(busy, sizeof busy, " (%.2f%% of it)",
		         100 * (double)ranking->total * factor / (double)profile->duration_ns);
		if (pp_sink_printf(sink, err, " in %s%s",
		                   pp_unit_human(duration, sizeof duration, profile->duration_ns, ns),
		                   is_time ? busy : "") != 0)
			return -1;
	}
	if (ranking->rule.method == PP_COUNT_NOT_MEASURED)
		return pp_sink_printf(sink, err, "\nSamples: not measured: %s\n\n", ranking->rule.reason);
	return pp_sink_printf(sink, err, "\nSamples: %.0f (%s)\n\n", ranking->rollup.total_count, ranking->rule.reason);
}

static enum cli_status print(const struct ranking *ranking, struct request *request)
{
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = output_open(&request->output, false);
	if (status != CLI_OK)
		return status;
	enum table_format format = table_format_for((enum table_format)request->format, &request->output);
	struct pp_sink sink = output_sink(&request->output);
	if ((format == TABLE_ALIGNED || format == TABLE_MARKDOWN) && print_heading(ranking, &sink, &err) != 0)
		status = cli_report(NULL, &err);
	else if (print_table(ranking, request, format, &sink, &err) != 0)
		status = cli_report(NULL, &err);
	return output_finish(&request->output, status);
}

/* ---- the command ---- */

static enum cli_status rank_and_print(const struct viewed *viewed, const char *name, struct request *request)
{
	struct pp_error err = PP_ERROR_INIT;
	struct ranking ranking = {.profile = viewed->profile, .column = viewed->column,
	                          .total = view_total(viewed, request->rows.mean)};
	enum cli_status status;
	if (rank(&ranking, request, &err) != 0) {
		status = cli_report(name, &err);
	} else {
		if (ranking.rollup.negative)
			cli_warn("'%s': holds negative values: a difference?", name);
		choose_rows(&ranking, &request->rows);
		choose_unit(&ranking, request);
		status = print(&ranking, request);
	}
	release(&ranking);
	return status;
}

int main(int argc, char **argv)
{
	struct request request = {.output = OUTPUT_INIT, .view = VIEW_INIT, .rows = VIEW_ROWS_INIT, .by = PP_BY_FRAMES,
	                          .format = TABLE_AUTO, .limit = UINT64_MAX};
	const struct cli_option options[] = {
		VIEW_OPTIONS(&request.view),
		VIEW_ROW_OPTIONS(&request.rows),
		INPUT_BY_OPTION(&request.by),
		{"cum", 0, CLI_FLAG, &request.by_cum, NULL, "sort by cumulative value", 0, 0, NULL},
		{"limit", 'n', CLI_COUNT, &request.limit, "N", "print the first N rows", 0, UINT64_MAX, NULL},
		TABLE_FORMAT_OPTION(&request.format),
		OUTPUT_OPTIONS(&request.output),
		INPUT_OPTIONS(&request.input),
		INPUT_FRAME_OPTIONS(&request.input),
	};
	const struct cli_command command = {"pprof-top", "[FILE]", "Rank what a profile says by what it costs.",
	                                    options, PP_COUNT(options)};
	struct cli_list operands;
	const char *name;
	enum cli_status status;
	if (!cli_parse(&command, argc, argv, &operands, &status))
		return (int)status;

	struct viewed viewed = {.column = PP_NONE};
	status = input_one(&operands, &name);
	if (status == CLI_OK)
		status = view_check_rows(&request.rows);
	if (status == CLI_OK)
		status = view_open(&request.view, &request.input, name, NULL, &viewed);
	if (status == CLI_OK)
		status = rank_and_print(&viewed, name, &request);

	viewed_release(&viewed);
	cli_list_release(&operands);
	return (int)status;
}
