#include "cmd/casefolder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *join(const char *folder, const char *name)
{
	size_t n = strlen(folder) + strlen(name) + 2;
	char *path = malloc(n);

	if (path)
		snprintf(path, n, "%s/%s", folder, name);
	return path;
}

/* Whether something is there; other failures are left to the one who opens it. */
static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* As input_text(), but a pipe or device in a case folder is refused: nothing may ever write into it. */
static enum cli_status read_text(const char *path, char **text, size_t *n)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		cli_error("'%s': not a regular file", path);
		return CLI_INPUT;
	}
	return input_text(path, PD_CASE_MAX_BYTES, text, n);
}

/* Parsers of the four files behind one face. */
static void *parse_facts(struct pp_str text, struct pp_error *err)
{
	return pd_facts_parse(text, err);
}
static void *parse_load(struct pp_str text, struct pp_error *err)
{
	return pd_load_parse(text, err);
}
static void *parse_symptoms(struct pp_str text, struct pp_error *err)
{
	return pd_symptoms_parse(text, err);
}
static void *parse_changed(struct pp_str text, struct pp_error *err)
{
	return pd_changed_parse(text, err);
}

/* Reads a file of the folder, if it is there; *found tells. */
static enum cli_status read_file(const char *folder, const char *name, void *(*parse)(struct pp_str, struct pp_error *),
                                 void **result, bool *found)
{
	struct pp_error err = PP_ERROR_INIT;
	char *path = join(folder, name), *text = NULL;
	enum cli_status status = CLI_OK;
	size_t n;

	*result = NULL;
	if (!path)
		return cli_no_memory();
	*found = exists(path);
	if (*found) {
		status = read_text(path, &text, &n);
		if (status == CLI_OK) {
			*result = parse((struct pp_str){text, n}, &err);
			if (!*result)
				status = cli_report(path, &err);
		}
	}
	free(text);
	free(path);
	return status;
}

/* What pprof-fetch found out: access refused and nothing ingested are exits that no profile can tell. */
static enum cli_status adopt_exit(struct pd_facts *facts, const struct pd_facts *fetched)
{
	const char *exit = pd_facts_get(fetched, "exit");
	struct pp_error err = PP_ERROR_INIT;

	if (!exit || (strcmp(exit, "A") != 0 && strcmp(exit, "B") != 0))
		return CLI_OK;
	if (pd_facts_adopt(facts, fetched, "exit", &err) == 0 && pd_facts_adopt(facts, fetched, "exit_reason", &err) == 0)
		return CLI_OK;
	return cli_report("fetch.tsv", &err);
}

static enum cli_status list_side(const char *folder, const char *side, struct input_names *names, bool *found)
{
	char *path = join(folder, side);

	if (!path)
		return cli_no_memory();
	*found = exists(path);
	enum cli_status status = *found ? input_folder(path, names) : CLI_OK;
	free(path);
	return status;
}

enum cli_status casefolder_open(const char *path, struct casefolder *folder)
{
	static const char *const sides[CASEFOLDER_SIDES_N] = {"baseline", "incident", "control"};
	struct pp_error err = PP_ERROR_INIT;
	void *facts = NULL, *fetched = NULL, *load = NULL, *symptoms = NULL, *changed = NULL;
	bool has_case, has_side[CASEFOLDER_SIDES_N], found;
	enum cli_status status;
	struct stat st;

	*folder = (struct casefolder){.facts = NULL};
	bool there = stat(path, &st) == 0;
	if (!there || !S_ISDIR(st.st_mode)) {
		cli_error("cannot open '%s': %s", path, strerror(there ? ENOTDIR : errno));
		return CLI_SYSTEM;
	}
	if ((status = read_file(path, "case.tsv", parse_facts, &facts, &has_case)) != CLI_OK ||
	    (status = read_file(path, "fetch.tsv", parse_facts, &fetched, &found)) != CLI_OK ||
	    (status = read_file(path, "load.tsv", parse_load, &load, &found)) != CLI_OK ||
	    (status = read_file(path, "symptoms.tsv", parse_symptoms, &symptoms, &found)) != CLI_OK ||
	    (status = read_file(path, "changed.txt", parse_changed, &changed, &found)) != CLI_OK)
		goto done;
	for (int side = 0; side < CASEFOLDER_SIDES_N && status == CLI_OK; side++)
		status = list_side(path, sides[side], &folder->profiles[side], &has_side[side]);
	if (status == CLI_OK && !has_case && !has_side[PD_LOAD_INCIDENT]) {
		cli_error("'%s': not a case folder: it has neither case.tsv nor incident", path);
		status = CLI_INPUT;
	}
	if (status == CLI_OK && !facts && !(facts = pd_facts_parse(pp_str_of(""), &err)))
		status = cli_report(path, &err);
	if (status == CLI_OK)
		status = adopt_exit(facts, fetched);
done:
	pd_facts_free(fetched);
	folder->facts = facts;
	folder->load = load;
	folder->symptoms = symptoms;
	folder->changed = changed;
	return status;
}

void casefolder_release(struct casefolder *folder)
{
	pd_facts_free(folder->facts);
	pd_load_free(folder->load);
	pd_symptoms_free(folder->symptoms);
	pd_changed_free(folder->changed);
	for (int side = 0; side < CASEFOLDER_SIDES_N; side++)
		input_names_release(&folder->profiles[side]);
}

const char *casefolder_relative(const char *name)
{
	const char *file = strrchr(name, '/'), *at = file;

	while (at && at > name && at[-1] != '/')
		at--;
	return at ? at : name;
}

/* The facts of a text beside a profile, if they are of this profile and make sense; otherwise a warning says why not. */
static struct pd_facts *read_provenance(const char *path, const char *content_hash, struct pd_provenance *provenance)
{
	struct pp_error err = PP_ERROR_INIT;
	char *text = NULL;
	size_t n;

	if (read_text(path, &text, &n) != CLI_OK)
		return NULL;
	struct pd_facts *facts = pd_facts_parse((struct pp_str){text, n}, &err);
	const char *hash = facts ? pd_facts_get(facts, "content_hash") : NULL;
	const bool same = facts && (!hash || strcmp(hash, content_hash) == 0);
	const bool good = same && pd_provenance_read(facts, provenance, &err) == 0;

	if (facts && !same)
		cli_warn("'%s': the provenance of another file: its content_hash is not that of the profile", path);
	else if (!good)
		cli_warn("'%s': no provenance: %s", path, err.text);
	free(text);
	if (good)
		return facts;
	pd_facts_free(facts);
	return NULL;
}

struct pd_facts *casefolder_provenance(const char *name, const char *content_hash, struct pd_provenance *provenance)
{
	size_t n = strlen(name) + 5;
	char *path = malloc(n);
	struct pd_facts *facts = NULL;

	if (path) {
		snprintf(path, n, "%s.tsv", name);
		if (exists(path))
			facts = read_provenance(path, content_hash, provenance);
	}
	free(path);
	return facts;
}
