/* Intake: which files count, what they cover, and the order of the work. */
#include "libdiff/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((uint64_t)1 << 30)

static const struct {
	const char *name, *key;
} fields[PD_FIELDS_N] = {
	[PD_FIELD_CONCLUSION] = {"Conclusion", "conclusion"},
	[PD_FIELD_EXIT] = {"Exit", "exit"},
	[PD_FIELD_SCOPE] = {"Scope", "scope"},
	[PD_FIELD_LENS] = {"Lens", "lens"},
	[PD_FIELD_INCIDENT] = {"Incident", "incident"},
	[PD_FIELD_BASELINE] = {"Baseline", "baseline"},
	[PD_FIELD_CONTROL] = {"Control", "control"},
	[PD_FIELD_SLICE] = {"Slice", "slice"},
	[PD_FIELD_LOCATION] = {"Location", "location"},
	[PD_FIELD_COST] = {"Cost", "cost"},
	[PD_FIELD_SHARE] = {"Share", "share"},
	[PD_FIELD_NORMALIZATION] = {"Normalization", "normalization"},
	[PD_FIELD_MECHANISM] = {"Mechanism", "mechanism"},
	[PD_FIELD_EVIDENCE] = {"Evidence", "evidence"},
	[PD_FIELD_COUNTEREVIDENCE] = {"Counterevidence", "counterevidence"},
	[PD_FIELD_CONFIDENCE] = {"Confidence", "confidence"},
	[PD_FIELD_LIMITATIONS] = {"Limitations", "limitations"},
	[PD_FIELD_NEXT_ACTION] = {"Next action", "next_action"},
};

const char *pd_field_name(enum pd_field field)
{
	return fields[field].name;
}

const char *pd_field_key(enum pd_field field)
{
	return fields[field].key;
}

const char *pd_conclusion_name(enum pd_conclusion conclusion)
{
	static const char *const names[] = {"established cause", "suspected cause", "cost location", "inconclusive"};

	return names[conclusion];
}

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
}

/* ---- before the profiles ---- */

static int read_case(struct pd_reporter *reporter, struct pp_error *err)
{
	static const char *const names[RP_SIDES_N] = {"baseline", "incident", "control"};
	const struct pd_facts *facts = reporter->known.facts;
	const char *lens = pd_facts_get(facts, "lens"), *exit = pd_facts_get(facts, "exit");

	for (int side = 0; side < RP_SIDES_N; side++)
		if (pd_facts_window(facts, names[side], &reporter->windows[side], err))
			return -1;
	if (lens) {
		struct pp_error why = PP_ERROR_INIT;
		if (pd_lens_parse(lens, &reporter->lens, &why))
			return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "line %u: lens: %s", pd_facts_line(facts, "lens"), why.text);
		reporter->lens_given = reporter->lens_known = true;
	}
	if (!exit || strcmp(exit, "none") == 0)
		return 0;
	if (strcmp(exit, "A") != 0 && strcmp(exit, "B") != 0)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET,
		               "line %u: exit is A, B or none, and C and D are found from the profiles: '%s'",
		               pd_facts_line(facts, "exit"), exit);
	reporter->stated_exit = exit[0];
	return 0;
}

struct pd_reporter *pd_reporter_new(const struct pd_report_case *known, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(ARENA_BYTES);
	struct pd_reporter *reporter = arena ? pp_arena_alloc(arena, sizeof(*reporter)) : NULL;

	if (!reporter) {
		no_memory(err);
		pp_arena_free(arena);
		return NULL;
	}
	*reporter = (struct pd_reporter){.arena = arena, .known = *known};
	if (read_case(reporter, err)) {
		pd_reporter_free(reporter);
		return NULL;
	}
	return reporter;
}

void pd_reporter_free(struct pd_reporter *reporter)
{
	if (!reporter)
		return;
	pd_explain_free(reporter->explain);
	pd_explain_free(reporter->control);
	pd_compare_free(reporter->compare);
	pp_arena_free(reporter->arena);
}

/* ---- a file ---- */

