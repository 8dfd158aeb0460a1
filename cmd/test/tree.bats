#!/usr/bin/env bats
load helper
bats_require_minimum_version 1.5.0

# rows ARGUMENT...: name, relation, other, flat and cum, without the header.
rows() {
	tool pprof-tree --format tsv "$@" | sed 1d | cut -f 1-4,7 | tr '\t' ' '
}

@test "columns keep their names and places" {
	run bash -c "'$PP_BUILD/pprof-tree' '$DATA/tiny.folded' | head -n 1"
	is "name${TAB}relation${TAB}other${TAB}flat${TAB}flat_share${TAB}sum_share${TAB}cum${TAB}cum_share${TAB}inlined${TAB}residual"
	run bash -c "'$PP_BUILD/pprof-tree' --traces '$DATA/tiny.folded' | head -n 1"
	is "sample${TAB}kind${TAB}name${TAB}value${TAB}unit${TAB}text"
	run bash -c "'$PP_BUILD/pprof-tree' --tags '$DATA/cpu.pb.gz' | head -n 1"
	is "key${TAB}value${TAB}unit${TAB}sum${TAB}share${TAB}key_sum${TAB}key_share"
}

@test "callers, the function, callees; recursion counts once; no calls of itself" {
	printf 'm;a;b 3\nm;a;a;b 2\nm;b 1\n' >"$BATS_TEST_TMPDIR/x"
	run rows "$BATS_TEST_TMPDIR/x"
	is "b caller a 0 5
b caller m 0 1
b self  6 6
a caller m 0 5
a self  0 5
a callee b 0 5
m self  0 6
m callee a 0 5
m callee b 0 1"
}

@test "what is cut leaves residual calls" {
	printf 'm;a;b 90\nm;c;b 10\n' >"$BATS_TEST_TMPDIR/x"
	run bash -c "'$PP_BUILD/pprof-tree' --nodefraction 0.2 '$BATS_TEST_TMPDIR/x' | cut -f 1-3,7,10 | tr '\t' ' '"
	is "name relation other cum residual
b caller a 90 0
b caller m 10 1
b self  100 0
a caller m 90 0
a self  90 0
a callee b 90 0
m self  100 0
m callee a 90 0
m callee b 10 1"
}

@test "--peek prints what matches, and nothing is a mistake" {
	run rows --peek '^sum$' --nodecount 1 "$DATA/tiny.folded"
	is "sum caller hash 0 20
sum self  20 20"
	run tool pprof-tree --peek nosuch "$DATA/tiny.folded"
	status_is 2
	has "nothing matches --peek 'nosuch'"
}

@test "a difference shows calls whose cost cancels out" {
	printf 'n:count\tstack\n%s\n' "5${TAB}m;x;a" >"$BATS_TEST_TMPDIR/x"
	printf -- '-5\tm;x;b\n3\tm;c\n' >>"$BATS_TEST_TMPDIR/x"
	run rows "$BATS_TEST_TMPDIR/x"
	is "a caller x 0 5
a self  5 5
b caller x 0 -5
b self  -5 -5
c caller m 0 3
c self  3 3
m self  0 3
m callee c 0 3
m callee x 0 0"
}

@test "--mean divides calls too" {
	printf 'n:count\tdelay:nanoseconds\tstack\n2\t10\tm;a\n3\t90\tm;b\n' >"$BATS_TEST_TMPDIR/x"
	run rows --mean "$BATS_TEST_TMPDIR/x"
	is "b caller m 0 30
b self  30 30
a caller m 0 5
a self  5 5
m self  0 20
m callee b 0 30
m callee a 0 5"
}

