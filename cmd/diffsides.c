#include "cmd/diffsides.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum pd_load_side load_sides[DIFF_GROUPS_N] = {
	[DIFF_BASELINE] = PD_LOAD_BASELINE,
	[DIFF_INCIDENT] = PD_LOAD_INCIDENT,
	[DIFF_CONTROL_BASELINE] = PD_LOAD_BASELINE,
	[DIFF_CONTROL] = PD_LOAD_CONTROL,
};

static enum cli_status read_load(struct diffsides *sides, const char *name)
{
	struct pp_error err = PP_ERROR_INIT;
	char *text = NULL;
	size_t n = 0;
	enum cli_status status = input_text(name, PD_CASE_MAX_BYTES, &text, &n);
	if (status == CLI_OK && !(sides->load = pd_load_parse((struct pp_str){text, n}, &err)))
		status = cli_report(name, &err);
	free(text);
	return status;
}

enum cli_status diffsides_open(struct diffsides *sides, const struct cli_list operands[DIFF_GROUPS_N], const char *load_file)
{
	*sides = (struct diffsides)DIFFSIDES_INIT;
	enum cli_status status = CLI_OK;
	size_t stdin_n = 0;
	for (int group = 0; group < DIFF_GROUPS_N && status == CLI_OK; group++)
		if (operands[group].n) {
			status = input_expand(&operands[group], &sides->names[group]);
			stdin_n += sides->names[group].stdin_n;
		}
	if (status == CLI_OK)
		status = input_check_stdin(stdin_n);
	if (status == CLI_OK && load_file)
		status = read_load(sides, load_file);
	return status;
}

/* The sample type of "memory:inuse_space:bytes:space:bytes" is inuse_space:bytes. */
static enum cli_status use_lens(struct diffsides *sides, const struct pd_facts *facts)
{
	struct pp_error err = PP_ERROR_INIT, why = PP_ERROR_INIT;
	const char *text = pd_facts_get(facts, "lens");
	if (!text)
		return CLI_OK;
	if (!(sides->lens_text = strdup(text))) {
		cli_error("no memory");
		return CLI_SYSTEM;
	}
	if (pd_lens_parse(sides->lens_text, &sides->lens, &why) != 0) {
		(void)pp_fail(&err, PP_EFORMAT, PP_NO_OFFSET, "line %u: lens: %s", pd_facts_line(facts, "lens"), why.text);
		return cli_report("case.tsv", &err);
	}

	struct pp_str type = sides->lens.type, unit = sides->lens.unit;
	size_t n = type.len + unit.len + 2;
	if (!(sides->sample_type = malloc(n))) {
		cli_error("no memory");
		return CLI_SYSTEM;
	}
	snprintf(sides->sample_type, n, "%.*s%s%.*s", (int)type.len, type.ptr, unit.len ? ":" : "", (int)unit.len, unit.ptr);
	return CLI_OK;
}

bool diffsides_is_of_case(const struct diffsides *sides, const char *name, const struct pp_profile *profile)
{
	const char *slash = strrchr(name, '/');
	uint32_t column;
	return !sides->lens_text || pd_lens_fit(&sides->lens, profile, slash ? slash + 1 : name, &column) == PD_FIT_YES;
}

enum cli_status diffsides_open_case(struct diffsides *sides, const char *path)
{
	struct casefolder folder;
	*sides = (struct diffsides)DIFFSIDES_INIT;
	enum cli_status status = casefolder_open(path, &folder);
	if (status == CLI_OK) {
		status = use_lens(sides, folder.facts);
		for (int group = 0; group < DIFF_GROUPS_N; group++) {
			if (group == DIFF_CONTROL_BASELINE)
				continue;
			sides->names[group] = folder.profiles[load_sides[group]];
			folder.profiles[load_sides[group]] = (struct input_names){NULL, 0, 0};
		}
		sides->load = folder.load;
		folder.load = NULL;
	}
	casefolder_release(&folder);
	return status;
}

void diffsides_drop(struct diffsides *sides, int group, size_t i)
{
	struct input_names *names = &sides->names[group];
	free(names->names[i]);
	memmove(names->names + i, names->names + i + 1, (names->n - i - 1) * sizeof(*names->names));
	names->n--;
}

void diffsides_release(struct diffsides *sides)
{
	free(sides->sample_type);
	free(sides->lens_text);
	for (int group = 0; group < DIFF_GROUPS_N; group++)
		input_names_release(&sides->names[group]);
	pd_load_free(sides->load);
}

const struct pd_load_row *diffsides_row(const struct diffsides *sides, int group, size_t i)
{
	const char *name = sides->names[group].names[i], *slash = strrchr(name, '/');
	return pd_load_find(sides->load, load_sides[group], slash ? slash + 1 : name, sides->names[group].n);
}

double diffsides_exposure(const struct diffsides *sides, int group, size_t i)
{
	const struct pd_load_row *row = diffsides_row(sides, group, i);
	size_t same = 0, with_row = 0;
	double sum = 0;
	if (!sides->load)
		return NAN;
	for (size_t k = 0; k < sides->names[group].n; k++) {
		const struct pd_load_row *other = diffsides_row(sides, group, k);
		same += other == row;
		with_row += other != NULL;
	}
	if (row)
		return row->total / (double)same;
	if (with_row > 0 || group == DIFF_CONTROL_BASELINE)
		return NAN;
	for (size_t k = 0; k < sides->load->rows_n; k++)
		if (sides->load->rows[k].side == load_sides[group])
			sum += sides->load->rows[k].total;
	return sum / (double)sides->names[group].n;
}
