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

@test "--by-label: a sum for each value, as if each profile had been filtered first; they add up to the whole" {
	files=("$DATA"/cases/slow-login/*/*.pb.gz "$DATA/cpu.pb.gz")
	tool pprof-merge --by-label endpoint -o parts/ "${files[@]}"
	[ "$(cd parts && ls | paste -sd ' ')" = "endpoint.pb.gz endpoint=%2Fcart.pb.gz endpoint=%2Finvoice.pb.gz endpoint=%2Flogin.pb.gz endpoint=%2Fsearch.pb.gz index.tsv" ]
	for value in cart login; do
		mkdir "$value"
		for i in "${!files[@]}"; do tool pprof-filter --all-frames --tagfocus "endpoint=^/$value\$" -o "$value/$i" "${files[i]}"; done
		tool pprof-merge "$value" | cmp - "parts/endpoint=%2F$value.pb.gz"
	done
	mkdir without
	for i in "${!files[@]}"; do tool pprof-filter --all-frames --tagignore endpoint= -o "without/$i" "${files[i]}"; done
	tool pprof-merge without | cmp - parts/endpoint.pb.gz
	[ "$(rows <(tool pprof-merge parts))" = "$(rows <(tool pprof-merge "${files[@]}"))" ]
	[ "$(head -n 1 parts/index.tsv)" = "file${TAB}value${TAB}profiles${TAB}samples${TAB}type${TAB}unit${TAB}sum" ]
	[ "$(grep -P '\tcpu\t' parts/index.tsv | awk -F '\t' '{ sum += $7 } END { print sum }')" = \
		"$(tool pprof-merge "${files[@]}" | tool pprof-decode | awk -F '\t' 'NR > 1 { sum += $2 } END { print sum }')" ]
	run tool pprof-merge --by-label endpoint -o again "${files[4]}" "${files[1]}" "${files[0]}" "${files[2]}" "${files[3]}" "${files[6]}" "${files[5]}"
	status_is 0
	diff -r parts again
	run tool pprof-merge --by-label endpoint -o again "${files[@]}"
	status_is 4
	is "pprof-merge: cannot write into 'again': the folder is not empty"
	run tool pprof-merge --by-label endpoint --raw --add-comment x -o empty/no one
	status_is 4
	mkdir empty
	tool pprof-merge --by-label nothing --raw --add-comment x -o empty one
	[ "$(ls empty | paste -sd ' ')" = "index.tsv nothing.pb" ]
	[ "$(tool pprof-tree --comments empty/nothing.pb | tail -n 1)" = x ]
}

@test "--by-label: values that are no names of files, several values, numbers" {
	long=$(printf 'x%.0s' {1..600})
	{
		printf 'n:count\tlabel:../k\tnumlabel:size:bytes\tstack\n'
		printf '1\t../../etc/passwd\t\ta\n2\t..\t\ta\n3\t\t2048\ta\n4\ta\\nb\t\ta\n5\t%s1\t\ta\n6\t%s2\t\ta\n' "$long" "$long"
	} >odd
	tool pprof-merge --by-label ../k -o parts odd
	run bash -c "cut -f 1,7 parts/index.tsv | sed 1d | sed 's/x\{150,\}/xxx/'"
	is "%2E.%2Fk.pb.gz${TAB}3
%2E.%2Fk=...pb.gz${TAB}2
%2E.%2Fk=..%2F..%2Fetc%2Fpasswd.pb.gz${TAB}1
%2E.%2Fk=a%0Ab.pb.gz${TAB}4
%2E.%2Fk=xxx~4.pb.gz${TAB}5
%2E.%2Fk=xxx~5.pb.gz${TAB}6"
	[ "$(ls -A | paste -sd ' ')" = "odd one parts two" ]
	[ "$(find parts -type f | wc -l)" -eq 7 ]
	tool pprof-merge --by-label size -o sizes odd
	[ "$(tail -n 1 sizes/index.tsv | cut -f 1,2,7)" = "size=2048bytes.pb.gz${TAB}2048bytes${TAB}3" ]
	printf '#pprof-records\t1\nsample_type\t0\tn\tcount\nsample\t0\t\t7\n' >two-values
	printf '%s\n' "label${TAB}0${TAB}0${TAB}k${TAB}b${TAB}0${TAB}" "label${TAB}0${TAB}1${TAB}k${TAB}a${TAB}0${TAB}" >>two-values
	tool pprof-merge --by-label k -o both two-values
	[ "$(tail -n 1 both/index.tsv | cut -f 1,2,7)" = "k=b%2Ca.pb.gz${TAB}b,a${TAB}7" ]
}

@test "--by-time: a sum for each span, by when profiles were taken" {
	at() { printf 'a %d\n' "$2" | tool pprof-encode | tool pprof-decode --records | awk -F '\t' -v OFS='\t' -v time="$1" '$1 == "profile" { $2 = time } { print }' >"$3"; }
	at 1700000060000000000 1 p1
	at 1700000099999999999 2 p2
	at 1700000100000000000 4 p3
	at 0 8 p4
	at -1 16 p5
	tool pprof-merge --by-time 1m -o spans p3 p1 p5 p4 p2
	run bash -c "cut -f 1-4,7 spans/index.tsv"
	is "file${TAB}time${TAB}profiles${TAB}samples${TAB}sum
unknown.pb.gz${TAB}${TAB}1${TAB}1${TAB}8
1969-12-31T23:59:00Z.pb.gz${TAB}1969-12-31T23:59:00Z${TAB}1${TAB}1${TAB}16
2023-11-14T22:14:00Z.pb.gz${TAB}2023-11-14T22:14:00Z${TAB}2${TAB}1${TAB}3
2023-11-14T22:15:00Z.pb.gz${TAB}2023-11-14T22:15:00Z${TAB}1${TAB}1${TAB}4"
	tool pprof-merge p1 p2 | cmp - spans/2023-11-14T22:14:00Z.pb.gz
	tool pprof-merge --by-time 7d -o weeks p1 p3
	[ "$(ls weeks | paste -sd ' ')" = "2023-11-09T00:00:00Z.pb.gz index.tsv" ]
	for span in 0s 5 m 1w 99999999999s 9999999999d -1s ''; do
		run tool pprof-merge --by-time "$span" -o none p1
		status_is 2
	done
	run tool pprof-merge --by-time 1h p1
	status_is 2
	run tool pprof-merge --by-time 1h --by-label k -o none p1
	status_is 2
	run tool pprof-merge --by-time 1h -o none p1 "$DATA/heap.pb.gz" missing
	status_is 4
	[ ! -e none ]
	printf 'n:count\tlabel:k\tstack\n9223372036854775807\tx\ta\n1\tx\tb\n' >large
	run tool pprof-merge --by-label k -o none large
	status_is 3
	[ "$(ls -d none* 2>/dev/null)" = "" ]
}
