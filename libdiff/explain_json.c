#include "libdiff/explain.h"

#include <stdio.h>
#include <stdlib.h>

/* What mathematical libraries agree on everywhere: six digits. */
static void set_real(struct pp_json *json, const char *key, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.6g", value);
	pp_json_real(json, key, strtod(text, NULL));
}

static void set_text(struct pp_json *json, const char *key, const char *text)
{
	if (text)
		pp_json_str(json, key, pp_str_of(text));
	else
		pp_json_null(json, key);
}

static struct pp_json *cause_json(const struct pd_cause *cause)
{
	struct pp_json *json = pp_json_object();

	if (!json)
		return NULL;
	set_text(json, "verdict", pd_verdict_name(cause->verdict));
	set_real(json, "share", cause->share);
	set_text(json, "location", cause->location);
	set_text(json, "mechanism", cause->mechanism);
	set_text(json, "path", cause->path);
	set_text(json, "file", cause->file[0] ? cause->file : NULL);
	set_text(json, "moved_from", cause->moved_from);
	set_real(json, "expected", cause->expected);
	set_real(json, "observed", cause->observed);
	set_real(json, "ratio", cause->ratio);
	set_real(json, "p", cause->p);
	set_real(json, "q", cause->q);
	set_real(json, "changed_share", cause->changed_share);
	set_text(json, "slice", cause->slice);
	set_text(json, "reason", cause->reason);
	return json;
}

static struct pp_json *slice_json(const struct pd_slice *slice)
{
	struct pp_json *json = pp_json_object();

	if (!json)
		return NULL;
	set_text(json, "key", slice->key);
	set_text(json, "value", slice->value);
	set_real(json, "baseline", slice->base);
	set_real(json, "incident", slice->incident);
	set_real(json, "power", slice->power);
	set_real(json, "surprise", slice->surprise);
	return json;
}

struct pp_json *pd_slices_json(const struct pd_explanation *explanation)
{
	struct pp_json *list = pp_json_array();

	for (size_t i = 0; list && i < explanation->slices_n; i++)
		pp_json_add(list, NULL, slice_json(&explanation->slices[i]));
	return list;
}

struct pp_json *pd_explanation_json(const struct pd_explanation *explanation)
{
	struct pp_json *list = pp_json_array();

	for (size_t i = 0; list && i < explanation->causes_n; i++)
		pp_json_add(list, NULL, cause_json(&explanation->causes[i]));
	return list;
}
