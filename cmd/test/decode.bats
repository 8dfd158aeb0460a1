#!/usr/bin/env bats
# pprof-decode: every text form, byte for byte, and what it refuses.

setup() {
	export LC_ALL=C
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' \
		$'#pprof-records\t1' \
		$'sample_type\t0\tsamples\tcount' \
		$'sample_type\t1\tcpu\tnanoseconds' \
		$'profile\t0\t0\t\t\t0\tsamples\t\t\t' \
		$'mapping\t0\t1\t0x1000\t0x9000\t0x0\t/bin/shop\t\t1\t0\t0\t0' \
		$'function\t0\t1\tmain\t\tmain.c\t0' \
		$'function\t1\t2\ta;b\\t"\t\t\t0' \
		$'location\t0\t1\t1\t0x1010\t0' \
		$'location\t1\t2\t0\t0x0\t0' \
		$'location\t2\t3\t1\t0x1030\t0' \
		$'line\t1\t0\t1\t12\t0' \
		$'line\t2\t0\t2\t0\t0' \
		$'sample\t0\t2,1\t1,10' \
		$'sample\t1\t3,1\t2,20' \
		$'sample\t2\t2,1\t3,30' \
		$'label\t0\t0\tendpoint\t/a b\t0\t' \
		$'label\t1\t0\tsize\t\t512\tbytes' >small.tsv
	$PP_RUN "$PP_BUILD/pprof-encode" small.tsv >small.pb.gz
}

decode() { $PP_RUN "$PP_BUILD/pprof-decode" "$@"; }

# prints WANTED ARGUMENT…: stdout is exactly these lines, status 0, nothing on stderr.
prints() {
	local wanted=$1
	shift
	decode "$@" >out 2>err
	printf '%s\n' "$wanted" | diff - out
	[ ! -s err ]
}

# fails STATUS MESSAGE ARGUMENT…
fails() {
	local wanted=$1 message=$2 status=0
	shift 2
	decode "$@" >out 2>err || status=$?
	printf '%s\n' "pprof-decode: $message" | diff - err
	[ "$status" -eq "$wanted" ] && [ ! -s out ]
}

@test "samples view: types, labels, stacks root first, escaped" {
	prints $'samples:count\tcpu:nanoseconds\tlabel:endpoint\tnumlabel:size:bytes\tstack
1\t10\t/a b\t\tmain;a\\x3bb\\t"
2\t20\t\t512\tmain;shop+0x30
3\t30\t\t\tmain;a\\x3bb\\t"' small.pb.gz
}

@test "samples view: --lines adds file and line" {
	decode --lines <small.pb.gz | cut -f 5 >out
	printf '%s\n' stack 'main (main.c:12);a\x3bb\t"' 'main (main.c:12);shop+0x30' 'main (main.c:12);a\x3bb\t"' | diff - out
}

@test "samples view: JSON" {
	prints '[
{"samples:count": 1, "cpu:nanoseconds": 10, "label:endpoint": "/a b", "numlabel:size:bytes": null, "stack": ["main", "a;b\t\""]},
{"samples:count": 2, "cpu:nanoseconds": 20, "label:endpoint": null, "numlabel:size:bytes": 512, "stack": ["main", "shop+0x30"]},
{"samples:count": 3, "cpu:nanoseconds": 30, "label:endpoint": null, "numlabel:size:bytes": null, "stack": ["main", "a;b\t\""]}]' \
		--format json small.pb.gz
}

@test "records view: what was encoded" {
	decode --records small.pb.gz >again.tsv
	grep -v '^#' small.tsv | sort >wanted
	grep -v '^#' again.tsv | sort | diff wanted -
	[ "$(head -n 1 again.tsv)" = $'#pprof-records\t1' ]
	grep -q $'^#sample\tindex\tlocations\tvalues$' again.tsv
}

@test "records view: JSON has an array for every kind of row" {
	command -v jq >/dev/null || skip "no jq"
	decode --records --format json small.pb.gz >out
	[ "$(jq -c 'map_values(length)' out)" = '{"profile":1,"sample_type":2,"comment":0,"mapping":1,"function":2,"location":3,"line":2,"sample":3,"label":2,"unknown":0}' ]
	[ "$(jq -c '.sample[1]' out)" = '{"index":1,"locations":[3,1],"values":[2,20]}' ]
	[ "$(jq -r '.location[2].address' out)" = 0x1030 ]
}

@test "folded stacks: names summed and sorted, the default sample type or the one asked for" {
	prints $'main;a\\x3bb\\x09" 4\nmain;shop+0x30 2' --folded small.pb.gz
	prints $'main;a\\x3bb\\x09" 40\nmain;shop+0x30 20' --folded --sample-type cpu small.pb.gz
	fails 2 "'small.pb.gz': sample type 'heap' is not one of: samples, cpu" --folded -s heap small.pb.gz
}

@test "--check only tells" {
	decode --check small.pb.gz >out 2>err
	[ ! -s out ] && [ ! -s err ]
	printf 'main\n' >bad
	fails 3 "'bad': byte 0: is not a profile: text that is neither records, samples nor folded stacks" --check bad
}

@test "--output writes a file" {
	decode --output out.tsv small.pb.gz
	decode small.pb.gz | cmp - out.tsv
}

@test "requests that contradict themselves are refused" {
	fails 2 '--folded and --records exclude each other (try --help)' --folded --records small.pb.gz
	fails 2 '--lines belongs to the samples view (try --help)' --lines --records small.pb.gz
	fails 2 'folded stacks have no JSON form (try --help)' --folded --format json small.pb.gz
	fails 2 '--sample-type belongs to --folded: the views hold every type (try --help)' -s cpu small.pb.gz
}

@test "formats that are not read are named" {
	printf 'FLR\0\0\2' >a.jfr
	fails 3 "'a.jfr': byte 0: Java Flight Recorder (JFR) recording: not read; convert it to pprof or folded stacks first" a.jfr
	gzip -c small.pb.gz >twice.gz
	fails 3 "'twice.gz': byte 0: gzip inside gzip" twice.gz
	: >nothing
	fails 3 "'nothing': byte 0: empty input" nothing
	fails 3 "'-': byte 0: empty input" - <nothing
}

@test "a mistake in text is named by line and column" {
	printf 'cpu:ns\tstack\n1\tmain\nx\tmain\n' >bad.tsv
	fails 3 "'bad.tsv': byte 20: line 3: cpu:ns: 'x' is not an integer of 64 bits" bad.tsv
	printf 'a;b 1\na;b\n' >bad.folded
	fails 3 "'bad.folded': byte 6: line 2: does not end in an integer count" bad.folded
	printf '#pprof-records\t1\nsample_type\t0\ta\tb\nsample\t0\t7\t1\n' >bad.records
	fails 3 "'bad.records': byte 35: line 3: sample.locations: no location has id 7" bad.records
}

@test "drop_frames is kept and not applied" {
	{ grep -v '^profile' small.tsv; printf 'profile\t0\t0\t\t\t0\t\tmain\t\t\n'; } >drop.tsv
	decode drop.tsv | cut -f 5 | sed -n 2p >out
	printf 'main;a\\x3bb\\t"\n' | diff - out
}
