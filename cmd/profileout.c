#include "cmd/profileout.h"

static enum cli_status write_all(struct profileout *out, const struct pp_profile *profile)
{
	struct pp_error err = PP_ERROR_INIT;
	enum cli_status status = output_open(&out->output, true);
	if (status != CLI_OK)
		return status;
	if (output_profile(&out->output, profile, out->raw, &err) != 0)
		status = cli_report(NULL, &err);
	return output_finish(&out->output, status);
}

enum cli_status profileout_write(struct profileout *out, const struct pp_profile *profile, const struct pp_limits *limits)
{
	struct pp_error err = PP_ERROR_INIT;
	if (out->comments.n == 0)
		return write_all(out, profile);
	struct pp_profile *commented = pp_add_comments(profile, out->comments.items, out->comments.n, limits, &err);
	enum cli_status status = commented ? write_all(out, commented) : cli_report(NULL, &err);
	pp_profile_free(commented);
	return status;
}

void profileout_release(struct profileout *out)
{
	cli_list_release(&out->comments);
}
