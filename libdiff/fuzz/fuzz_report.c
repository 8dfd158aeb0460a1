/* Any profile, as three replicates on both sides of a case: every field is filled, and what did not
 * change is not called a change. */
#include "libpprof/fuzz/fuzz.h"

#include <string.h>

#include "libdiff/report.h"
#include "libpprof/pprof.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	return i % 2 ? seed_protobuf(i / 2, out) : seed_records(i / 2, out);
}

static struct pp_profile *load(struct pp_source *source, const struct pp_read_options *options, struct pp_error *err)
{
	struct pp_origin origin;

	return pp_load(source, options, &origin, err);
}

static void check_report(const struct pd_report *report)
{
	for (int field = 0; field < PD_FIELDS_N; field++) {
		FUZZ_CHECK(report->values[field][0]);
		FUZZ_CHECK(!strpbrk(report->values[field], "\n\r\t"));
	}
	FUZZ_CHECK(!report->regression);
	FUZZ_CHECK(report->conclusion == PD_INCONCLUSIVE || report->conclusion == PD_COST_LOCATION);
	for (int format = PD_REPORT_TEXT; format <= PD_REPORT_TSV; format++) {
		struct pp_error err = PP_ERROR_INIT;
		struct pp_buf out = PP_BUF_INIT;
		struct pp_sink sink = pp_buf_sink(&out);
		FUZZ_CHECK(pd_report_print(report, (enum pd_report_format)format, &sink, &err) == 0);
		pp_buf_release(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *profile = fuzz_read(load, (struct pp_str){(const char *)bytes, n}, PP_LENIENT);
	struct pd_facts *facts = pd_facts_parse(pp_str_of("service\tx\n"), &err);
	struct pd_reporter *reporter = pd_reporter_new(&(struct pd_report_case){.facts = facts}, &err);
	struct pd_report *report = NULL;
	bool added = profile && facts && reporter;

	for (int i = 0; added && i < 6; i++) {
		struct pp_origin origin = {.format = "pprof"};
		origin.content_hash[0] = (char)('0' + i);
		added = pd_reporter_add(reporter, i < 3 ? PD_LOAD_BASELINE : PD_LOAD_INCIDENT, "incident/x", 3, profile, &origin, NULL,
		                        &err) == 0;
	}
	if (added)
		report = pd_reporter_finish(reporter, &err);
	if (report)
		check_report(report);
	else
		FUZZ_CHECK(!profile || err.code == PP_EOVERFLOW || err.code == PP_EUSAGE || err.code == PP_ELIMIT);
	pd_report_free(report);
	pd_reporter_free(reporter);
	pd_facts_free(facts);
	pp_profile_free(profile);
	return 0;
}
