#include "libpprof/callgraph_private.h"
#include "libpprof/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for a call graph");
}

/* Sums the values of each stack. As in rollup.c, no sum of some of the values can overflow once the
 * sum of all magnitudes fits; nor can one that is scaled, once the scaled total fits. */
static int load_side(struct pp_graph_maker *maker, size_t s, struct pp_error *err)
{
	const struct pp_graph_side *side = &maker->sides[s];
	uint64_t total = 0;

	maker->load[s] = calloc((size_t)side->profile->stacks_n + 1, sizeof *maker->load[s]);
	maker->used[s] = calloc((size_t)side->profile->stacks_n + 1, 1);
	if (!maker->load[s] || !maker->used[s])
		return no_memory(err);
	for (uint32_t i = 0; i < side->profile->samples_n; i++) {
		const int64_t value = pp_value(side->profile, i, side->column);
		if (side->keep && !side->keep[i])
			continue;
		total += pp_abs_i64(value);
		if (total > INT64_MAX)
			return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the values add up to more than 63 bits");
		maker->load[s][side->profile->sample_stack[i]] += value;
		maker->used[s][side->profile->sample_stack[i]] |= value != 0;
	}
	if (!(fabs((double)total * side->scale) < 9.2e18) && fabs(side->scale) != 1)
		return pp_fail(err, PP_EOVERFLOW, PP_NO_OFFSET, "the scaled values add up to more than 63 bits");
	maker->total[s] = (int64_t)pp_abs_i64(pp_graph_scaled(maker, s, (int64_t)total));
	maker->whole[s] = maker->total[s];
	return 0;
}

static void count_node(struct pp_graph_maker *maker, size_t s, uint32_t frame, uint64_t stamp, int64_t load)
{
	if (maker->seen[frame] == stamp)
		return;
	maker->seen[frame] = stamp;
	maker->all[frame].cum[s] += load;
}

static void roll_side(struct pp_graph_maker *maker, size_t s)
{
	const struct pp_profile *profile = maker->sides[s].profile;
	const struct pp_frame_map *map = maker->sides[s].map;

	for (uint32_t i = 0; i < profile->stacks_n; i++) {
		const struct pp_stack *stack = &profile->stacks[i];
		const int64_t load = maker->load[s][i];
		const uint64_t stamp = pp_graph_stamp(maker, s, i);
		if (load == 0)
			continue;
		const uint32_t leaf = stack->n > 0 ? map->frame[map->first[stack->locations[0]]] : map->no_stack;
		maker->all[leaf].flat[s] += load;
		count_node(maker, s, leaf, stamp, load);
		for (uint32_t k = 0; k < stack->n; k++)
			for (uint32_t f = map->first[stack->locations[k]]; f < map->first[stack->locations[k] + 1]; f++)
				count_node(maker, s, map->frame[f], stamp, load);
	}
}

static void scale_side(struct pp_graph_maker *maker, size_t s)
{
	for (uint32_t p = 0; p < maker->places_n; p++) {
		maker->all[p].flat[s] = pp_graph_scaled(maker, s, maker->all[p].flat[s]);
		maker->all[p].cum[s] = pp_graph_scaled(maker, s, maker->all[p].cum[s]);
	}
}

/* -f log2 f, with 0 log 0 = 0. */
static double surprise(uint64_t part, double whole)
{
	const double f = (double)part / whole;

	return part == 0 ? 0 : -f * log2(f);
}

/* How calls fan in and out at a frame, as the reference ranks nodes of a drawing: a frame that only
 * hands on to one callee from one caller says little. The reference's denominator leaves negative
 * weights out, which makes scores that are not numbers; here it is |self| + sum of |weights|. */
struct fan {
	double in_sum, out_sum, in, out;
	bool has_in, has_out;
};

