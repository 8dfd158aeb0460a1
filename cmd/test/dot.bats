#!/usr/bin/env bats
# pprof-dot: what it draws, and that dot draws it.
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# svg FILE: dot draws it without a word, into FILE.svg.
svg() {
	command -v dot >/dev/null || skip "no dot"
	run --separate-stderr dot -Tsvg -o "$1.svg" "$1"
	status_is 0
	[ -z "$stderr" ]
	[ -s "$1.svg" ]
}

@test "a profile: nodes by importance, shares, residual calls" {
	run tool pprof-dot --nodecount 3 "$DATA/tiny.folded"
	status_is 0
	has 'label="main\n0 of 108 (100%)"'
	has 'label="handle\n0 of 100 (92.59%)"'
	has 'label="hash\n40 (37.04%)\nof 60 (55.56%)"'
	has 'labeltooltip="handle ... hash\n60"'
	has 'style=dashed'
	has '3 of 10 functions drawn'
	tool pprof-dot --nodecount 3 "$DATA/tiny.folded" >t.dot
	svg t.dot
}

@test "stdin is read without an operand" {
	tool pprof-dot "$DATA/tiny.folded" | sed '/legend/,/note/d' >a
	tool pprof-dot <"$DATA/tiny.folded" | sed '/legend/,/note/d' >b
	cmp a b
	[ -s a ]
}

@test "two sides: before and after, signs and colours" {
	run tool pprof-dot "$DATA/tiny.folded" "$DATA/tiny-slow.folded"
	status_is 0
	has 'label="hash\nself 40 → 230 (+190)\ntotal 60 → 355 (+295)"'
	has 'label="rank\nself 10 → 11 (+1)'
	has 'label="session\nself 5 (unchanged)\ntotal 5 (unchanged)"'
	has 'label="audit\nself 0 → 6 (+6)\ntotal 0 → 6 (+6)"'
	has 'total 108 → 410 (+302)'
	has 'values as measured, not normalised'
	has 'red grew, blue shrank, grey unchanged'
}

