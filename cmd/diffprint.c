#include "cmd/diffprint_parts.h"

const char *diffprint_noise(const struct pd_comparison *c)
{
	static const char *const names[] = {
		[PD_NOISE_UNKNOWN] = "not measured",
		[PD_NOISE_SAMPLING] = "sampling noise only (no replicate variance is modelled)",
		[PD_NOISE_REPLICATES] = "replicates (how much profiles of a side differ, beyond sampling)",
	};
	return names[c->noise];
}

bool diffprint_changed(const struct pd_comparison *c)
{
	if (!c->counts_measured)
		return diffrows_any_change(c);
	for (size_t i = 0; i < c->rows_n; i++)
		if (c->rows[i].q_flat < DIFFPRINT_SIGNIFICANT || c->rows[i].q_cum < DIFFPRINT_SIGNIFICANT)
			return true;
	for (size_t i = 0; i < c->paths_n; i++)
		if (c->paths[i].deepest)
			return true;
	return false;
}

int diffprint(const struct diffprint *what, enum table_format format, struct pp_sink *sink, struct pp_error *err)
{
	if (format == TABLE_JSON)
		return diffjson_print(what, sink, err);
	if (format != TABLE_TSV && diffwords_print(what, format == TABLE_MARKDOWN, sink, err) != 0)
		return -1;
	return what->call_tree ? difftree_print(what, format, sink, err) : diffrows_print(what, format, sink, err);
}