static struct rp_file *new_file(struct pd_reporter *reporter, enum pd_load_side side, const char *name, struct pp_error *err)
{
	if (pp_arena_reserve(reporter->arena, (void **)&reporter->files, &reporter->files_cap, reporter->files_n + 1,
	                     sizeof(*reporter->files))) {
		no_memory(err);
		return NULL;
	}
	struct rp_file *file = &reporter->files[reporter->files_n];
	*file = (struct rp_file){.side = side, .why = "", .kind = ""};
	file->name = pp_arena_copy(reporter->arena, name, strlen(name));
	if (!file->name) {
		no_memory(err);
		return NULL;
	}
	reporter->files_n++;
	return file;
}

int pd_reporter_add_broken(struct pd_reporter *reporter, enum pd_load_side side, const char *name, const char *why,
                           struct pp_error *err)
{
	struct rp_file *file = new_file(reporter, side, name, err);

	if (!file)
		return -1;
	file->use = RP_BROKEN;
	file->why = pp_arena_copy(reporter->arena, why, strlen(why));
	return file->why ? 0 : no_memory(err);
}

/* Without a lens in the case, the first profile's default sample type is the question. */
static int derive_lens(struct pd_reporter *reporter, const struct pp_profile *p, struct pp_error *err)
{
	char warning[512];
	struct pp_buf text = PP_BUF_INIT;
	uint32_t column;
	int rc = -1;

	if (pp_sample_type_find(p, NULL, &column, warning, sizeof(warning), err))
		return -1;
	struct pp_str parts[] = {PP_LIT("unknown"), pp_sample_type_name(p, column), pp_sample_type_unit(p, column),
	                         pp_string(p, p->period_type.type), pp_string(p, p->period_type.unit)};
	for (size_t i = 0; i < PP_COUNT(parts); i++)
		for (size_t k = 0; k < parts[i].len; k++)
			if (parts[i].ptr[k] == ':' || parts[i].ptr[k] == '\0')
				return pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "no lens is given, and the profile's sample type is no name");
	for (size_t i = 0; i < PP_COUNT(parts); i++)
		if ((i && pp_buf_append(&text, ":", 1, err)) || pp_buf_append(&text, parts[i].ptr, parts[i].len, err))
			goto done;
	const char *copy = pp_arena_copy(reporter->arena, text.bytes, text.n);
	if (!copy)
		no_memory(err);
	else
		rc = pd_lens_parse(copy, &reporter->lens, err);
	reporter->lens_known = rc == 0;
done:
	pp_buf_release(&text);
	return rc;
}

/* The comparison is made for its checks only: what of it fails is left out, and said. */
static int open_engines(struct pd_reporter *reporter, struct pp_error *err)
{
	struct pd_explain_options options = PD_EXPLAIN_OPTIONS_DEFAULT;
	struct pd_options compare = PD_OPTIONS_DEFAULT;

	if (reporter->explain)
		return 0;
	options.load = reporter->known.load;
	options.app = reporter->known.app;
	options.changed = reporter->known.changed;
	options.snapshot = pd_lens_snapshot(&reporter->lens);
	reporter->explain = pd_explain_new(&options, err);
	if (!reporter->explain)
		return -1;
	if (reporter->known.control && !(reporter->control = pd_explain_new(&options, err)))
		return -1;
	if (reporter->lens.name.len)
		compare.lens = reporter->lens.text;
	else
		compare.sample_type = reporter->lens.text;
	reporter->compare = pd_compare_new(&compare, err);
	return reporter->compare ? 0 : -1;
}

/* Half-open intervals; one without a duration is a point. */
static bool overlaps(const struct pd_window *window, int64_t from, int64_t to)
{
	return to > from ? from < window->to_ns && to > window->from_ns : from >= window->from_ns && from < window->to_ns;
}

static int64_t end_of(const struct rp_file *file)
{
	int64_t end;

	if (file->duration_ns <= 0 || !pp_add_i64(file->time_ns, file->duration_ns, &end))
		return file->time_ns;
	return end;
}

