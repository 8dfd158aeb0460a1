/* The two sides of a comparison as a user names them: their profiles, and what each of them served. */
#ifndef DIFFSIDES_H
#define DIFFSIDES_H

#include "cmd/casefolder.h"
#include "cmd/input.h"
#include "libdiff/casefile.h"
#include "libdiff/compare.h"

struct diffsides {
	struct input_names names[2]; /* by enum pd_side */
	struct pd_load *load;        /* NULL without one */
	char *sample_type;           /* of the case's lens, as "type:unit"; NULL without one */
};
#define DIFFSIDES_INIT {{{NULL, 0}, {NULL, 0}}, NULL, NULL}

/* Expands the operands of each side and reads load_file, unless it is NULL. Prints what fails; release
 * it in any case. */
enum cli_status diffsides_open(struct diffsides *sides, const struct cli_list operands[2], const char *load_file);
/* The same from a case folder: its baseline/, incident/, load.tsv and lens. Its folders may hold profiles
 * of other lenses: drop those. */
enum cli_status diffsides_open_case(struct diffsides *sides, const char *folder);
void diffsides_release(struct diffsides *sides);

/* Takes a profile out of its side. */
void diffsides_drop(struct diffsides *sides, enum pd_side side, size_t i);

/* What the i-th profile of a side served, by the pod that its file name begins with, or NULL. */
const struct pd_load_row *diffsides_row(const struct diffsides *sides, enum pd_side side, size_t i);

/* Its exposure: its row's denominator, shared with the other files of that row; where no file of the
 * side has a row, an equal share of the side's sum. NAN when not known. */
double diffsides_exposure(const struct diffsides *sides, enum pd_side side, size_t i);

#endif
