#include "cmd/diffsides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum pd_load_side load_sides[] = {[PD_BASELINE] = PD_LOAD_BASELINE, [PD_INCIDENT] = PD_LOAD_INCIDENT};

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

enum cli_status diffsides_open(struct diffsides *sides, const struct cli_list operands[2], const char *load_file)
{
	*sides = (struct diffsides)DIFFSIDES_INIT;
	enum cli_status status = CLI_OK;
	for (int side = 0; side < 2 && status == CLI_OK; side++)
		status = input_expand(&operands[side], &sides->names[side]);
	if (status == CLI_OK && load_file)
		status = read_load(sides, load_file);
	return status;
}

void diffsides_release(struct diffsides *sides)
{
	input_names_release(&sides->names[0]);
	input_names_release(&sides->names[1]);
	pd_load_free(sides->load);
}

const struct pd_load_row *diffsides_row(const struct diffsides *sides, enum pd_side side, size_t i)
{
	const char *name = sides->names[side].names[i], *slash = strrchr(name, '/');
	return pd_load_find(sides->load, load_sides[side], slash ? slash + 1 : name, sides->names[side].n);
}

double diffsides_exposure(const struct diffsides *sides, enum pd_side side, size_t i)
{
	const struct pd_load_row *row = diffsides_row(sides, side, i);
	size_t same = 0, with_row = 0;
	double sum = 0;
	if (!sides->load)
		return NAN;
	for (size_t k = 0; k < sides->names[side].n; k++) {
		const struct pd_load_row *other = diffsides_row(sides, side, k);
		same += other == row;
		with_row += other != NULL;
	}
	if (row)
		return row->total / (double)same;
	if (with_row > 0)
		return NAN;
	for (size_t k = 0; k < sides->load->rows_n; k++)
		if (sides->load->rows[k].side == load_sides[side])
			sum += sides->load->rows[k].total;
	return sum / (double)sides->names[side].n;
}