static void score_nodes(struct pp_graph_maker *maker, struct fan *fans)
{
	for (uint32_t i = 0; i < maker->list_n; i++)
		fans[maker->list[i]] = (struct fan){.out_sum = (double)pp_abs_i64(maker->all[maker->list[i]].flat[0])};
	for (size_t i = 0; i < maker->edges_n; i++) {
		const struct pp_edge *e = &maker->edges[i].e;
		const double w = (double)pp_abs_i64(e->weight[0]);
		fans[e->from].out_sum += w;
		fans[e->from].has_out = true;
		fans[e->to].in_sum += w;
		fans[e->to].has_in = true;
	}
	for (size_t i = 0; i < maker->edges_n; i++) {
		const struct pp_edge *e = &maker->edges[i].e;
		const uint64_t w = pp_abs_i64(e->weight[0]);
		fans[e->from].out += surprise(w, fans[e->from].out_sum);
		fans[e->to].in += surprise(w, fans[e->to].in_sum);
	}
	for (uint32_t i = 0; i < maker->list_n; i++) {
		const uint32_t place = maker->list[i];
		const struct pp_node *node = &maker->all[place];
		const struct fan *fan = &fans[place];
		const double in = fan->has_in ? fan->in : 1;
		const double out = fan->has_out ? fan->out + surprise(pp_abs_i64(node->flat[0]), fan->out_sum) : 1;
		const double score = trunc((in + out) * (double)node->cum[0]) + (double)node->flat[0];
		maker->score[place] = fabs(score) < 9.2e18 ? (int64_t)fabs(score) : INT64_MAX;
	}
}

struct sorted_node {
	uint64_t first, second;
	uint32_t rank, place;
};