@test "--traces: value, labels, frames" {
	printf 'n:count\tlabel:pod\tnumlabel:size:kilobytes\tstack\n7\tp\t4\tm;a\n' >"$BATS_TEST_TMPDIR/x"
	run tool pprof-tree --traces "$BATS_TEST_TMPDIR/x"
	is "sample${TAB}kind${TAB}name${TAB}value${TAB}unit${TAB}text
1${TAB}sample${TAB}n${TAB}7${TAB}count${TAB}
1${TAB}label${TAB}pod${TAB}0${TAB}${TAB}p
1${TAB}number${TAB}size${TAB}4${TAB}kilobytes${TAB}
1${TAB}frame${TAB}a${TAB}0${TAB}${TAB}
1${TAB}frame${TAB}m${TAB}0${TAB}${TAB}"
}

@test "--tags: equal values are added up, the largest first" {
	printf 'n:count\tlabel:pod\tnumlabel:request:\tstack\n7\tp\t4\tm;a\n1\tq\t4\tm\n2\tp\t5\tm\n' >"$BATS_TEST_TMPDIR/x"
	run tool pprof-tree --tags "$BATS_TEST_TMPDIR/x"
	is "key${TAB}value${TAB}unit${TAB}sum${TAB}share${TAB}key_sum${TAB}key_share
pod${TAB}p${TAB}${TAB}9${TAB}0.9${TAB}10${TAB}1
pod${TAB}q${TAB}${TAB}1${TAB}0.1${TAB}10${TAB}1
request${TAB}4${TAB}bytes${TAB}8${TAB}0.8${TAB}10${TAB}1
request${TAB}5${TAB}bytes${TAB}2${TAB}0.2${TAB}10${TAB}1"
}

@test "one table at a time" {
	run tool pprof-tree --tags --traces "$DATA/tiny.folded"
	status_is 2
	run bash -c "'$PP_BUILD/pprof-filter' --focus hash '$DATA/tiny.folded' | '$PP_BUILD/pprof-tree' --comments"
	is "comment
#total before filters: samples/count 108"
}

@test "--unit in every kind of list, and in call graphs and sources" {
	cd "$BATS_TEST_TMPDIR"
	printf 'cpu:milliseconds\tnumlabel:n:bytes\tstack\n1500\t2048\ta;b (b.c:3)\n250\t\ta\n' >cpu
	run bash -c "'$PP_BUILD/pprof-tree' --unit s cpu | cut -f 1-4,7"
	is "name${TAB}relation${TAB}other${TAB}flat:s${TAB}cum:s
b${TAB}caller${TAB}a${TAB}0${TAB}1.5
b${TAB}self${TAB}${TAB}1.5${TAB}1.5
a${TAB}self${TAB}${TAB}0.25${TAB}1.75
a${TAB}callee${TAB}b${TAB}0${TAB}1.5"
	run bash -c "'$PP_BUILD/pprof-tree' --tags --unit us cpu"
	is "key${TAB}value${TAB}unit${TAB}sum:us${TAB}share${TAB}key_sum:us${TAB}key_share
n${TAB}2048${TAB}bytes${TAB}1500000${TAB}0.857143${TAB}1500000${TAB}0.857143"
	run bash -c "'$PP_BUILD/pprof-tree' --traces --unit s cpu | cut -f 2-5"
	is "kind${TAB}name${TAB}value${TAB}unit
sample${TAB}cpu${TAB}1.5${TAB}s
number${TAB}n${TAB}2048${TAB}bytes
frame${TAB}b${TAB}0${TAB}
frame${TAB}a${TAB}0${TAB}
sample${TAB}cpu${TAB}0.25${TAB}s
frame${TAB}a${TAB}0${TAB}"
	run bash -c "'$PP_BUILD/pprof-list' --unit s . cpu 2>/dev/null | cut -f 1-3,5"
	has "1.5${TAB}1.5${TAB}3${TAB}b.c"
	run bash -c "'$PP_BUILD/pprof-list' --unit minimum --format table b cpu 2>/dev/null"
	has "Total: 1.75s"
	run bash -c "'$PP_BUILD/pprof-dot' --unit hrs cpu | grep -o 'total [^\\]*'"
	is "total 0"
	run bash -c "'$PP_BUILD/pprof-dot' --unit us cpu | grep -o 'total [^\\]*\|of [0-9][^\\]*)'"
	is "total 1750000us
of 1750000us (100%)"
}
