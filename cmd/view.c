#include "cmd/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int choose_column(const struct view *view, const char *name, struct viewed *viewed, struct pp_error *err)
{
	char warning[400];
	if (pp_sample_type_find(viewed->profile, view->sample_type, &viewed->column, warning, sizeof warning, err) != 0)
		return -1;
	if (warning[0])
		cli_warn("'%s': %s", name, warning);
	return 0;
}

/* The first column's sum with its signs, as the reference has it; of what is recorded, the size. */
static void take_mean(struct viewed *viewed)
{
	struct pp_error err = PP_ERROR_INIT;
	if (viewed->recorded)
		viewed->mean_of = viewed->totals[0];
	else if (pp_total_signed(viewed->profile, 0, &viewed->mean_of, &err) != 0)
		viewed->mean_of = 0;
}

/* A total that an earlier filter recorded counts, unless shares are to be relative. */
static void take_totals(const struct view *view, struct viewed *viewed)
{
	for (uint32_t c = 0; c < viewed->profile->sample_types_n; c++) {
		struct pp_error err = PP_ERROR_INIT;
		const double scale = view->filters.scale != 0 ? fabs(view->filters.scale) : 1;
		int64_t *total = &viewed->totals[c];
		if (!view->relative && pp_total_recorded(viewed->profile, c, total)) {
			viewed->recorded = true;
			if (scale != 1)
				*total = fabs((double)*total * scale) < 9.2e18 ? llround((double)*total * scale) : -1;
		} else if (pp_total(viewed->profile, c, total, &err) != 0) {
			*total = -1; /* whoever uses the column hits on it */
		}
	}
	if (viewed->profile->sample_types_n > 0)
		take_mean(viewed);
}

static bool drops_samples(const struct pp_view *filters)
{
	const char *const options[] = {filters->names.focus,   filters->names.ignore,    filters->names.hide,
	                               filters->names.show,    filters->names.show_from, filters->tags.tagfocus,
	                               filters->tags.tagignore, filters->tags.tagshow,   filters->tags.taghide};
	for (size_t i = 0; i < PP_COUNT(options); i++)
		if (options[i] && *options[i])
			return true;
	return false;
}

bool view_is_set(const struct pp_view *filters)
{
	const char *const others[] = {filters->prune_from, filters->tagroot, filters->tagleaf, filters->trim_path};
	for (size_t i = 0; i < PP_COUNT(others); i++)
		if (others[i] && *others[i])
			return true;
	return drops_samples(filters) || filters->no_inlines || (filters->scale != 0 && filters->scale != 1);
}

enum cli_status view_filter(const struct pp_view *filters, const struct pp_limits *limits, const char *name,
                            struct pp_unmatched *unmatched, struct pp_profile **profile)
{
	struct pp_error err = PP_ERROR_INIT;
	if (pp_view_prepare(filters, limits, unmatched, profile, &err) != 0 ||
	    pp_view_filter(filters, limits, unmatched, profile, &err) != 0)
		return cli_report(name, &err);
	return CLI_OK;
}

void view_join_unmatched(struct pp_unmatched *all, const struct pp_unmatched *one)
{
	size_t kept = 0;
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < one->n; k++)
			if (strcmp(all->option[i], one->option[k]) == 0) {
				all->option[kept++] = all->option[i];
				break;
			}
	all->n = kept;
}

static void warn_unmatched(const struct pp_unmatched *unmatched, const char *name)
{
	for (size_t i = 0; i < unmatched->n; i++)
		cli_warn("'%s': --%s matched nothing", name, unmatched->option[i]);
}

