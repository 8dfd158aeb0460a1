#!/usr/bin/env bats
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# rows PROFILE ARGUMENT...: flat, cum and name, without the header.
rows() {
	tool pprof-top --format tsv "$@" | sed 1d | cut -f 1,3,5
}

@test "columns keep their names and places" {
	run tool pprof-top --limit 0 "$DATA/tiny.folded"
	status_is 0
	is "flat${TAB}flat_share${TAB}cum${TAB}cum_share${TAB}name${TAB}flat_samples${TAB}flat_error${TAB}cum_samples${TAB}file${TAB}line${TAB}mapping${TAB}address${TAB}sum_share"
}

@test "every function, by flat, then name" {
	run rows "$DATA/tiny.folded"
	is "40${TAB}60${TAB}hash
25${TAB}25${TAB}match
20${TAB}20${TAB}sum
10${TAB}10${TAB}rank
8${TAB}8${TAB}collect
5${TAB}5${TAB}session
0${TAB}100${TAB}handle
0${TAB}65${TAB}login
0${TAB}108${TAB}main
0${TAB}35${TAB}search"
}

@test "--cum sorts by cumulative value, --limit cuts" {
	run rows --cum --limit 3 "$DATA/tiny.folded"
	is "0${TAB}108${TAB}main
0${TAB}100${TAB}handle
0${TAB}65${TAB}login"
}

@test "shares, samples and sampling error" {
	run bash -c "printf 'a;b 75\na 25\n' | '$PP_BUILD/pprof-top' --format tsv | cut -f 1-8"
	is "flat${TAB}flat_share${TAB}cum${TAB}cum_share${TAB}name${TAB}flat_samples${TAB}flat_error${TAB}cum_samples
75${TAB}0.75${TAB}75${TAB}0.75${TAB}b${TAB}75${TAB}8.660254038${TAB}75
25${TAB}0.25${TAB}100${TAB}1${TAB}a${TAB}25${TAB}5${TAB}100"
}

@test "recursion is counted once a sample" {
	run rows - <<<'a;b;a;b 7'
	is "7${TAB}7${TAB}b
0${TAB}7${TAB}a"
}

@test "negative values: signed shares of the sum of sizes, and a warning" {
	printf 'a 30\nb -10\n' >"$BATS_TEST_TMPDIR/x"
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr tool pprof-top x
	status_is 0
	[ "$stderr" = "pprof-top: warning: 'x': holds negative values: a difference?" ]
	[ "$(printf '%s\n' "$output" | cut -f 1,2,5 | sed 1d)" = "30${TAB}0.75${TAB}a
-10${TAB}-0.25${TAB}b" ]
}

@test "a profile without samples is a header and status 0" {
	tool pprof-decode --records "$DATA/tiny.folded" | grep -v "^sample$TAB" >"$BATS_TEST_TMPDIR/none"
	run tool pprof-top --format tsv "$BATS_TEST_TMPDIR/none"
	status_is 0
	[ "${#lines[@]}" -eq 1 ]
	run tool pprof-top --format json "$BATS_TEST_TMPDIR/none"
	status_is 0
	is "[]"
}

@test "sample types: by name, by name and unit, by index; a wrong one lists those there are" {
	want=$(tool pprof-top "$DATA/cpu.pb.gz")
	for type in cpu cpu:nanoseconds 1; do
		run tool pprof-top --sample-type $type "$DATA/cpu.pb.gz"
		status_is 0
		is "$want"
	done
	run tool pprof-top --sample-type wall "$DATA/cpu.pb.gz"
	status_is 2
	has wall
	has cpu
	has samples
}

@test "granularities add up to the same total" {
	for by in frames functions filefunctions files lines addresses mappings; do
		run bash -c "'$PP_BUILD/pprof-top' --by $by --format tsv '$DATA/cpu.pb.gz' | awk -F '\t' 'NR > 1 { s += \$1 } END { print s }'"
		[ "$output" = 1160000000 ] || [ "$output" = 1.16e+09 ] || { echo "$by: $output"; return 1; }
	done
}

@test "JSON and TSV say the same" {
	command -v jq >/dev/null || skip "no jq"
	run bash -c "'$PP_BUILD/pprof-top' --format json '$DATA/heap.pb.gz' |
		jq -r '.[] | [.flat, .cum, .name, .file, .line] | @tsv'"
	status_is 0
	is "$(tool pprof-top --format tsv "$DATA/heap.pb.gz" | sed 1d | cut -f 1,3,5,9,10)"
}

@test "Markdown shows names as they are" {
	run tool pprof-top --format markdown - <<<'a|b;<init>* 2'
	status_is 0
	has '| 2 | 100.00% | 2 | 100.00% | 1.414 | \<init\>\* |'
	has ' | a\|b |'
}

@test "names with odd bytes: escaped in TSV, masked for people" {
	printf 'a;b\\tc\\x1b[1m 3\n' >"$BATS_TEST_TMPDIR/x"
	run tool pprof-top --format table "$BATS_TEST_TMPDIR/x"
	status_is 0
	case $output in *$'\e'*) return 1 ;; esac
}

