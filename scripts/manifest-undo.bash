# What check-reference-manifest does with an exception: takes the one difference away that its reason names, here and
# not in a tool, and compares again. Nothing else may differ. Read by that script, whose variables it changes: those of
# the line (sources, base, options …), $as_lines (a sed script for profiles as lines, of both sides), and what the awk
# scripts take.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of the script that reads this

# rewritten FILE AWK-ARGUMENT...: the profile with its records changed, in $new_file.
rewritten() {
	local file=$1
	shift
	rewritten_n=$((${rewritten_n:-0} + 1))
	new_file=$work/rewritten.$rewritten_n
	"$build/pprof-decode" --records "$file" 2>/dev/null | awk -F '\t' -v OFS='\t' "$@" | "$build/pprof-encode" >"$new_file" 2>/dev/null
}

# rewrite_all AWK-ARGUMENT...: all inputs of the line.
rewrite_all() {
	local file all=
	for file in $sources; do
		rewritten "$file" "$@"
		all="$all${all:+ }$new_file"
	done
	sources=$all
	[ "$base" = - ] || { rewritten "$base" "$@" && base=$new_file; }
}

# The reference drops samples of which the columns that it converts are 0: they are made 0 altogether.
undo_zeros() {
	local file
	for file in $sources $base; do
		[ "$file" = - ] || "$build/pprof-decode" --records "$file" | awk -F '\t' '$1 == "sample_type" { print $3, $4 }'
	done >"$work/units"
	rewrite_all -v units="$work/units" '
		BEGIN {
			size["nanoseconds"] = 1; size["microseconds"] = 1000; size["milliseconds"] = 1000000; size["count"] = 1
			while ((getline line <units) > 0) {
				split(line, part, " ")
				if (!(part[1] in finest) || size[part[2]] < finest[part[1]]) finest[part[1]] = size[part[2]]
			}
		}
		$1 == "sample_type" { converted[++n] = size[$4] != finest[$3] }
		$1 == "sample" {
			split($4, value, ","); any = kept = 0
			for (i = 1; i <= n; i++) if (converted[i]) { any = 1; if (value[i] != 0) kept = 1 }
			if (any && !kept) gsub(/[^,]+/, "0", $4)
		}
		{ print }'
}

# The same, and the first profile decides the order of the sample types; one that has another gets a default.
undo_zeros_and_order() {
	undo_zeros
	as_lines='/^types /s/\[dflt\]//'
	rewrite_all -v first="$("$build/pprof-decode" --records "${sources%% *}" | awk -F '\t' '$1 == "sample_type" { print $3; exit }')" '
		$1 == "sample_type" { type[++n] = $0; if (n == 2) { split(type[1], part); swapped = part[3] != first; put_types() } next }
		$1 == "sample" && swapped { split($4, value, ","); $4 = value[2] "," value[1] }
		{ print }
		function put_types(    i, k, field) {
			for (i = 1; i <= 2; i++) {
				split(type[swapped ? 3 - i : i], field)
				print field[1], i - 1, field[3], field[4]
			}
		}'
}

# The reference forgets the columns of inlined lines when it adds up: they go on both sides.
undo_columns() {
	rewrite_all '
		$1 == "line" { if ($2 == at) held = blank(held); if (held != "") print held; held = $0; at = $2; next }
		{ if (held != "") print held; held = at = ""; print }
		END { if (held != "") print held }
		function blank(record,    field, n, i, made) {
			n = split(record, field, "\t"); field[6] = 0
			for (i = 1; i <= n; i++) made = made (i > 1 ? "\t" : "") field[i]
			return made
		}'
	as_lines='s/:\([0-9]*\):[0-9]* s=\([0-9]*\);/:\1:0 s=\2;/g'
}

# The reference does not know the unit: it gets a name that nobody knows.
undo_unit() {
	rewrite_all '{ gsub(/μs/, "Qs"); print }'
	sed 's/μs/Qs/g' "$expected" >"$work/expected.unit"
	expected=$work/expected.unit
}