static int compare_nodes(const void *left, const void *right)
{
	const struct sorted_node *a = left, *b = right;
	int order = (a->first < b->first) - (a->first > b->first);

	if (order == 0)
		order = (a->second < b->second) - (a->second > b->second);
	return order != 0 ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* |a - b| of any two numbers. */
static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Sorts the list by importance: the score; of a comparison, the change and then the size. */
static int sort_nodes(struct pp_graph_maker *maker, struct pp_error *err)
{
	struct sorted_node *sorted = malloc(((size_t)maker->list_n + 1) * sizeof *sorted);
	struct fan *fans = NULL;

	const bool scored = maker->judged_n == 1 && maker->options->order == PP_GRAPH_BY_IMPORTANCE;
	if (scored)
		fans = malloc(((size_t)maker->places_n + 1) * sizeof *fans);
	if (!sorted || (scored && !fans)) {
		free(sorted);
		free(fans);
		return no_memory(err);
	}
	if (fans)
		score_nodes(maker, fans);
	for (uint32_t i = 0; i < maker->list_n; i++) {
		const uint32_t place = maker->list[i];
		const struct pp_node *node = &maker->all[place];
		sorted[i] = (struct sorted_node){(uint64_t)maker->score[place], 0, maker->rank[place], place};
		if (maker->options->order == PP_GRAPH_BY_FLAT) {
			sorted[i].first = pp_abs_i64(node->flat[0]);
		} else if (maker->options->order == PP_GRAPH_BY_CUM) {
			sorted[i].first = pp_abs_i64(node->cum[0]);
		} else if (maker->judged_n > 1) {
			sorted[i].first = distance(node->cum[0], node->cum[1]);
			sorted[i].second = pp_graph_magnitude(maker, node->cum);
		}
	}
	qsort(sorted, maker->list_n, sizeof *sorted, compare_nodes);
	for (uint32_t i = 0; i < maker->list_n; i++)
		maker->list[i] = sorted[i].place;
	free(sorted);
	free(fans);
	return 0;
}

struct named_frame {
	const struct pp_frames *frames;
	uint32_t frame;
};

static int compare_names(const void *left, const void *right)
{
	const struct named_frame *a = left, *b = right;

	return pp_frames_cmp(a->frames, a->frame, b->frame);
}

/* Ranks frames by their names. The caller frees what is returned. */
static uint32_t *rank_frames(const struct pp_graph_maker *maker, uint32_t frames_n)
{
	struct named_frame *named = malloc(((size_t)frames_n + 1) * sizeof *named);
	uint32_t *rank = malloc(((size_t)frames_n + 1) * sizeof *rank);

	for (uint32_t f = 0; named && f < frames_n; f++)
		named[f] = (struct named_frame){maker->frames, f};
	if (named)
		qsort(named, frames_n, sizeof *named, compare_names);
	for (uint32_t i = 0; named && rank && i < frames_n; i++)
		rank[named[i].frame] = i;
	if (!named) {
		free(rank);
		rank = NULL;
	}
	free(named);
	return rank;
}

/* Ranks places by the names of their frames; paths to the same frame as they come in order. A counting sort;
 * first has room for all frames and one. */
static void rank_in_order(struct pp_graph_maker *maker, const uint32_t *frame_rank, uint32_t *first,
                          const uint32_t *order)
{
	const uint32_t frames_n = pp_frames_count(maker->frames);

	memset(first, 0, ((size_t)frames_n + 1) * sizeof *first);
	for (uint32_t p = 0; p < maker->places_n; p++)
		first[frame_rank[maker->all[p].frame] + 1]++;
	for (uint32_t r = 0; r < frames_n; r++)
		first[r + 1] += first[r];
	for (uint32_t i = 0; i < maker->places_n; i++)
		maker->rank[order[i]] = first[frame_rank[maker->all[order[i]].frame]]++;
}

/* Ranks places by name, and paths to the same frame by what leads there, so that the order of stacks in the
 * profile is of no consequence. */
static int rank_places(struct pp_graph_maker *maker, struct pp_error *err)
{
	const uint32_t frames_n = pp_frames_count(maker->frames);
	uint32_t *frame_rank = rank_frames(maker, frames_n);
	uint32_t *first = malloc(((size_t)frames_n + 1) * sizeof *first);
	uint32_t *order = malloc(((size_t)maker->places_n + 1) * sizeof *order);
	int status = 0;

	if (!frame_rank || !first || !order) {
		status = no_memory(err);
		goto done;
	}
	for (uint32_t p = 0; p < maker->places_n; p++) {
		maker->all[p].frame = maker->tree ? pp_graph_tree_frame(maker->tree, p) : p;
		order[p] = p;
	}
	rank_in_order(maker, frame_rank, first, order);
	if (!maker->tree)
		goto done;
	for (uint32_t p = 0; p < maker->places_n; p++)
		order[maker->rank[p]] = p;
	status = pp_graph_tree_sort(maker->tree, order, err);
	if (status == 0)
		rank_in_order(maker, frame_rank, first, order);
done:
	free(frame_rank);
	free(first);
	free(order);
	return status;
}

static bool is_without_stack(const struct pp_graph_maker *maker, uint32_t place)
{
	return pp_frames_at(maker->frames, maker->all[place].frame)->kind == PP_FRAME_NO_STACK;
}

static bool is_listed(const struct pp_graph_maker *maker, uint32_t place)
{
	const struct pp_node *node = &maker->all[place];

	if (node->flat[0] == 0 && node->cum[0] == 0 &&
	    (maker->judged_n == 1 || (node->flat[1] == 0 && node->cum[1] == 0)))
		return false;
	if (maker->options->drop_negative && (node->flat[0] < 0 || (node->flat[0] == 0 && node->cum[0] < 0)))
		return false;
	/* Samples without a stack have neither callers nor callees. */
	return maker->options->order == PP_GRAPH_BY_IMPORTANCE || !is_without_stack(maker, place);
}

/* Lists the places that have a value, and ranks all. */
static int list_nodes(struct pp_graph_maker *maker, struct pp_error *err)
{
	int64_t sum = 0;

	if (rank_places(maker, err) != 0)
		return -1;
	for (uint32_t p = 0; p < maker->places_n; p++) {
		if (!is_listed(maker, p))
			continue;
		maker->list[maker->list_n++] = p;
		if (!is_without_stack(maker, p))
			sum += maker->all[p].flat[0]; /* fits: no sum of flat values is over the total */
	}
	if (maker->judged_n == 1)
		maker->whole[0] = sum;
	return 0;
}

static uint64_t cut_at(const struct pp_graph_maker *maker, size_t s, double fraction)
{
	return (uint64_t)fabs((double)maker->whole[s] * fraction);
}

/* Whether v reaches this share of its side's whole on some side. */
static bool reaches(const struct pp_graph_maker *maker, const int64_t v[2], double fraction)
{
	for (size_t s = 0; s < maker->judged_n; s++)
		if (pp_abs_i64(v[s]) >= cut_at(maker, s, fraction))
			return true;
	return false;
}

static int collect_labels(struct pp_graph_maker *maker, struct pp_error *err)
{
	if (!maker->options->labels || maker->judged_n > 1)
		return 0;
	maker->labels = pp_graph_labels_new(maker, cut_at(maker, 0, maker->options->node_fraction), err);
	return maker->labels ? 0 : -1;
}

/* How many nodes of the list there is room for: labels take theirs. */
static uint32_t choose_limit(const struct pp_graph_maker *maker)
{
	const uint32_t limit = maker->options->node_limit;
	uint64_t n = 0;

	if (!maker->labels || limit == 0)
		return limit;
	for (uint32_t i = 0; i < maker->list_n; i++) {
		n += 1 + (uint64_t)pp_graph_labels_count(maker->labels, maker->list[i]);
		if (n >= limit)
			return i + 1;
	}
	return maker->list_n;
}

/* Shortens the list to what can be drawn, in two steps as the reference: by size, then by number. */
static int choose_nodes(struct pp_graph_maker *maker, struct pp_error *err)
{
	const uint32_t listed = maker->list_n;
	uint32_t n = 0;

	for (uint32_t i = 0; i < listed; i++) {
		const uint32_t place = maker->list[i];
		if (!reaches(maker, maker->all[place].cum, maker->options->node_fraction))
			continue;
		maker->list[n++] = place;
		maker->kept[place] = 1;
	}
	maker->list_n = n;
	if (n == listed && maker->options->order != PP_GRAPH_BY_IMPORTANCE)
		memset(maker->kept, 1, maker->places_n);
	if (pp_graph_collect_edges(maker, err) != 0 || sort_nodes(maker, err) != 0 || collect_labels(maker, err) != 0)
		return -1;
	const uint32_t limit = choose_limit(maker);
	if (limit == 0 || limit >= maker->list_n)
		return 0;
	memset(maker->kept, 0, maker->places_n);
	for (uint32_t i = 0; i < limit; i++)
		maker->kept[maker->list[i]] = 1;
	maker->list_n = limit;
	return pp_graph_collect_edges(maker, err) != 0 ? -1 : sort_nodes(maker, err);
}

/* Only calls of listed functions are looked at. */
static uint32_t drop_light_edges(struct pp_graph_maker *maker)
{
	size_t n = 0;

	memset(maker->kept, 0, maker->places_n);
	for (uint32_t i = 0; i < maker->list_n; i++)
		maker->kept[maker->list[i]] = 1;
	for (size_t i = 0; i < maker->edges_n; i++)
		if (!maker->kept[maker->edges[i].e.to] ||
		    reaches(maker, maker->edges[i].e.weight, maker->options->edge_fraction))
			maker->edges[n++] = maker->edges[i];
	const uint32_t dropped = (uint32_t)(maker->edges_n - n);
	maker->edges_n = n;
	return dropped;
}

/* The node of a place: of the list, or a new one after it. */
static uint32_t node_of(struct pp_graph_maker *maker, struct pp_callgraph *graph, uint32_t place)
{
	if (maker->rank[place] == PP_NONE) {
		maker->rank[place] = graph->nodes_n + graph->ghosts_n++;
		graph->nodes[maker->rank[place]] = maker->all[place];
	}
	return maker->rank[place];
}

/* Turns lists of places into nodes and edges between them. */
static int fill_graph(struct pp_graph_maker *maker, struct pp_callgraph *graph, struct pp_error *err)
{
	graph->nodes = malloc(((size_t)maker->places_n + 1) * sizeof *graph->nodes);
	graph->edges = malloc((maker->edges_n + 1) * sizeof *graph->edges);
	if (!graph->nodes || !graph->edges)
		return no_memory(err);
	/* Names are no longer needed: from here rank is the node. */
	memset(maker->rank, 0xff, maker->places_n * sizeof *maker->rank);
	graph->nodes_n = maker->list_n;
	for (uint32_t i = 0; i < maker->list_n; i++) {
		graph->nodes[i] = maker->all[maker->list[i]];
		maker->rank[maker->list[i]] = i;
	}
	for (size_t i = 0; i < maker->edges_n; i++) {
		graph->edges[i] = maker->edges[i].e;
		graph->edges[i].from = node_of(maker, graph, graph->edges[i].from);
		graph->edges[i].to = node_of(maker, graph, graph->edges[i].to);
	}
	graph->edges_n = (uint32_t)maker->edges_n;
	graph->total[0] = maker->total[0];
	graph->total[1] = maker->total[1];
	return 0;
}

static int allocate(struct pp_graph_maker *maker, struct pp_error *err)
{
	const size_t n = (size_t)maker->places_n + 1;

	maker->all = calloc(n, sizeof *maker->all);
	maker->rank = calloc(n, sizeof *maker->rank);
	maker->kept = calloc(n, sizeof *maker->kept);
	maker->seen = calloc(n, sizeof *maker->seen);
	maker->score = calloc(n, sizeof *maker->score);
	maker->list = calloc(n, sizeof *maker->list);
	return maker->all && maker->rank && maker->kept && maker->seen && maker->score && maker->list
	               ? 0
	               : no_memory(err);
}

static void release(struct pp_graph_maker *maker)
{
	free(maker->load[0]);
	free(maker->load[1]);
	free(maker->used[0]);
	free(maker->used[1]);
	free(maker->all);
	free(maker->rank);
	free(maker->kept);
	free(maker->seen);
	free(maker->score);
	free(maker->list);
	free(maker->edges);
	free(maker->slots);
	pp_graph_labels_free(maker->labels);
	pp_graph_tree_free(maker->tree);
}

int pp_callgraph_make(const struct pp_frames *frames, const struct pp_graph_side *sides, size_t sides_n,
                      const struct pp_callgraph_options *options, struct pp_callgraph *graph,
                      struct pp_error *err)
{
	struct pp_graph_maker maker = {.frames = frames, .sides = sides, .sides_n = sides_n, .options = options,
	                      .judged_n = options->divisor ? 1 : sides_n,
	                      .places_n = pp_frames_count(frames)};
	struct pp_callgraph made = {0};
	int status = -1;

	for (size_t s = 0; s < sides_n; s++)
		if (load_side(&maker, s, err) != 0)
			goto done;
	if ((options->tree && pp_graph_tree_make(&maker, err) != 0) || allocate(&maker, err) != 0)
		goto done;
	for (size_t s = 0; s < sides_n; s++) {
		if (maker.tree)
			pp_graph_tree_roll(&maker, s);
		else
			roll_side(&maker, s);
		scale_side(&maker, s);
	}
	if (list_nodes(&maker, err) != 0)
		goto done;
	made.nodes_all_n = maker.list_n;
	if (choose_nodes(&maker, err) != 0)
		goto done;
	made.nodes_dropped_n = made.nodes_all_n - maker.list_n;
	made.edges_dropped_n = drop_light_edges(&maker);
	if (fill_graph(&maker, &made, err) != 0 ||
	    (options->order == PP_GRAPH_BY_IMPORTANCE && !options->tree &&
	     pp_callgraph_remove_redundant(&made, err) != 0) ||
	    (maker.labels && pp_graph_labels_attach(maker.labels, maker.list, &made, err) != 0))
		goto done;
	*graph = made;
	made = (struct pp_callgraph){0};
	status = 0;
done:
	pp_callgraph_release(&made);
	release(&maker);
	return status;
}

void pp_callgraph_release(struct pp_callgraph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	pp_arena_free(graph->arena);
	*graph = (struct pp_callgraph){0};
}