@test "what vanished is drawn, in blue" {
	printf 'main;old 10\nmain;same 5\n' >before
	printf 'main;same 5\n' >after
	run tool pprof-dot before after
	status_is 0
	has 'label="old\nself 10 → 0 (-10)\ntotal 10 → 0 (-10)"'
	[[ $output =~ fillcolor=\"#([0-9a-f]{2})[0-9a-f]{2}([0-9a-f]{2})\",[^\]]*label=\"old ]]
	((16#${BASH_REMATCH[1]} < 16#${BASH_REMATCH[2]}))
}

@test "a profile against itself is unchanged everywhere" {
	run tool pprof-dot "$DATA/cpu.pb.gz" "$DATA/cpu.pb.gz"
	status_is 0
	has '(unchanged)'
	[[ $output != *→* ]]
}

@test "named sides, in any order, are the same as operands" {
	tool pprof-dot "$DATA/tiny.folded" "$DATA/tiny-slow.folded" >a
	tool pprof-dot --incident "$DATA/tiny-slow.folded" --baseline "$DATA/tiny.folded" >b
	tool pprof-dot "$DATA/tiny-slow.folded" --baseline "$DATA/tiny.folded" >c
	cmp a b
	cmp a c
}

@test "several files of a side are summed" {
	run tool pprof-dot --incident "$DATA/tiny.folded" "$DATA/tiny.folded"
	status_is 0
	has 'label="hash\n80 (37.04%)\nof 120 (55.56%)"'
	has 'and 1 more'
}

@test "a difference written as a profile is drawn as the two sides are" {
	tool pprof-diff --format pprof --output d.pb.gz "$DATA/tiny.folded" "$DATA/tiny-slow.folded"
	tool pprof-dot d.pb.gz | sed '/legend/,/note/d' >a
	tool pprof-dot "$DATA/tiny.folded" "$DATA/tiny-slow.folded" | sed '/legend/,/note/d' >b
	cmp a b
	grep -q '+190' a
}

@test "normalised by total: shares, and the factors in the legend" {
	printf 'main;a 10\n' >one
	printf 'main;a 30\n' >three
	run tool pprof-dot --normalize total one three
	status_is 0
	has 'label="a\nself 20 (unchanged)'
	has 'normalised by total: incident times 0.666667, baseline times 2'
	run tool pprof-dot --normalize total one
	status_is 2
	is "pprof-dot: --normalize is for comparisons (try --help)"
}

@test "hostile names: escaped, cut, and drawn" {
	long=$(printf 'x%.0s' {1..100000})
	{
		printf 'samples:count\tstack\n'
		printf '%s\n' '1	a\\;b" <c> &amp\x3b [label=x]' '2	trailing\\' '3	bad\xffutf8\x1b[31m' \
			'4	\\N\\G\\l' "5	$long" '6	node' '7	graph' '8	two\nlines'
	} >hostile
	tool pprof-dot hostile >h.dot
	[ "$(awk '{ if (length > m) m = length } END { print m < 6000 }' h.dot)" = 1 ]
	! LC_ALL=C grep -q "$(printf '\033')" h.dot
	svg h.dot
	grep -q 'trailing\\' h.dot.svg
	grep -q '\\N\\G\\l' h.dot.svg
	grep -q '&amp;amp;' h.dot.svg
	LC_ALL=C.UTF-8 grep -q 'bad.utf8' h.dot.svg
}

@test "no samples is a graph with nothing but the legend" {
	printf 'main 0\n' >zero
	tool pprof-dot zero >z.dot
	grep -q 'no samples' z.dot
	[ "$(grep -c 'n[0-9]' z.dot)" -le 4 ]
	svg z.dot
}

@test "limits on nodes and calls" {
	run tool pprof-dot --nodefraction 0.3 --edgefraction 0.9 "$DATA/tiny.folded"
	status_is 0
	has '5 of 10 functions drawn'
	run tool pprof-dot --nodefraction 2 "$DATA/tiny.folded"
	status_is 2
}

@test "mistakes and refusals" {
	run tool pprof-dot a b c
	status_is 2
	run tool pprof-dot --baseline a
	status_is 2
	is "pprof-dot: --baseline without an incident: name it first, or with --incident (try --help)"
	run tool pprof-dot --sample-type nosuch "$DATA/tiny.folded"
	status_is 2
	has "sample type 'nosuch' is not one of: samples"
	printf 'a 4611686018427387904\nb 4611686018427387904\n' >big
	run tool pprof-dot big
	status_is 3
	has "'big': the values add up to more than 63 bits"
}

@test "the same bytes whatever the order of stacks" {
	tool pprof-dot "$DATA/tiny.folded" | sed '/legend/,/note/d' >a
	sort -r "$DATA/tiny.folded" >reversed
	tool pprof-dot reversed | sed '/legend/,/note/d' >b
	cmp a b
}

@test "dot draws every profile of the corpus" {
	corpus=$ROOT/../shared/corpus
	[ -d "$corpus" ] || skip "no ../shared"
	command -v dot >/dev/null || skip "no dot"
	# Each of them through pprof-dot; every fourth through dot, which is slower.
	n=0
	for f in "$corpus"/real/*.pb.gz "$corpus"/edge/*.pb.gz; do
		tool pprof-dot --lenient "$f" >c.dot 2>err || { [ $? -eq 3 ] && [ -s err ]; continue; }
		n=$((n + 1))
		[ $((n % 4)) -eq 0 ] || continue
		dot -Tcanon -o /dev/null c.dot
	done
	[ "$n" -gt 90 ]
}

@test "a call tree: a box for each path" {
	printf 'main;get;sum 5\nmain;put;sum 2\nmain;put;hash;sum 1\n' >p
	tool pprof-dot --call-tree p >t.dot
	[ "$(grep -c 'label="sum\\n' t.dot)" -eq 3 ]
	run cat t.dot
	has 'label="sum\n5 (62.50%)"'
	has 'label="sum\n2 (25.00%)"'
	has 'label="sum\n1 (12.50%)"'
	has 'labeltooltip="put -> sum\n2"'
	has '7 of 7 nodes of the call tree drawn'
	svg t.dot
	run tool pprof-dot --call-tree --nodefraction 0.25 p
	status_is 0
	has '5 of 7 nodes of the call tree drawn'
	[[ $output != *hash* ]]
}

@test "a call tree is the same whatever the order of stacks, and has two sides" {
	tool pprof-dot --call-tree --nodefraction 0 "$DATA/tiny.folded" "$DATA/tiny-slow.folded" | sed '/legend/,/note/d' >a
	sort -r "$DATA/tiny.folded" >old
	sort -r "$DATA/tiny-slow.folded" >new
	tool pprof-dot --call-tree --nodefraction 0 old new | sed '/legend/,/note/d' >b
	cmp a b
	grep -q '→' a
}

@test "a call tree that would be huge is refused" {
	[ -z "${PP_RUN:-}" ] || skip "slow"
	awk 'BEGIN {
		OFS = "\t"
		print "#pprof-records", 1
		print "sample_type", 0, "cpu", "ns"
		for (i = 1; i <= 1000; i++) print "function", i - 1, i, "f" i, "", "", 0
		print "location", 0, 1, 0, "0x10", 0
		for (i = 1; i <= 1000; i++) print "line", 1, i - 1, i, 1, 0
		printf "sample\t0\t1"
		for (i = 0; i < 9000; i++) printf ",1"
		printf "\t5\n"
	}' | tool pprof-encode >p
	run tool pprof-dot --call-tree p
	status_is 3
	is "pprof-dot: 'p': a call tree of more than 8388608 paths"
}

@test "labels hang at their function, numbers at their labels, and take room" {
	printf 'n:count\tlabel:pod\tnumlabel:bytes:bytes\tstack\n' >l
	printf '%s\n' "5${TAB}p${TAB}2048${TAB}m;a" "3${TAB}q${TAB}${TAB}m;a" "1${TAB}${TAB}100${TAB}m" >>l
	run tool pprof-dot l
	status_is 0
	has 'label="pod:p"'
	has 'label="2kB"'
	run bash -c "'$PP_BUILD/pprof-dot' l | awk '/^.n[0-9_]+ -> /{ e = \$1 \$2 \$3 } /labeltooltip/ { print e, \$0 }' | tr -d '\t,'"
	is 'n0->n0_0 labeltooltip=5
n0->n0_2 labeltooltip=3
n1->n0 labeltooltip="m -> a\n8"
n1->n1_3 labeltooltip=1
n0_0->n0_1 labeltooltip=5'
	tool pprof-dot --nodecount 2 l >t.dot
	[ "$(grep -c 'shape=box3d' t.dot)" -eq 3 ]
	svg t.dot
}

@test "a view: filters, means, values below 0" {
	run bash -c "'$PP_BUILD/pprof-dot' --focus hash '$DATA/tiny.folded' | sed -n 's/^\t\ttooltip=\([a-z]*\)].*/\1/p' | sort | tr '\n' ' '"
	is 'handle hash login main sum '
	printf 'n:count\tdelay:nanoseconds\tstack\n2\t10\tm;a\n3\t-90\tm;b\n' >x
	run bash -c "'$PP_BUILD/pprof-dot' --mean --drop-negative x 2>/dev/null"
	has 'label="a\n5ns (25.00%)"'
	run tool pprof-dot --mean x x
	status_is 2
}

@test "no number of threads changes a byte" {
	for threads in 1 4; do
		tool pprof-dot --threads $threads --baseline "$DATA/cases/slow-login/baseline" --incident "$DATA/cases/slow-login/incident" >"$BATS_TEST_TMPDIR/$threads"
		run tool pprof-dot --threads $threads --baseline "$DATA/cpu.pb.gz" missing1 missing2 --incident "$DATA/cpu.pb.gz"
		status_is 4
		is "pprof-dot: cannot open 'missing1': No such file or directory"
	done
	cmp "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/4"
}
