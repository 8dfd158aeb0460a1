#!/usr/bin/env bats
# pprof-encode: text to profile, and that nothing is lost on the way there and back.

setup() {
	export LC_ALL=C
	data=$BATS_TEST_DIRNAME/../../testdata
	cd "$BATS_TEST_TMPDIR"
}

encode() { $PP_RUN "$PP_BUILD/pprof-encode" "$@"; }
decode() { $PP_RUN "$PP_BUILD/pprof-decode" "$@"; }

@test "folded stacks become samples:count, or what --type and --unit say" {
	printf 'main;work 3\nmain;idle 1\n' | encode | decode >out
	printf 'samples:count\tstack\n3\tmain;work\n1\tmain;idle\n' | diff - out
	printf 'main;work 3\n' | encode --type cpu --unit ns | decode >out
	printf 'cpu:ns\tstack\n3\tmain;work\n' | diff - out
}

@test "the reference's own bytes: equal input gives equal output, packed and raw" {
	printf 'main;work 3\n' | encode >a.pb.gz
	printf 'main;work 3\n' | encode >b.pb.gz
	cmp a.pb.gz b.pb.gz
	printf 'main;work 3\n' | encode --raw >a.pb
	gzip -dc a.pb.gz | cmp - a.pb
	[ "$(head -c 2 a.pb.gz | od -An -tx1 | tr -d ' ')" = 1f8b ]
}

@test "records, there and back, lose nothing" {
	for f in "$data"/*.pb.gz; do
		decode --records "$f" >once.tsv
		encode once.tsv | decode --records >twice.tsv
		cmp once.tsv twice.tsv
	done
}

@test "records may be shuffled" {
	decode --records "$data/cpu.pb.gz" >records.tsv
	{ head -n 1 records.tsv; sed 1d records.tsv | grep -v '^#' | sort -t "$(printf '\t')" -k 3 -r; } >shuffled.tsv
	! cmp -s records.tsv shuffled.tsv
	encode --raw records.tsv >a.pb
	encode --raw shuffled.tsv >b.pb
	cmp a.pb b.pb
}

@test "the samples view, there and back, is the same text" {
	for f in "$data"/*.pb.gz; do
		decode "$f" >once.tsv
		encode once.tsv | decode >twice.tsv
		cmp once.tsv twice.tsv
		decode --lines "$f" >once.tsv
		encode once.tsv | decode --lines >twice.tsv
		cmp once.tsv twice.tsv
	done
}

@test "folded stacks, there and back, are the same text" {
	for f in "$data"/*.pb.gz; do
		decode --folded "$f" >once
		encode once | decode --folded >twice
		cmp once twice
	done
	decode --folded "$data/tiny.folded" >out
	sort "$data/tiny.folded" | diff - out
}

@test "a profile is packed anew" {
	gzip -dc "$data/cpu.pb.gz" >raw.pb
	encode raw.pb >again.pb.gz
	decode --records raw.pb >a
	decode --records again.pb.gz | cmp - a
}

@test "--output writes a file; a broken input leaves none" {
	printf 'main 1\n' | encode -o out.pb.gz
	[ "$(decode --folded out.pb.gz)" = 'main 1' ]
	run encode -o broken.pb.gz - <<<'nonsense;x y'
	[ "$status" -eq 3 ]
	[ "$output" = "pprof-encode: '-': byte 0: is not a profile: text that is neither records, samples nor folded stacks" ]
	[ ! -e broken.pb.gz ]
}

@test "--lenient drops broken rows and counts them" {
	printf 'a;b 1\nbroken\nbroken too\na;c 2\n' >bad.folded
	run encode bad.folded
	[ "$status" -eq 3 ]
	encode --lenient bad.folded 2>err | decode --folded >out
	printf 'a;b 1\na;c 2\n' | diff - out
	grep -q "^pprof-encode: warning: 'bad.folded': .*a line that is not a stack and a count; dropped" err
}

@test "a profile is not written to a terminal" {
	command -v script >/dev/null || skip "no script(1)"
	printf 'main 1\n' >a.folded
	run script -qec "'$PP_BUILD/pprof-encode' a.folded" /dev/null
	[ "$status" -eq 2 ]
	case $output in *--force*) ;; *) false ;; esac
}