# The reference converts what it cannot read back to the default unit, and cuts fractions off.
undo_gcu() {
	reads_unit=GCU
}

# Order decides: of the header, of where a binary lay, of the sample type that comes last.
undo_header() {
	as_lines='/^Doc: /d; /^types /s/\[dflt\]//'
}
undo_places() {
	raw_options="-v relative=1"
}
undo_type() {
	type=cpu
}

# The reference draws calls to and from functions that it does not draw, and none past them.
undo_ghosts() {
	dot_options="-v direct=1"
}

# Nodes are chosen by the scores of the reference, in which calls and functions that came to nothing have a part: by a
# pprof-dot of which these lines differ.
undo_scores() {
	if [ -z "${scored_tool:-}" ]; then
		scored_tool=$work/pprof-dot
		# shellcheck disable=SC2046
		sed -e 's/return part == 0 ? 0 : -f/return whole == 0 ? 0 : -f/' \
			-e 's/\.out_sum = (double)pp_abs_i64(\(.*\))};/.out_sum = (double)\1};/' \
			-e 's/const double w = (double)pp_abs_i64(\(.*\));/const double w = \1 > 0 ? (double)\1 : 0;/' \
			-e 's/fan->out + surprise(pp_abs_i64(node->flat\[0\]), fan->out_sum)/fan->out + (node->flat[0] > 0 ? surprise(pp_abs_i64(node->flat[0]), fan->out_sum) : 0)/' \
			-e 's/maker->score\[place\] = .*/maker->score[place] = isnan(score) ? (node->flat[0] ? INT64_MAX - (int64_t)pp_abs_i64(node->flat[0]) : 0) : (int64_t)fabs(score);/' \
			-e 's/if (n == listed && maker->options->order != PP_GRAPH_BY_IMPORTANCE)/if (n == listed)/' \
			"$scripts/../libpprof/callgraph.c" >"$work/callgraph.c"
		sed 's/ || maker->options->order != PP_GRAPH_BY_IMPORTANCE)$/ || maker->edges_n)/' \
			"$scripts/../libpprof/callgraph_edges.c" >"$work/callgraph_edges.c"
		[ "$(cat "$scripts"/../libpprof/callgraph{,_edges}.c | diff - <(cat "$work"/callgraph{,_edges}.c) | grep -c '^>')" -eq 7 ] &&
			for part in callgraph callgraph_edges; do
				${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -I "$scripts/.." -O1 -c -o "$work/$part.o" "$work/$part.c" || false
			done &&
			${CC:-cc} -o "$scored_tool" "$build/cmd/pprof-dot.o" "$work"/callgraph{,_edges}.o "$build"/lib{cmd,diff,pprof}.a \
				$(pkg-config --libs zlib libprotobuf-c libxxhash libpcre2-8 jansson libcgraph) -lm -pthread || scored_tool=none
	fi 2>"$work/cc"
	used_tool=$scored_tool
}
# Without a compiler that makes what this build is made of, there is no such pprof-dot.
may_undo() {
	[ "$1" != scores ] || [ "$used_tool" != none ]
}

# Calls are not divided for a mean: its functions, and the calls of the tree without.
undo_mean() {
	local mean=$options
	tree_options="-v only=self"
	judge
	[ -z "$difference" ] || return
	options=${mean/ --mean/}
	tree_options="-v only=calls"
}

# only_that UNDO: whether $difference of the line is that and nothing else; else $difference is what is left.
only_that() {
	case $1 in
	refusal)
		case $difference in "not refused" | refused:*) return 0 ;; esac
		return 1
		;;
	*)
		"undo_$1"
		if may_undo "$1"; then judge; else difference='' unseen=$((unseen + 1)); fi
		;;
	esac
	as_lines= raw_options= dot_options= tree_options= reads_unit= used_tool=
	[ -z "$difference" ]
}
