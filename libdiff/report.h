/* The report of an investigation: a fixed list of fields, each from evidence, for every outcome.
 *
 * Profiles are handed in one at a time, those of a kind that the case does not ask about too; what they
 * cover, whether there is a baseline that qualifies, and what changed, is found here. A field that
 * cannot be derived says "unknown", "not measured" or "not applicable", and why. */
#ifndef PD_REPORT_H
#define PD_REPORT_H

#include "libdiff/casefile.h"
#include "libdiff/explain.h"
#include "libdiff/provenance.h"

/* In the order of the report. */
enum pd_field {
	PD_FIELD_CONCLUSION,
	PD_FIELD_EXIT,
	PD_FIELD_SCOPE,
	PD_FIELD_LENS,
	PD_FIELD_INCIDENT,
	PD_FIELD_BASELINE,
	PD_FIELD_CONTROL,
	PD_FIELD_SLICE,
	PD_FIELD_LOCATION,
	PD_FIELD_COST,
	PD_FIELD_SHARE,
	PD_FIELD_NORMALIZATION,
	PD_FIELD_MECHANISM,
	PD_FIELD_EVIDENCE,
	PD_FIELD_COUNTEREVIDENCE,
	PD_FIELD_CONFIDENCE,
	PD_FIELD_LIMITATIONS,
	PD_FIELD_NEXT_ACTION,
	PD_FIELDS_N
};
const char *pd_field_name(enum pd_field field); /* "Next action" */
const char *pd_field_key(enum pd_field field);  /* "next_action" */

enum pd_conclusion {
	PD_ESTABLISHED_CAUSE, /* mechanism and connection to the symptom are both in evidence */
	PD_SUSPECTED_CAUSE,
	PD_COST_LOCATION,     /* what costs, without a word on what changed */
	PD_INCONCLUSIVE
};
const char *pd_conclusion_name(enum pd_conclusion conclusion); /* "established cause", … */

/* What is known before any profile is read; all borrowed until finish. Only facts may not be NULL. */
struct pd_report_case {
	const struct pd_facts *facts;
	const struct pd_load *load;
	const struct pd_symptoms *symptoms;
	const struct pd_changed *changed;
	const char *app; /* as in pd_explain_options */
	bool control;    /* profiles of the side PD_LOAD_CONTROL will come */
};

struct pd_report {
	struct pp_arena *arena;
	const char *values[PD_FIELDS_N]; /* UTF-8, printable, one line each */
	enum pd_conclusion conclusion;
	char exit;                       /* 'A' … 'D', or '-' */
	bool regression;                 /* a rise of cost per request is claimed: code or runtime */
	struct pd_explanation *explanation; /* NULL after an exit */
};

struct pd_reporter; /* under construction */
/* Times, lens and exit of the facts that make no sense are PP_EFORMAT with "line N: …" of case.tsv. */
struct pd_reporter *pd_reporter_new(const struct pd_report_case *known, struct pp_error *err) PP_MUSTUSE;
void pd_reporter_free(struct pd_reporter *reporter); /* NULL is fine */

/* A profile of the folder. name is relative to it ("incident/shop-1.cpu.pb.gz"), files_n the number of
 * files on that side; provenance: what the NAME.tsv beside it says, or NULL. Add in a fixed order: sides baseline, incident, control, names
 * bytewise. */
int pd_reporter_add(struct pd_reporter *reporter, enum pd_load_side side, const char *name, size_t files_n,
                    const struct pp_profile *profile, const struct pp_origin *origin,
                    const struct pd_provenance *provenance, struct pp_error *err) PP_MUSTUSE;

/* A file that could not be read, and was let pass. */
int pd_reporter_add_broken(struct pd_reporter *reporter, enum pd_load_side side, const char *name,
                           const char *why, struct pp_error *err) PP_MUSTUSE;

struct pd_report *pd_reporter_finish(struct pd_reporter *reporter, struct pp_error *err) PP_MUSTUSE;
void pd_report_free(struct pd_report *report);

enum pd_report_format { PD_REPORT_TEXT, PD_REPORT_MARKDOWN, PD_REPORT_JSON, PD_REPORT_TSV };
int pd_report_print(const struct pd_report *report, enum pd_report_format format, struct pp_sink *sink,
                    struct pp_error *err) PP_MUSTUSE;

#endif
