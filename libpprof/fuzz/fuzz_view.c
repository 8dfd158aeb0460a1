/* Filters and call graphs over any profile: each gives a profile that is written and read back, loses no more than
 * samples, and of which a graph with labels can be made. */
#include "libpprof/callgraph.h"
#include "libpprof/fuzz/fuzz.h"
#include "libpprof/transform.h"
#include "libpprof/view.h"
#include "libpprof/write.h"

bool fuzz_seed(unsigned i, struct pp_buf *out)
{
	return seed_protobuf(i, out);
}

/* The views are fixed, so that one input meets all; expressions come by way of names. */
static const struct pp_view views[] = {
	PP_VIEW_ALL,
	{.names.focus = "a", .names.hide = "^m"},
	{.names.ignore = "b", .tags.tagshow = "e"},
	{.names.show = "[a-m]", .tags.taghide = "y"},
	{.names.show_from = "o", .no_inlines = true},
	{.prune_from = "e", .trim_path = "/:/a"},
	{.tagroot = "key,bytes", .tagleaf = "a", .names.focus = "."},
	{.tags.tagfocus = "1:", .tags.tagignore = "=v"},
	{.tags.tagfocus = "k,:", .scale = 0.5},
};

static bool is_excuse(const struct pp_error *err)
{
	return err->code == PP_ELIMIT || err->code == PP_EOVERFLOW || err->code == PP_ENOMEM;
}

static void draw(const struct pp_profile *profile, bool tree)
{
	const struct pp_callgraph_options options = {4, 0.01, 0.01, PP_GRAPH_BY_IMPORTANCE, false, false, true, tree};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_frame_map map = {NULL, NULL, PP_NONE};
	struct pp_callgraph graph = {0};
	struct pp_frames *frames = pp_frames_new(PP_BY_FUNCTIONS, &err);

	if (profile->sample_types_n > 0 && frames && pp_frames_map(frames, profile, &map, &err) == 0) {
		const struct pp_graph_side side = {profile, &map, 0, 1, NULL};
		if (pp_callgraph_make(frames, &side, 1, &options, &graph, &err) == 0) {
			FUZZ_CHECK(graph.nodes_n <= 4);
			for (uint32_t i = 0; i < graph.labels_n; i++)
				FUZZ_CHECK(graph.labels[i].node < graph.nodes_n &&
				           (graph.labels[i].parent == PP_NONE || graph.labels[i].parent < i));
		}
	}
	FUZZ_CHECK(err.code == PP_OK || is_excuse(&err));
	pp_callgraph_release(&graph);
	pp_frame_map_release(&map);
	pp_frames_free(frames);
}

static void check_view(const struct pp_view *view, const uint8_t *bytes, size_t n)
{
	const struct pp_read_options options = fuzz_options(PP_LENIENT);
	struct pp_unmatched unmatched = {{NULL}, 0};
	struct pp_error err = PP_ERROR_INIT;
	struct pp_profile *profile = fuzz_read(pp_read, (struct pp_str){(const char *)bytes, n}, PP_LENIENT);

	if (!profile)
		return;
	const uint32_t samples = profile->samples_n;
	if (pp_view_prepare(view, &options.limits, &unmatched, &profile, &err) == 0 &&
	    pp_view_filter(view, &options.limits, &unmatched, &profile, &err) == 0) {
		FUZZ_CHECK(profile->samples_n <= samples);
		fuzz_round_trip(profile, pp_write, pp_read);
		draw(profile, false);
		draw(profile, true);
	}
	FUZZ_CHECK(err.code == PP_OK || is_excuse(&err));
	pp_profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < PP_COUNT(views); i++)
		check_view(&views[i], bytes, n);
	return 0;
}
