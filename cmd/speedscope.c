#include "cmd/export.h"

#include <stdio.h>

struct writer {
	const struct viewed *viewed;
	struct pp_sink *sink;
	struct pp_error *err;
	struct export_stacks stacks;
};

/* The name that speedscope has for the unit. */
static const char *unit_name(struct pp_str unit)
{
	static const struct {
		enum pp_unit_family family;
		double factor;
		const char *name;
	} units[] = {
		{PP_UNIT_TIME, 1, "nanoseconds"}, {PP_UNIT_TIME, 1e3, "microseconds"}, {PP_UNIT_TIME, 1e6, "milliseconds"},
		{PP_UNIT_TIME, 1e9, "seconds"},   {PP_UNIT_MEMORY, 1, "bytes"},
	};
	double factor;
	const enum pp_unit_family family = pp_unit_find(unit, &factor);
	for (size_t i = 0; i < PP_COUNT(units); i++)
		if (units[i].family == family && units[i].factor >= factor && units[i].factor <= factor)
			return units[i].name;
	return "none";
}

static int write_text(struct writer *w, const char *before, struct pp_str text)
{
	if (pp_sink_str(w->sink, before, w->err) != 0)
		return -1;
	return pp_json_write_str(text, w->sink, w->err);
}

static int write_frames(struct writer *w)
{
	for (uint32_t i = 0; i < pp_frames_count(w->stacks.frames); i++) {
		const struct pp_frame *frame = pp_frames_at(w->stacks.frames, i);
		if (write_text(w, i ? ",\n{\"name\":" : "{\"name\":", pp_frames_label(w->stacks.frames, i)) != 0 ||
		    (frame->file.len > 0 && write_text(w, ",\"file\":", frame->file) != 0) ||
		    pp_sink_str(w->sink, "}", w->err) != 0)
			return -1;
	}
	return 0;
}

/* Frames of one stack, root first. */
static int write_stack(struct writer *w, const struct pp_stack *stack)
{
	const char *separator = "[";
	if (stack->n == 0)
		return pp_sink_printf(w->sink, w->err, "[%u]", (unsigned)w->stacks.map.no_stack);
	for (uint32_t i = stack->n; i-- > 0;) {
		const uint32_t location = stack->locations[i];
		for (uint32_t k = w->stacks.map.first[location + 1]; k-- > w->stacks.map.first[location];) {
			if (pp_sink_printf(w->sink, w->err, "%s%u", separator, (unsigned)w->stacks.map.frame[k]) != 0)
				return -1;
			separator = ",";
		}
	}
	return pp_sink_str(w->sink, "]", w->err);
}

/* Stacks with sums of one sign, or their weights. */
static int write_list(struct writer *w, bool decreases, bool weights)
{
	const struct pp_profile *p = w->viewed->profile;
	bool first = true;
	for (uint32_t i = 0; i < p->stacks_n; i++) {
		if (w->stacks.sums.of[i] == 0 || (w->stacks.sums.of[i] < 0) != decreases)
			continue;
		if (!first && pp_sink_str(w->sink, weights ? "," : ",\n", w->err) != 0)
			return -1;
		first = false;
		if (weights ? pp_sink_printf(w->sink, w->err, "%llu", (unsigned long long)pp_abs_i64(w->stacks.sums.of[i])) != 0
		            : write_stack(w, &p->stacks[i]) != 0)
			return -1;
	}
	return 0;
}

static int write_profile(struct writer *w, const char *before, bool decreases, int64_t sum)
{
	const struct pp_str type = pp_sample_type_name(w->viewed->profile, w->viewed->column);
	const char *unit = unit_name(pp_sample_type_unit(w->viewed->profile, w->viewed->column));
	char name[500], plain[400];
	snprintf(name, sizeof name, "%s%s", pp_printable(plain, sizeof plain, type.ptr, type.len),
	         decreases ? " (decrease)" : "");
	if (pp_sink_printf(w->sink, w->err, "%s{\"type\":\"sampled\",\"name\":", before) != 0 ||
	    pp_json_write_str(pp_str_of(name), w->sink, w->err) != 0 ||
	    pp_sink_printf(w->sink, w->err, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%lld,\"samples\":[\n", unit,
	                   (long long)sum) != 0 ||
	    write_list(w, decreases, false) != 0 || pp_sink_str(w->sink, "],\n\"weights\":[", w->err) != 0 ||
	    write_list(w, decreases, true) != 0)
		return -1;
	return pp_sink_str(w->sink, "]}", w->err);
}

static int write_all(struct writer *w, const char *title)
{
	const int64_t *sides = w->stacks.sums.sides;
	static const char *const head = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	                                "\"exporter\":\"pprof-export\",\"name\":";
	if (write_text(w, head, pp_str_of(title)) != 0 ||
	    pp_sink_str(w->sink, ",\n\"activeProfileIndex\":0,\"shared\":{\"frames\":[\n", w->err) != 0 ||
	    write_frames(w) != 0 || write_profile(w, "]},\n\"profiles\":[", false, sides[0]) != 0 ||
	    (sides[1] != 0 && write_profile(w, ",\n", true, sides[1]) != 0))
		return -1;
	return pp_sink_str(w->sink, "]}\n", w->err);
}

int export_speedscope(const struct viewed *viewed, const char *title, struct pp_sink *sink, struct pp_error *err)
{
	struct writer w = {.viewed = viewed, .sink = sink, .err = err};
	int result = export_stacks_make(viewed, &w.stacks, err);
	if (result == 0)
		result = write_all(&w, title);
	export_stacks_release(&w.stacks);
	return result;
}
