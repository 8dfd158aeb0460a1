#include "cmd/diffsides.h"

#include <math.h>
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

/* "memory:inuse_space:bytes:space:bytes" names inuse_space:bytes. */
static enum cli_status use_lens(struct diffsides *sides, const char *lens)
{
	const char *type = strchr(lens, ':'), *unit = type ? strchr(type + 1, ':') : NULL;
	size_t n = unit ? strcspn(unit + 1, ":") : 0;
	if (!unit)
		return CLI_OK;
	n += (size_t)(unit - type);
	if (!(sides->sample_type = malloc(n + 1))) {
		cli_error("no memory");
		return CLI_SYSTEM;
	}
	memcpy(sides->sample_type, type + 1, n);
	sides->sample_type[n] = '\0';
	return CLI_OK;
}

enum cli_status diffsides_open_case(struct diffsides *sides, const char *path)
{
	struct casefolder folder;
	*sides = (struct diffsides)DIFFSIDES_INIT;
	enum cli_status status = casefolder_open(path, &folder);
	if (status == CLI_OK) {
		const char *lens = pd_facts_get(folder.facts, "lens");
		status = lens ? use_lens(sides, lens) : CLI_OK;
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
