#!/usr/bin/env bats
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# left ARGUMENT...: the folded stacks that a filter leaves of a small profile.
left() {
	tool pprof-filter "$@" "$BATS_FILE_TMPDIR/x" | tool pprof-decode --folded
}

setup_file() {
	printf 'main;a;b 10\nmain;a 5\nmain;c;a;d 7\nidle 3\n' >"$BATS_FILE_TMPDIR/x"
	printf '%s\n' "w:count${TAB}label:pod${TAB}numlabel:size:kilobytes${TAB}numlabel:n:${TAB}stack" \
		"1${TAB}p1${TAB}1${TAB}${TAB}f" "2${TAB}p2${TAB}4${TAB}7${TAB}f" "4${TAB}${TAB}${TAB}${TAB}f" \
		>"$BATS_FILE_TMPDIR/labels"
}

# tagged ARGUMENT...: the values that a filter leaves of a small profile with labels.
tagged() {
	tool pprof-filter "$@" "$BATS_FILE_TMPDIR/labels" 2>/dev/null | tool pprof-decode | sed 1d | cut -f 1 | tr '\n' ' '
}

@test "without options a profile stays what it is" {
	run --separate-stderr bash -c "'$PP_BUILD/pprof-filter' --raw '$DATA/heap.pb.gz' | '$PP_BUILD/pprof-decode' --records"
	status_is 0
	is "$(tool pprof-decode --records "$DATA/heap.pb.gz")"
}

@test "names: focus, ignore, hide, show, show-from, prune-from" {
	run left --focus '^c$'
	is "main;c;a;d 7"
	run left --focus a --ignore 'b|idle'
	is "main;a 5
main;c;a;d 7"
	run left --hide '^a$'
	is "idle 3
main 5
main;b 10
main;c;d 7"
	run left --show '^[abc]$'
	is "a 5
a;b 10
c;a 7"
	run left --show-from '^a$'
	is "a 5
a;b 10
a;d 7"
	run left --prune-from '^a$'
	is "idle 3
main;a 15
main;c;a 7"
}

@test "labels: ranges, expressions, keys" {
	run tagged --tagfocus size=1kb
	is "1 "
	run tagged --tagfocus 2kb:
	is "2 "
	run tagged --tagfocus :4096b
	is "1 2 "
	run tagged --tagfocus 1:9
	is "2 " # not the one of a size
	run tagged --tagfocus 1n:9n
	is "2 "
	run tagged --tagfocus pod=1,2
	is "1 2 "
	run tagged --tagfocus pod:p1
	is "1 "
	run tagged --tagfocus p1,p2
	is ""
	run tagged --tagignore pod=p
	is "4 "
	run bash -c "'$PP_BUILD/pprof-filter' --taghide '^n$' '$BATS_FILE_TMPDIR/labels' | '$PP_BUILD/pprof-decode' | head -n 1"
	is "w:count${TAB}label:pod${TAB}numlabel:size:kilobytes${TAB}stack"
	run bash -c "'$PP_BUILD/pprof-filter' --tagshow '^n$' '$BATS_FILE_TMPDIR/labels' | '$PP_BUILD/pprof-decode' | head -n 1"
	is "w:count${TAB}numlabel:n:${TAB}stack"
}

@test "labels as frames" {
	cd "$BATS_FILE_TMPDIR"
	run bash -c "'$PP_BUILD/pprof-filter' --tagroot pod,size --tagleaf n labels | '$PP_BUILD/pprof-decode' | cut -f 5"
	is "stack
p1;1kB;f;??
p2;4kB;f;7
??;??;f;??"
}

@test "values: scale, divide-by, normalize-to" {
	run left --scale 0.5 --focus b
	is "main;a;b 5"
	run left --divide-by 4
	is "main;a 1
main;a;b 2
main;c;a;d 1"
	printf 'x 50\n' >"$BATS_TEST_TMPDIR/base"
	run left --normalize-to "$BATS_TEST_TMPDIR/base"
	is "idle 6
main;a 10
main;a;b 20
main;c;a;d 14"
	run tool pprof-filter --divide-by 0 "$BATS_FILE_TMPDIR/x"
	status_is 2
}

@test "a pipe prints what one command prints" {
	for options in "--focus Regexp --relative-percentages" "--focus Regexp" "--hide ^main --sample-type samples" \
		"--tagfocus endpoint=/login" "--taghide pod" "--scale 3 --ignore sha256" "--noinlines" \
		"--tagroot endpoint --show-from login" "--prune-from work"; do
		# shellcheck disable=SC2086
		want=$(tool pprof-top $options "$DATA/cpu.pb.gz")
		# shellcheck disable=SC2086
		run bash -c "'$PP_BUILD/pprof-filter' $options '$DATA/cpu.pb.gz' | '$PP_BUILD/pprof-filter' | '$PP_BUILD/pprof-top'"
		is "$want"
	done
}

