/* The sides of a comparison as a user names them: their profiles, and what each of them served. */
#ifndef DIFFSIDES_H
#define DIFFSIDES_H

#include "cmd/casefolder.h"
#include "cmd/input.h"
#include "libdiff/casefile.h"
#include "libdiff/compare.h"
#include "libdiff/lens.h"

/* The groups of profiles; the first two are enum pd_side. */
enum { DIFF_BASELINE = PD_BASELINE, DIFF_INCIDENT = PD_INCIDENT, DIFF_CONTROL_BASELINE, DIFF_CONTROL, DIFF_GROUPS_N };

struct diffsides {
	struct input_names names[DIFF_GROUPS_N];
	struct pd_load *load;        /* NULL without one */
	char *sample_type;           /* of the case's lens, as "type:unit" or "type"; NULL without one */
	char *lens_text;             /* NULL without one; lens borrows from it */
	struct pd_lens lens;
};
#define DIFFSIDES_INIT {.lens_text = NULL}

/* Expands the operands of each group and reads load_file, unless it is NULL. Prints what fails; release
 * it in any case. */
enum cli_status diffsides_open(struct diffsides *sides, const struct cli_list operands[DIFF_GROUPS_N], const char *load_file);
/* The same from a case folder: its baseline/, incident/, control/, load.tsv and lens. Its folders may hold profiles
 * of other lenses: drop those. */
enum cli_status diffsides_open_case(struct diffsides *sides, const char *folder);
void diffsides_release(struct diffsides *sides);

/* Whether the case's lens is of such a profile; true without a lens. */
bool diffsides_is_of_case(const struct diffsides *sides, const char *name, const struct pp_profile *profile);

/* Takes a profile out of its group. */
void diffsides_drop(struct diffsides *sides, int group, size_t i);

/* What the i-th profile of a group served, by the pod that its file name begins with, or NULL. */
const struct pd_load_row *diffsides_row(const struct diffsides *sides, int group, size_t i);

/* Its exposure: its row's denominator, shared with the other files of that row; where no file of the
 * side has a row, an equal share of the side's sum. NAN when not known. A baseline of the control is looked up among the baseline's pods. */
double diffsides_exposure(const struct diffsides *sides, int group, size_t i);

#endif