static void place_in_window(const struct pd_reporter *reporter, struct rp_file *file)
{
	const struct pd_window *window = &reporter->windows[file->side];
	int64_t end = end_of(file);

	if (!window->given || file->time_ns == 0)
		return;
	if (!overlaps(window, file->time_ns, end))
		file->use = RP_OUTSIDE;
	else
		file->partly = file->time_ns < window->from_ns || end > window->to_ns;
}

static void find_duplicate(const struct pd_reporter *reporter, struct rp_file *file)
{
	for (const struct rp_file *other = reporter->files; other < file; other++)
		if (other->side == file->side && other->use == RP_USED &&
		    memcmp(other->content_hash, file->content_hash, sizeof(file->content_hash)) == 0) {
			file->use = RP_DUPLICATE;
			file->why = other->name;
			return;
		}
}

static bool is_empty(const struct pp_profile *p, uint32_t column)
{
	for (uint32_t s = 0; s < p->samples_n; s++)
		if (pp_value(p, s, column) != 0)
			return false;
	return true;
}

static int describe(struct pd_reporter *reporter, struct rp_file *file, const struct pp_profile *p,
                    const struct pp_origin *origin, uint32_t column, struct pp_error *err)
{
	struct rp_text kind = {PP_BUF_INIT, false};

	memcpy(file->content_hash, origin->content_hash, sizeof(file->content_hash));
	file->time_ns = p->time_ns;
	file->duration_ns = p->duration_ns;
	file->period = p->period;
	file->repaired = p->notes_n > 0;
	for (uint32_t c = 0; c < p->sample_types_n; c++)
		if (column == PP_NONE || c == column) {
			struct pp_str type = pp_sample_type_name(p, c), unit = pp_sample_type_unit(p, c);
			rp_say(&kind, "%s%.*s %.*s", kind.buf.n ? ", " : "", (int)type.len, type.ptr, (int)unit.len, unit.ptr);
		}
	struct pp_str period = pp_string(p, p->period_type.type);
	rp_say(&kind, "; period type %.*s", period.len ? (int)period.len : 9, period.len ? period.ptr : "not given");
	file->kind = rp_take(&kind, reporter->arena);
	return file->kind ? 0 : no_memory(err);
}

static int feed(struct pd_reporter *reporter, struct rp_file *file, size_t files_n, const struct pp_profile *p,
                const struct pp_origin *origin, uint32_t column, struct pp_error *err)
{
	const char *slash = strrchr(file->name, '/');
	const struct pd_load_row *row = pd_load_find(reporter->known.load, file->side, slash ? slash + 1 : file->name, files_n);
	struct pp_error unheard = PP_ERROR_INIT;
	enum pd_side side = file->side == PD_LOAD_BASELINE ? PD_BASELINE : PD_INCIDENT;

	file->has_load = row != NULL;
	file->empty = is_empty(p, column);
	if (open_engines(reporter, err))
		return -1;
	if (reporter->control && file->side != PD_LOAD_INCIDENT && pd_explain_add(reporter->control, side, p, column, row, err))
		return -1;
	if (file->side == PD_LOAD_CONTROL)
		return 0;
	if (pd_explain_add(reporter->explain, side, p, column, row, err))
		return -1;
	if (!reporter->compare_failed &&
	    pd_compare_add(reporter->compare, side, file->name, p, origin, row ? row->total : NAN, &unheard))
		reporter->compare_failed = true;
	return 0;
}

static const char *keep(struct pd_reporter *reporter, const char *text)
{
	return text ? pp_arena_copy(reporter->arena, text, strlen(text)) : NULL;
}

/* A profile without a time is of the window that was asked for. */
static int take_provenance(struct pd_reporter *reporter, struct rp_file *file, const struct pd_provenance *provenance,
                           struct pp_error *err)
{
	file->has_provenance = true;
	file->provenance = *provenance;
	file->provenance.profile_type = keep(reporter, provenance->profile_type);
	file->provenance.warnings = keep(reporter, provenance->warnings);
	if ((provenance->profile_type && !file->provenance.profile_type) || (provenance->warnings && !file->provenance.warnings))
		return no_memory(err);
	if (file->time_ns == 0 && provenance->window.given) {
		file->time_ns = provenance->window.from_ns;
		file->duration_ns = provenance->window.to_ns - provenance->window.from_ns;
	}
	return 0;
}