@test "totals of a filtered profile are those before; sums forget them" {
	run bash -c "'$PP_BUILD/pprof-filter' --focus b '$BATS_FILE_TMPDIR/x' | '$PP_BUILD/pprof-top' --format tsv --limit 1 | cut -f 2"
	is "flat_share
0.4"
	run bash -c "'$PP_BUILD/pprof-filter' --focus b '$BATS_FILE_TMPDIR/x' | '$PP_BUILD/pprof-merge' | '$PP_BUILD/pprof-top' --limit 1 | cut -f 2"
	is "flat_share
1"
}

@test "values and totals past 64 bits are refused, named by their file" {
	cd "$BATS_TEST_TMPDIR"
	printf 'a;b 9000000000000000000\na;c 9000000000000000000\n' | tool pprof-encode >big
	printf 'a;b 9\n' | tool pprof-encode >small
	run tool pprof-filter --divide-by 1e-300 small
	status_is 3
	is "pprof-filter: 'small': a value times 1e+300 does not fit 64 bits"
	run tool pprof-filter --normalize-to big small
	status_is 3
	is "pprof-filter: 'big': the values add up to more than 63 bits"
	run tool pprof-filter --normalize-to small big
	status_is 3
	is "pprof-filter: 'big': the values add up to more than 63 bits"
}

@test "what matches nothing gives a warning, what is no expression is refused" {
	cd "$BATS_FILE_TMPDIR"
	run tool pprof-filter --focus nosuch --taghide nosuch --output "$BATS_TEST_TMPDIR/y" x
	status_is 0
	is "pprof-filter: warning: 'x': --focus matched nothing
pprof-filter: warning: 'x': --taghide matched nothing"
	run tool pprof-filter --focus 'a(' x
	status_is 2
	has "expression 'a('"
	run tool pprof-filter --hide '(?=a)' x
	status_is 2
	has "look-ahead"
}

@test "--by blanks what rows do not tell apart" {
	for by in frames functions filefunctions files lines addresses mappings; do
		want=$(tool pprof-top --by "$by" "$DATA/cpu.pb.gz" | cut -f 1-5)
		run bash -c "'$PP_BUILD/pprof-filter' --by $by '$DATA/cpu.pb.gz' | '$PP_BUILD/pprof-merge' | '$PP_BUILD/pprof-top' --by $by | cut -f 1-5"
		is "$want"
	done
	run bash -c "'$PP_BUILD/pprof-filter' --by functions '$DATA/cpu.pb.gz' | '$PP_BUILD/pprof-decode' --records | awk -F '\t' '\$1 == \"function\" && \$6 != \"\" || \$1 == \"line\" && \$5 != 0'"
	is ""
}

@test "--trim-path: folders at the beginning, or with a star anywhere" {
	printf 'n:count%sstack\n' "$TAB" >paths
	for file in /home/ci/proj/a.c /src/proj/proj/b.c proj/c.c /src/project/d.c /proc/self/cwd/e.c; do
		printf '1%sf (%s:1)\n' "$TAB" "$file" >>paths
	done
	files() { tool pprof-top --by files "$@" paths | sed 1d | cut -f 5 | paste -sd ' '; }
	[ "$(files)" = "/home/ci/proj/a.c /src/proj/proj/b.c /src/project/d.c e.c proj/c.c" ]
	[ "$(files --trim-path '*/proj')" = "/src/project/d.c a.c e.c proj/b.c proj/c.c" ]
	[ "$(files --trim-path '/nowhere:*/proj/:/src')" = "a.c e.c proj/b.c proj/c.c project/d.c" ]
	[ "$(files --trim-path '/src/proj:*/')" = "/home/ci/proj/a.c /src/project/d.c e.c proj/b.c proj/c.c" ]
}

@test "--add-comment adds at the end, in every tool that writes profiles" {
	printf 'a 1\n' >folded
	comments() { tool pprof-tree --comments "$@" | sed 1d; }
	for command in pprof-encode pprof-filter pprof-merge pprof-symbolize; do
		tool "$command" --add-comment 'build 17' --add-comment two folded >first
		tool "$command" --add-comment "th${TAB}ree" -o second first
		run comments second
		is "build 17
two
th\\tree"
	done
	tool pprof-filter --add-comment x --focus a --scale 2 folded >filtered
	[ "$(comments filtered)" = "#total before filters: samples/count 2
x" ]
}
