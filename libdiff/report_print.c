/* The report as text, Markdown, JSON and TSV. */
#include "libdiff/report.h"

#include <math.h>
#include <string.h>

static int print_text(const struct pd_report *report, struct pp_sink *sink, struct pp_error *err)
{
	for (int field = 0; field < PD_FIELDS_N; field++)
		if (pp_sink_str(sink, pd_field_name((enum pd_field)field), err) || pp_sink_str(sink, ": ", err) ||
		    pp_sink_str(sink, report->values[field], err) || pp_sink_str(sink, "\n", err))
			return -1;
	return 0;
}

/* Names of functions are full of signs that Markdown would take for markup. */
static int print_escaped(const char *value, struct pp_sink *sink, struct pp_error *err)
{
	for (const char *at = value; *at;) {
		size_t plain = strcspn(at, "\\`*_{}[]<>#|~&");
		if (pp_sink_bytes(sink, at, plain, err))
			return -1;
		at += plain;
		if (*at && (pp_sink_str(sink, "\\", err) || pp_sink_bytes(sink, at++, 1, err)))
			return -1;
	}
	return 0;
}

static int print_markdown(const struct pd_report *report, struct pp_sink *sink, struct pp_error *err)
{
	for (int field = 0; field < PD_FIELDS_N; field++)
		if (pp_sink_str(sink, "- **", err) || pp_sink_str(sink, pd_field_name((enum pd_field)field), err) ||
		    pp_sink_str(sink, ":** ", err) || print_escaped(report->values[field], sink, err) ||
		    pp_sink_str(sink, "\n", err))
			return -1;
	return 0;
}

static int print_tsv(const struct pd_report *report, struct pp_sink *sink, struct pp_error *err)
{
	if (pp_sink_str(sink, "field\tvalue\n", err))
		return -1;
	for (int field = 0; field < PD_FIELDS_N; field++)
		if (pp_sink_str(sink, pd_field_key((enum pd_field)field), err) || pp_sink_str(sink, "\t", err) ||
		    pp_escape(sink, pp_str_of(report->values[field]), 0, err) || pp_sink_str(sink, "\n", err))
			return -1;
	return 0;
}

static int print_json(const struct pd_report *report, struct pp_sink *sink, struct pp_error *err)
{
	struct pp_json *json = pp_json_object();
	int rc = -1;

	if (!json)
		return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	for (int field = 0; field < PD_FIELDS_N; field++)
		pp_json_str(json, pd_field_key((enum pd_field)field), pp_str_of(report->values[field]));
	struct pp_json *verdicts = report->explanation ? pd_explanation_json(report->explanation) : pp_json_array();
	struct pp_json *slices = report->explanation ? pd_slices_json(report->explanation) : pp_json_array();
	if (!verdicts || !slices) {
		pp_json_free(verdicts);
		pp_json_free(slices);
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	} else {
		pp_json_add(json, "verdicts", verdicts);
		pp_json_add(json, "slices", slices);
		pp_json_real(json, "changed_share", report->explanation ? report->explanation->changed_share : (double)NAN);
		rc = pp_json_write(json, 2, sink, err);
		if (rc == 0)
			rc = pp_sink_str(sink, "\n", err);
	}
	pp_json_free(json);
	return rc;
}

int pd_report_print(const struct pd_report *report, enum pd_report_format format, struct pp_sink *sink,
                    struct pp_error *err)
{
	switch (format) {
	case PD_REPORT_MARKDOWN:
		return print_markdown(report, sink, err);
	case PD_REPORT_JSON:
		return print_json(report, sink, err);
	case PD_REPORT_TSV:
		return print_tsv(report, sink, err);
	case PD_REPORT_TEXT:
		break;
	}
	return print_text(report, sink, err);
}