int pd_reporter_add(struct pd_reporter *reporter, enum pd_load_side side, const char *name, size_t files_n,
                    const struct pp_profile *profile, const struct pp_origin *origin, const struct pd_provenance *provenance,
                    struct pp_error *err)
{
	struct rp_file *file = new_file(reporter, side, name, err);
	uint32_t column;

	if (!file || (!reporter->lens_known && derive_lens(reporter, profile, err)))
		return -1;
	const char *slash = strrchr(name, '/');
	enum pd_fit fit = pd_lens_fit(&reporter->lens, profile, slash ? slash + 1 : name, &column);
	if (describe(reporter, file, profile, origin, column, err))
		return -1;
	if (provenance && take_provenance(reporter, file, provenance, err))
		return -1;
	file->use = fit == PD_FIT_YES ? RP_USED : fit == PD_FIT_OTHER_TYPE ? RP_OTHER_KIND : RP_OTHER_PERIOD;
	if (file->use == RP_USED)
		place_in_window(reporter, file);
	if (file->use == RP_USED)
		find_duplicate(reporter, file);
	if (file->use != RP_USED || reporter->stated_exit)
		return 0;
	return feed(reporter, file, files_n, profile, origin, column, err);
}

/* ---- the end ---- */

static int by_start(const void *a, const void *b)
{
	const struct rp_file *x = *(const struct rp_file *const *)a, *y = *(const struct rp_file *const *)b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Share of a window that the used files of a side cover together. */
static double covered(const struct pd_reporter *reporter, enum pd_load_side side, struct pp_arena *arena)
{
	const struct pd_window *window = &reporter->windows[side];
	const struct rp_file **list = pp_arena_alloc(arena, (reporter->files_n + 1) * sizeof(*list));
	size_t n = 0;
	double sum = 0;
	int64_t until = window->from_ns;

	if (!list || !window->given)
		return NAN;
	for (size_t i = 0; i < reporter->files_n; i++)
		if (reporter->files[i].side == side && reporter->files[i].use == RP_USED && reporter->files[i].time_ns)
			list[n++] = &reporter->files[i];
	qsort(list, n, sizeof(*list), by_start);
	for (size_t i = 0; i < n; i++) {
		int64_t from = list[i]->time_ns > until ? list[i]->time_ns : until, to = end_of(list[i]);
		if (to > window->to_ns)
			to = window->to_ns;
		if (to <= from)
			continue;
		sum += (double)(to - from);
		until = to;
	}
	return sum / (double)(window->to_ns - window->from_ns);
}

/* What the texts beside the used files of a side say of collection. */
static void measure_collection(const struct pd_reporter *reporter, enum pd_load_side side, struct rp_coverage *coverage)
{
	const struct pd_window *window = &reporter->windows[side];
	double sum = 0;

	coverage->least = coverage->most = coverage->mean = NAN;
	for (size_t i = 0; i < reporter->files_n; i++) {
		const struct rp_file *file = &reporter->files[i];
		const struct pd_provenance *p = &file->provenance;
		if (file->side != side || file->use != RP_USED || !file->has_provenance)
			continue;
		coverage->beyond += window->given && p->window.given && (p->window.from_ns < window->from_ns || p->window.to_ns > window->to_ns);
		coverage->other_type += reporter->lens_given && p->profile_type && reporter->lens.name.len &&
		                        strcmp(p->profile_type, reporter->lens.text) != 0;
		coverage->cut += p->max_nodes > 0;
		coverage->scoped += p->scoped;
		if (isnan(p->coverage))
			continue;
		coverage->least = coverage->measured && coverage->least < p->coverage ? coverage->least : p->coverage;
		coverage->most = coverage->measured && coverage->most > p->coverage ? coverage->most : p->coverage;
		coverage->measured++;
		sum += p->coverage;
	}
	if (coverage->measured)
		coverage->mean = sum / (double)coverage->measured;
}

static void measure_coverage(const struct pd_reporter *reporter, enum pd_load_side side, struct pp_arena *arena,
                             struct rp_coverage *coverage)
{
	*coverage = (struct rp_coverage){.from_ns = INT64_MAX, .to_ns = INT64_MIN};
	for (size_t i = 0; i < reporter->files_n; i++)
		if (reporter->files[i].side == side)
			coverage->uses[reporter->files[i].use]++;
	coverage->used = coverage->uses[RP_USED];
	enum rp_use seen = coverage->used ? RP_USED : RP_OUTSIDE;
	for (size_t i = 0; i < reporter->files_n; i++) {
		const struct rp_file *file = &reporter->files[i];
		if (file->side != side || file->use != seen)
			continue;
		coverage->partly += file->partly;
		coverage->empty += file->empty;
		coverage->times_unknown += file->time_ns == 0;
		if (file->time_ns == 0)
			continue;
		coverage->from_ns = file->time_ns < coverage->from_ns ? file->time_ns : coverage->from_ns;
		coverage->to_ns = end_of(file) > coverage->to_ns ? end_of(file) : coverage->to_ns;
	}
	coverage->covered = covered(reporter, side, arena);
	measure_collection(reporter, side, coverage);
}

struct pd_report *pd_reporter_finish(struct pd_reporter *reporter, struct pp_error *err)
{
	struct pp_arena *arena = pp_arena_new(ARENA_BYTES);
	struct pd_report *report = arena ? pp_arena_alloc(arena, sizeof(*report)) : NULL;
	struct rp_findings findings = {.reporter = reporter, .arena = arena};
	struct pd_comparison *comparison = NULL;
	struct pd_explanation *control = NULL;
	struct pp_error unheard = PP_ERROR_INIT;

	if (!report) {
		no_memory(err);
		pp_arena_free(arena);
		return NULL;
	}
	*report = (struct pd_report){.arena = arena, .exit = '-', .conclusion = PD_INCONCLUSIVE};
	for (int side = 0; side < RP_SIDES_N; side++)
		measure_coverage(reporter, (enum pd_load_side)side, arena, &findings.coverage[side]);
	if (findings.coverage[PD_LOAD_INCIDENT].used && reporter->explain) {
		report->explanation = pd_explain_finish(reporter->explain, err);
		if (!report->explanation)
			goto failed;
		if (findings.coverage[PD_LOAD_BASELINE].used && !reporter->compare_failed)
			comparison = pd_compare_finish(reporter->compare, &unheard);
		if (reporter->control && findings.coverage[PD_LOAD_BASELINE].used && findings.coverage[PD_LOAD_CONTROL].used &&
		    !(control = pd_explain_finish(reporter->control, err)))
			goto failed;
	}
	findings.control = control;
	findings.explanation = report->explanation;
	findings.comparison = comparison;
	findings.unit = reporter->lens.unit.len ? reporter->lens.unit : PP_LIT("");
	rp_judge(&findings);
	if (rp_write_fields(&findings, report->values, err))
		goto failed;
	report->conclusion = findings.conclusion;
	report->exit = findings.exit;
	report->regression = findings.cause &&
	                     (findings.cause->verdict == PD_VERDICT_CODE || findings.cause->verdict == PD_VERDICT_RUNTIME);
	if (findings.exit != '-') {
		pd_explanation_free(report->explanation);
		report->explanation = NULL;
	}
	pd_comparison_free(comparison);
	pd_explanation_free(control);
	return report;
failed:
	pd_explanation_free(control);
	pd_comparison_free(comparison);
	pd_report_free(report);
	return NULL;
}

void pd_report_free(struct pd_report *report)
{
	if (!report)
		return;
	pd_explanation_free(report->explanation);
	pp_arena_free(report->arena);
}