@test "a table for people is aligned, numbers right, whatever the script of the names" {
	run tool pprof-top --format table - <<<'größe;日本 1000'
	status_is 0
	is "Sample type: samples
Total: 1000
Samples: 1000 (the value is a count)

flat    flat%   cum     cum%  flat error  name
1000  100.00%  1000  100.00%       31.62  日本
   0    0.00%  1000  100.00%           -  größe"
}

@test "limits are options" {
	run tool pprof-top --max-raw 100 "$DATA/cpu.pb.gz"
	status_is 3
	has "pprof-top: '$DATA/cpu.pb.gz': "
	run tool pprof-top --max-memory 5000 "$DATA/cpu.pb.gz"
	status_is 3
}

@test "the limit of memory holds for what filters make, too" {
	cd "$BATS_TEST_TMPDIR"
	awk 'BEGIN {
		print "n:count\tlabel:id\tstack"
		for (i = 1; i <= 200; i++) stack = stack (i > 1 ? ";" : "") "f" i
		for (i = 0; i < 2000; i++) print "1\t" i "\t" stack
	}' >wide
	for command in "pprof-top" "pprof-filter" "pprof-tree" "pprof-export --format firefox" "pprof-dot"; do
		run bash -c "'$PP_BUILD'/$command --max-memory 2000000 wide >out"
		status_is 0
		run bash -c "'$PP_BUILD'/$command --max-memory 2000000 --tagroot id wide >out"
		status_is 3
		has "${command%% *}: 'wide': the model needs more than 2000000 bytes"
	done
}

@test "a cut file: refused with the place, read with --salvage" {
	gzip -dc "$DATA/cpu.pb.gz" | head -c 9000 >"$BATS_TEST_TMPDIR/cut"
	cd "$BATS_TEST_TMPDIR"
	run tool pprof-top cut
	status_is 3
	[[ $output =~ ^"pprof-top: 'cut': byte "[0-9]+": " ]]
	[ "${#lines[@]}" -eq 1 ]
	run --separate-stderr tool pprof-top --salvage cut
	status_is 0
	has flat_share
	[[ $stderr == "pprof-top: warning: 'cut': "* ]]
}

@test "nodecount, nodefraction, sum_share" {
	run bash -c "'$PP_BUILD/pprof-top' --nodefraction 0.2 --nodecount 5 '$DATA/tiny.folded' | cut -f 3,5,13"
	is "cum${TAB}name${TAB}sum_share
60${TAB}hash${TAB}0.37037
25${TAB}match${TAB}0.601852
100${TAB}handle${TAB}0.601852
65${TAB}login${TAB}0.601852
108${TAB}main${TAB}0.601852"
}