enum cli_status view_apply(const struct view *view, const char *name, struct viewed *viewed)
{
	struct pp_unmatched unmatched = {{NULL}, 0};
	struct pp_error err = PP_ERROR_INIT;
	viewed->totals = calloc((size_t)viewed->profile->sample_types_n + 1, sizeof *viewed->totals);
	if (!viewed->totals) {
		cli_error("out of memory");
		return CLI_SYSTEM;
	}
	if (choose_column(view, name, viewed, &err) != 0 ||
	    pp_view_prepare(&view->filters, &viewed->limits, &unmatched, &viewed->profile, &err) != 0)
		return cli_report(name, &err);
	if (!view->relative)
		take_totals(view, viewed);
	if (pp_view_filter(&view->filters, &viewed->limits, &unmatched, &viewed->profile, &err) != 0)
		return cli_report(name, &err);
	if (view->relative)
		take_totals(view, viewed);
	else
		viewed->recorded |= drops_samples(&view->filters);
	warn_unmatched(&unmatched, name);
	return CLI_OK;
}

enum cli_status view_open(const struct view *view, const struct input *input, const char *name,
                          struct pp_origin *origin, struct viewed *viewed)
{
	enum cli_status status;
	*viewed = (struct viewed){.column = PP_NONE, .limits = input_limits(input)};
	viewed->profile = input_load(input, name, false, origin, &status);
	return viewed->profile ? view_apply(view, name, viewed) : status;
}

int64_t view_mean(int64_t value, int64_t of)
{
	return of == 0 || (of == -1 && value == INT64_MIN) ? value : value / of;
}

int64_t view_total(const struct viewed *viewed, bool mean)
{
	const int64_t total = viewed->totals[viewed->column];
	return mean ? view_mean(total, viewed->mean_of) : total;
}

int64_t view_divided(const struct view_rows *rows, int64_t value)
{
	const double factor = 1 / rows->divide_by, shown = (double)value * factor;
	if (!(factor > 0) || factor == 1 || !(fabs(shown) < 9.2e18))
		return value;
	return (int64_t)shown;
}

/* The default of the family, as the reference has it, but not without a word. */
static void unit_instead(const char *asked, struct pp_str from, struct pp_str *unit)
{
	char names[200], word[100], own[100];
	pp_unit_scale(0, from, PP_LIT("none"), unit);
	if (pp_unit_choose(from, *unit, unit) != 0)
		*unit = PP_LIT("");
	cli_warn("--unit '%s' is none for values in '%s', which are shown %s%.*s: auto, minimum%s%s would be one",
	         pp_printable(word, sizeof word, asked, strlen(asked)), pp_printable(own, sizeof own, from.ptr, from.len),
	         unit->len > 0 ? "in " : "as they are", (int)unit->len, unit->ptr, from.len > 0 ? ", " : "",
	         pp_unit_names(names, sizeof names, from));
}

void view_unit(const char *asked, struct pp_str from, int64_t least, int64_t total, struct pp_str *unit)
{
	*unit = PP_LIT("");
	if (!asked || !*asked || strcmp(asked, "auto") == 0)
		return;
	if (strcmp(asked, "minimum") == 0)
		*unit = pp_unit_of_report(least, total, from);
	else if (pp_unit_choose(from, pp_str_of(asked), unit) != 0)
		unit_instead(asked, from, unit);
}

void view_take_least(int64_t *least, int64_t flat, int64_t cum)
{
	const uint64_t size = pp_abs_i64(flat != 0 ? flat : cum);
	if (size > 0 && size <= INT64_MAX && (*least == 0 || (int64_t)size < *least))
		*least = (int64_t)size;
}

const char *view_value_text(char *out, size_t out_n, int64_t value, struct pp_str from, struct pp_str unit)
{
	return unit.len > 0 ? pp_unit_label(out, out_n, value, from, unit) : pp_unit_human(out, out_n, value, from);
}

enum cli_status view_check_rows(const struct view_rows *rows)
{
	return rows->divide_by == 0 ? cli_usage("cannot divide by 0") : CLI_OK;
}

void viewed_release(struct viewed *viewed)
{
	pp_profile_free(viewed->profile);
	free(viewed->totals);
	*viewed = (struct viewed){.column = PP_NONE};
}
