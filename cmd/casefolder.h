/* A case folder on disk: case.tsv, load.tsv, symptoms.tsv and changed.txt as structs, and the names of the
 * profiles in baseline/, incident/ and control/. fetch.tsv, where pprof-fetch left it, adds the exit to case.tsv. */
#ifndef CASEFOLDER_H
#define CASEFOLDER_H

#include "cmd/input.h"
#include "libdiff/casefile.h"
#include "libdiff/provenance.h"

#define CASEFOLDER_SIDES_N 3 /* enum pd_load_side */

struct casefolder {
	struct pd_facts *facts;       /* empty when there is no case.tsv */
	struct pd_load *load;         /* NULL when there is no such file; likewise below */
	struct pd_symptoms *symptoms;
	struct pd_changed *changed;
	struct input_names profiles[CASEFOLDER_SIDES_N]; /* sorted bytewise; a folder that is missing has none */
};

/* Says what fails. A folder with neither case.tsv nor incident/ is CLI_INPUT. Release also after a failure. */
enum cli_status casefolder_open(const char *path, struct casefolder *folder);
void casefolder_release(struct casefolder *folder);

/* The name of a profile within the folder: "incident/shop-1.cpu.pb.gz". Borrowed from name. */
const char *casefolder_relative(const char *name);
/* What the NAME.tsv beside a profile of this content says; NULL where there is none, and, with a warning, where it is of
 * another profile by its content_hash or makes no sense. *provenance borrows from the facts, which are the caller's. */
struct pd_facts *casefolder_provenance(const char *name, const char *content_hash, struct pd_provenance *provenance);

#endif
