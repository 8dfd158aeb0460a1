/* The texts of a case folder, from anything: they are read, or refused with a reason that an input can give. */
#include "libpprof/fuzz/fuzz.h"

#include <string.h>

#include "libdiff/provenance.h"
#include "libdiff/utctime.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	static const char *const seeds[] = {
		"lens\tprocess_cpu:cpu:nanoseconds:cpu:nanoseconds\n",
		"incident_from\t2026-11-25T14:00:00Z\nincident_to\t2026-11-25T15:30:00.5+01:00\n",
		"side\tpod\twindow_s\trequests\t/a\t/b\nbaseline\tp1\t10.5\t30\t10\t20\nincident\tp1\t10\t7\t7\t0\n",
		"source\tclaim\tbearing\tlink\nalert\tCPU\\tup\tsupports\thttp://x\nlog\tnone\tcontradicts\n",
		"from\t2026-11-25T14:00:00Z\nto\t2026-11-25T15:00:00Z\nmax_nodes\t9\ncoverage_steps\t240\ncoverage_covered\t7\n",
		"# files\nshop/price.go\nmain.render\r\n",
	};
	struct pp_error err = PP_ERROR_INIT;

	return i < PP_COUNT(seeds) && pp_buf_append(out, seeds[i], strlen(seeds[i]), &err) == 0;
}

static void check_refusal(const void *result, const struct pp_error *err)
{
	FUZZ_CHECK(result || err->code == PP_EFORMAT || err->code == PP_ELIMIT);
	FUZZ_CHECK(result || err->text[0]);
}

static void check_facts(struct pp_str text)
{
	struct pp_error err = PP_ERROR_INIT, why = PP_ERROR_INIT;
	struct pd_facts *facts = pd_facts_parse(text, &err);
	struct pd_window window;
	char out[64];
	int64_t again;

	check_refusal(facts, &err);
	for (size_t i = 0; facts && i < facts->facts_n; i++)
		FUZZ_CHECK(pd_facts_line(facts, facts->facts[i].key) == facts->facts[i].line);
	if (facts && pd_facts_window(facts, "incident", &window, &why) == 0 && window.given) {
		FUZZ_CHECK(window.from_ns < window.to_ns);
		FUZZ_CHECK(pd_time_parse(pd_time_text(out, sizeof(out), window.to_ns), &again) && again == window.to_ns);
	}
	struct pd_provenance provenance;
	why = (struct pp_error)PP_ERROR_INIT;
	if (facts && pd_provenance_read(facts, &provenance, &why) == 0) {
		FUZZ_CHECK(!(provenance.coverage < 0 || provenance.coverage > 1) && provenance.max_nodes >= 0);
		FUZZ_CHECK(!provenance.window.given || provenance.window.from_ns <= provenance.window.to_ns);
	} else if (facts) {
		FUZZ_CHECK(why.code == PP_EFORMAT && why.text[0]);
	}
	pd_facts_free(facts);
}

static void check_load(struct pp_str text)
{
	struct pp_error err = PP_ERROR_INIT;
	struct pd_load *load = pd_load_parse(text, &err);

	check_refusal(load, &err);
	for (size_t i = 0; load && i < load->rows_n; i++) {
		FUZZ_CHECK(load->rows[i].total >= 0);
		for (size_t v = 0; v < load->values_n; v++)
			FUZZ_CHECK(load->rows[i].by_value[v] >= 0);
		if (load->rows[i].pod[0])
			FUZZ_CHECK(pd_load_find(load, load->rows[i].side, load->rows[i].pod, 2));
	}
	pd_load_free(load);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pp_str text = {(const char *)bytes, n};
	struct pp_error err = PP_ERROR_INIT, other = PP_ERROR_INIT;

	check_facts(text);
	check_load(text);
	struct pd_symptoms *symptoms = pd_symptoms_parse(text, &err);
	check_refusal(symptoms, &err);
	pd_symptoms_free(symptoms);
	struct pd_changed *changed = pd_changed_parse(text, &other);
	check_refusal(changed, &other);
	for (size_t i = 0; changed && i < changed->names_n; i++)
		FUZZ_CHECK(pd_changed_find(changed, pp_str_of(changed->names[i]), pp_str_of("")) <= i);
	pd_changed_free(changed);
	return 0;
}