@test "--divide-by leaves fractions off, --mean divides by the count, --drop-negative leaves rows out" {
	run rows --divide-by 7 --limit 2 "$DATA/tiny.folded"
	is "5${TAB}8${TAB}hash
3${TAB}3${TAB}match"
	printf 'n:count\tdelay:nanoseconds\tstack\n2\t7\ta;b\n1\t100\ta\n3\t-1\tc\n' >"$BATS_TEST_TMPDIR/x"
	run bash -c "'$PP_BUILD/pprof-top' --mean --drop-negative '$BATS_TEST_TMPDIR/x' 2>/dev/null | sed 1d | cut -f 1,3,5"
	is "100${TAB}35${TAB}a
3${TAB}3${TAB}b"
	run tool pprof-top --divide-by 0 "$DATA/tiny.folded"
	status_is 2
}

# In the shape of what jeprof 5.3 --raw writes of a Rust program: names of calls, leaf first, the profiler's own on top.
@test "a heap of jemalloc: what asked for memory, not the allocator" {
	cat >h <<-'END'
		--- symbol
		binary=/srv/shop
		0x000000000000100f shop::hold--alloc::vec::Vec::with_capacity--alloc::alloc::alloc
		0x000000000000200f <tikv_jemallocator::Jemalloc as core::alloc::global::GlobalAlloc>::alloc
		0x000000000000201f _rjem_je_malloc_default--imalloc--imalloc_body
		0x000000000000202f prof_alloc_prep
		0x000000000000203f prof_backtrace_impl
		0x000000000000300f shop::main
		0x000000000000301f shop::alloc_cart
		---
		--- heap
		heap_v2/1
		  t*: 3: 700 [0: 0]
		  t0: 3: 700 [0: 0]
		@ 0x2040 0x2030 0x2020 0x2010 0x1010 0x3010
		  t*: 1: 400 [0: 0]
		  t0: 1: 400 [0: 0]
		@ 0x2040 0x2030 0x2020 0x3020 0x3010
		  t*: 2: 300 [0: 0]
		  t0: 2: 300 [0: 0]

		MAPPED_LIBRARIES:
		00001000-00004000 r-xp 00000000 08:02 1 /srv/shop
	END
	[ "$(rows h)" = "400${TAB}400${TAB}alloc::vec::Vec::with_capacity
300${TAB}300${TAB}shop::alloc_cart
0${TAB}400${TAB}shop::hold
0${TAB}700${TAB}shop::main" ]
	[ "$(rows --all-frames h | head -n 1)" = "700${TAB}700${TAB}prof_backtrace_impl" ]
}

@test "--by columns: two columns of a line are two rows, of lines one" {
	cd "$BATS_TEST_TMPDIR"
	printf 'main;f 5\nmain;g 2\n' | "$PP_BUILD/pprof-encode" | "$PP_BUILD/pprof-decode" --records |
		awk -F '\t' -v OFS='\t' '
			$1 == "function" { $4 = "f"; $6 = "x.c" } # all are one function
			$1 == "line" { $5 = 7; $6 = 3 + $2 }
			{ print }' >columns.tsv
	run bash -c "'$PP_BUILD/pprof-top' --by columns columns.tsv | cut -f 1,3,5"
	is "flat${TAB}cum${TAB}name
5${TAB}5${TAB}f x.c:7:4
2${TAB}2${TAB}f x.c:7:6
0${TAB}7${TAB}f x.c:7:5"
	run bash -c "'$PP_BUILD/pprof-filter' --by columns columns.tsv | '$PP_BUILD/pprof-top' --by addresses | cut -f 5"
	[ "${lines[1]}" = "f x.c:7:4" ]
	run bash -c "'$PP_BUILD/pprof-top' --by lines columns.tsv | cut -f 1,3,5"
	is "flat${TAB}cum${TAB}name
7${TAB}7${TAB}f x.c:7"
}

@test "--unit: the header names it, numbers are plain decimals" {
	cd "$BATS_TEST_TMPDIR"
	printf 'cpu:nanoseconds\tstack\n1234567890123\ta;b\n7\ta;c\n' >cpu
	columns() { tool pprof-top "$@" cpu | cut -f 1,3,5,7; }
	run columns --unit ms
	is "flat:ms${TAB}cum:ms${TAB}name${TAB}flat_error:ms
1234567.890123${TAB}1234567.890123${TAB}b${TAB}
0.000007${TAB}0.000007${TAB}c${TAB}
0${TAB}1234567.89013${TAB}a${TAB}"
	run columns --unit hours --limit 2
	is "flat:hrs${TAB}cum:hrs${TAB}name${TAB}flat_error:hrs
0.342935525034167${TAB}0.342935525034167${TAB}b${TAB}
0.00000000000194444444444444${TAB}0.00000000000194444444444444${TAB}c${TAB}"
	run columns --unit ns --limit 1
	[ "${lines[1]}" = "1234567890123${TAB}1234567890123${TAB}b${TAB}" ]
	run columns --limit 1
	want=$output
	for unit in auto ''; do
		run columns --unit "$unit" --limit 1
		is "$want"
	done
	run columns --unit minimum
	[ "${lines[0]}" = "flat:ns${TAB}cum:ns${TAB}name${TAB}flat_error:ns" ]
	run columns --unit minimum --divide-by 7000 --limit 1 # of 0, 176366841 and 176366841
	[ "${lines[0]}" = "flat:ms${TAB}cum:ms${TAB}name${TAB}flat_error:ms" ]
	run columns --unit minimum --limit 1
	[ "${lines[1]}" = "1234.567890123${TAB}1234.567890123${TAB}b${TAB}" ]
	run bash -c "'$PP_BUILD/pprof-top' --unit s --format json cpu | jq -c 'map([(.[\"flat:s\"] * 1e9 | round), .[\"cum:s\"] == 1234.56789013, .flat])'"
	is '[[1234567890123,false,null],[7,false,null],[0,true,null]]'
	run bash -c "'$PP_BUILD/pprof-top' --unit s --format table cpu | tail -n 3 | cut -c 1-40"
	is "1234.57s  100.00%  1234.57s  100.00%    
       0    0.00%         0    0.00%    
       0    0.00%  1234.57s  100.00%    "
}

@test "--unit: what cannot be is the family's default, with a warning that says what can" {
	cd "$BATS_TEST_TMPDIR"
	printf 'a:bytes\tb:widgets\tc:\tstack\n1\t2\t3\tx\n' >three
	run tool pprof-top -s a --unit ms three
	status_is 0
	[ "${lines[0]}" = "pprof-top: warning: --unit 'ms' is none for values in 'bytes', which are shown in B: auto, minimum, B, kB, MB, GB, TB, PB would be one" ]
	[ "$(cut -f 1-3 <<<"${lines[2]}")" = "1${TAB}1${TAB}1" ]
	run tool pprof-top -s b --unit widget three
	status_is 0
	[ "${lines[0]}" = "pprof-top: warning: --unit 'widget' is none for values in 'widgets', which are shown as they are: auto, minimum, widgets would be one" ]
	[ "$(cut -f 1,3 <<<"${lines[1]}")" = "flat${TAB}cum" ]
	run tool pprof-tree -s c --unit B -o out three
	status_is 0
	is "pprof-tree: warning: --unit 'B' is none for values in '', which are shown as they are: auto, minimum would be one"
	run tool pprof-tree --tags -s b --unit kB three
	status_is 0
	has "warning: --unit 'kB'"
	run tool pprof-list -s a --unit s x three
	status_is 0
	has "flat:B"
	run tool pprof-dot -s a --unit s three
	status_is 0
	has "shown in B"
	run bash -c "'$PP_BUILD/pprof-top' -s b --unit widgets three | cut -f 1-3"
	is "flat:widgets${TAB}flat_share${TAB}cum:widgets
2${TAB}1${TAB}2"
}
