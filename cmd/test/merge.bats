#!/usr/bin/env bats
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	printf 'a;b 3\na 1\n' >one
	printf 'a;b 4\nc 2\n' >two
}

# rows PROFILE: flat, cum and name.
rows() {
	tool pprof-top --format tsv "$1" | sed 1d | cut -f 1,3,5
}

@test "the sum, gzip-packed, and with --raw not" {
	run bash -c "'$PP_BUILD/pprof-merge' one two | tee sum | '$PP_BUILD/pprof-top' --format tsv | sed 1d | cut -f 1,3,5"
	is "7${TAB}7${TAB}b
2${TAB}2${TAB}c
1${TAB}8${TAB}a"
	[ "$(head -c 2 sum | od -An -tx1)" = " 1f 8b" ]
	tool pprof-merge --raw one two >raw
	cmp raw <(gzip -dc sum)
}

@test "files, a folder, a list, names on stdin: the same bytes" {
	mkdir folder
	cp one two folder
	echo not a profile >folder/notes.txt
	echo hidden >folder/.hidden
	mkdir folder/sub
	printf 'one\n\ntwo\n' >list
	tool pprof-merge one two >want
	for operands in folder @list @-; do
		run --separate-stderr bash -c "'$PP_BUILD/pprof-merge' $operands <list >got"
		status_is 0
		[ -z "$stderr" ]
		cmp got want
	done
	tool pprof-merge - two <one >got
	cmp got want
}

@test "associative: a sum of sums is the sum" {
	files=("$DATA"/cases/slow-login/*/*.pb.gz)
	tool pprof-merge "${files[@]}" >all
	tool pprof-merge "${files[@]:0:2}" >first
	tool pprof-merge "${files[@]:2}" | tool pprof-merge first - >again
	cmp all again
}

@test "commutative: the order of files changes no byte" {
	files=("$DATA"/cases/slow-login/*/*.pb.gz)
	tool pprof-merge "${files[@]}" >want
	tool pprof-merge "${files[5]}" "${files[3]}" "${files[0]}" "${files[1]}" "${files[2]}" "${files[4]}" | cmp - want
}

@test "no number of threads changes a byte, nor what is said" {
	files=("$DATA"/cases/slow-login/*/*.pb.gz)
	echo broken >broken
	for threads in 1 2 5; do
		tool pprof-merge --threads $threads "${files[@]}" >sum$threads
		run tool pprof-merge --threads $threads one missing broken two
		status_is 4
		is "pprof-merge: cannot open 'missing': No such file or directory"
		run tool pprof-merge --threads $threads one broken missing two
		status_is 3
		has "pprof-merge: 'broken': "
	done
	cmp sum1 sum2
	cmp sum1 sum5
}

@test "one profile is the same by rows" {
	[ "$(tool pprof-merge "$DATA/heap.pb.gz" | rows -)" = "$(rows "$DATA/heap.pb.gz")" ]
}

@test "profiles that cannot be added up: the file is named, nothing is written" {
	run tool pprof-merge --output sum "$DATA/cpu.pb.gz" "$DATA/heap.pb.gz"
	status_is 3
	has "pprof-merge: '$DATA/heap.pb.gz': "
	[ ! -e sum ]
}

@test "a sum that does not fit is an error" {
	printf 'a 9223372036854775807\n' >big
	run tool pprof-merge big one
	status_is 3
	has "pprof-merge: 'one': "
}

@test "a folder without profiles, an empty list, a list that is none" {
	mkdir empty
	run tool pprof-merge empty
	status_is 3
	is "pprof-merge: no profiles in the folder 'empty'"
	: >list
	run tool pprof-merge @list
	status_is 2
	is "pprof-merge: the list of names is empty (try --help)"
	run tool pprof-merge "@$DATA/cpu.pb.gz"
	status_is 3
	has "not a list of names"
	run tool pprof-merge @nosuch
	status_is 4
	is "pprof-merge: cannot open 'nosuch': No such file or directory"
}

@test "a profile is not written to a terminal without --force" {
	command -v script >/dev/null || skip "no script"
	run script -qec "'$PP_BUILD/pprof-merge' one" /dev/null
	status_is 2
	has "pprof-merge: a profile is not text: use --output FILE, a pipe or --force (try --help)"
	run script -qec "'$PP_BUILD/pprof-merge' --force --output sum one" /dev/null
	status_is 0
	cmp sum <(tool pprof-merge one)
}

@test "nobody types a profile" {
	command -v script >/dev/null || skip "no script"
	run script -qec "'$PP_BUILD/pprof-merge' --output sum" /dev/null
	status_is 2
	has "no input: name a file, or - to read the terminal (try --help)"
}

@test "a file that may not grow any more: said, and nothing is left behind" {
	mkdir out
	run bash -c "ulimit -f 1; '$PP_BUILD/pprof-merge' --output out/sum '$DATA/cpu.pb.gz'"
	status_is 4
	is "pprof-merge: cannot write 'out/sum': File too large"
	[ -z "$(ls -A out)" ]
}

@test "sample types that not all have: refused, or left out" {
	printf 'samples:count\tcpu:nanoseconds\tx:y\tstack\n1\t10\t0\tf\n0\t0\t9\tg\n' >three
	printf 'cpu:microseconds\tsamples:count\tstack\n2\t3\tf\n' >pair
	printf 'cpu:nanoseconds\tstack\n5\th\n' >single
	printf 'x:y\tstack\n5\th\n' >other
	run tool pprof-merge three pair
	status_is 3
	has "'pair': sample types differ: cpu:microseconds, samples:count; others have samples:count, cpu:nanoseconds, x:y"
	tool pprof-merge --types common three pair >sum
	[ "$(tool pprof-decode sum)" = "cpu:nanoseconds${TAB}samples:count${TAB}stack
2010${TAB}4${TAB}f" ]
	tool pprof-merge --types common pair three | cmp - sum
	tool pprof-merge --types common three pair single >sum
	tool pprof-merge --types common single three pair | cmp - sum
	tool pprof-merge --types common single pair >sums
	tool pprof-merge --types common three sums | cmp - sum
	[ "$(tool pprof-decode sum)" = "cpu:nanoseconds${TAB}stack
2010${TAB}f
5${TAB}h" ]
	run tool pprof-merge --types common pair other
	status_is 3
	has "'other': no sample type that the profiles before have too"
}

@test "--keep-going leaves out what cannot be read, and says so; not what cannot be added" {
	echo broken >broken
	run --separate-stderr bash -c "'$PP_BUILD/pprof-merge' --keep-going one missing broken two >sum"
	status_is 0
	[ "${stderr_lines[0]}" = "pprof-merge: cannot open 'missing': No such file or directory" ]
	[[ ${stderr_lines[1]} == "pprof-merge: 'broken': "* ]]
	[ "${stderr_lines[2]}" = "pprof-merge: warning: 2 of 4 profiles are left out of the sum" ]
	tool pprof-merge one two | cmp - sum
	run --separate-stderr bash -c "'$PP_BUILD/pprof-merge' --keep-going --threads 3 one missing broken two"
	[ "${stderr_lines[2]}" = "pprof-merge: warning: 2 of 4 profiles are left out of the sum" ]
	run tool pprof-merge --keep-going -o none missing broken
	status_is 3
	[ ! -e none ]
	run tool pprof-merge --keep-going one "$DATA/cpu.pb.gz"
	status_is 3
	run tool pprof-merge one missing two
	status_is 4
}
