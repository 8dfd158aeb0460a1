#!/usr/bin/env bats
# Odd and broken profiles (scripts/make-bad): what is refused and how it is named, what --lenient and
# --salvage make of it, and what valid oddities read as.

setup_file() {
	"$BATS_TEST_DIRNAME/../../scripts/make-bad" "$BATS_FILE_TMPDIR"
}

setup() {
	cd "$BATS_FILE_TMPDIR"
	usual=$'3\t30000000\t/login\tmain;hash\n1\t10000000\t\tmain\n'
	nameless=$'3\t30000000\t/login\tmain;shop+0x2000\n1\t10000000\t\tmain\n'
}

# decode ARGUMENT…: status, rows (the samples view without its header) and said (stderr).
decode() {
	status=0
	$PP_RUN "$PP_BUILD/pprof-decode" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	rows=$(sed 1d "$BATS_TEST_TMPDIR/out"; echo .)
	rows=${rows%.}
	said=$(cat "$BATS_TEST_TMPDIR/err")
}

# top ARGUMENT…: status, rows as "name flat cum;…", and said, of pprof-top.
top() {
	status=0
	$PP_RUN "$PP_BUILD/pprof-top" --format tsv "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	rows=$(awk -F '\t' 'NR > 1 { printf "%s %s %s;", $5, $1, $3 }' "$BATS_TEST_TMPDIR/out")
	said=$(cat "$BATS_TEST_TMPDIR/err")
}

# ranks FILE ROWS SAID [OPTION…]: pprof-top ends with 0, these rows, this on stderr.
ranks() {
	local file=$1 wanted=$2 message=$3
	shift 3
	top "$@" "$file"
	same "$status" 0
	same "$rows" "$wanted"
	same "$said" "$message"
}

same() {
	[ "$1" = "$2" ] || { printf 'got:    %q\nwanted: %q\n' "$1" "$2"; return 1; }
}

bytes() { wc -c <"$1" | tr -d ' '; }

# refused FILE REASON [OPTION…]: status 3, this message, no output.
refused() {
	local file=$1 reason=$2
	shift 2
	decode "$@" "$file"
	same "$said" "pprof-decode: '$file': $reason"
	same "$status" 3
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
}

# reads FILE ROWS [OPTION…]: status 0, no message, these rows.
reads() {
	local file=$1 wanted=$2
	shift 2
	decode "$@" "$file"
	same "$said" ""
	same "$status" 0
	same "$rows" "$wanted"
}

# warns FILE WARNING ROWS [OPTION…]: status 0, this one warning, these rows.
warns() {
	local file=$1 warning=$2 wanted=$3
	shift 3
	decode "$@" "$file"
	same "$said" "pprof-decode: warning: '$file': $warning"
	same "$status" 0
	same "$rows" "$wanted"
}

@test "usual: the profile that the others are made of" {
	reads plain.pb.gz "$usual"
	reads plain.pb "$usual"
	reads plain.pb.gz "$usual" --lenient
	reads plain.pb.gz "$usual" --salvage
}

@test "packing: nothing in it" {
	refused empty.pb 'byte 0: empty input'
	refused gzip-of-nothing.pb.gz 'byte 0: empty input: gzip of nothing'
	refused gzip-header-only.pb.gz 'byte 10: gzip: unexpected end of the packed data (0 bytes could be unpacked)'
}

@test "packing: gzip cut in its trailer" {
	local cut='gzip: unexpected end of the packed data'
	refused gzip-trailer-cut.pb.gz \
		"byte $(bytes gzip-trailer-cut.pb.gz): $cut ($(bytes plain.pb) bytes could be unpacked)"
	warns gzip-trailer-cut.pb.gz \
		"$cut at packed byte $(bytes gzip-trailer-cut.pb.gz); $(bytes plain.pb) bytes were unpacked" "$usual" --salvage
}

# How much of the end can be unpacked is zlib's business, so the numbers are left open.
@test "packing: gzip cut in its data" {
	for option in '' --lenient; do
		decode $option gzip-cut.pb.gz
		same "$status" 3
		[[ $said == "pprof-decode: 'gzip-cut.pb.gz': byte $(bytes gzip-cut.pb.gz): gzip: unexpected end"* ]]
	done
	decode --salvage gzip-cut.pb.gz
	same "$status" 0
	same "$rows" "$usual"
	[[ $said == *"the profile ends early: "*" complete fields were kept"* ]]
}

@test "packing: not compressed and cut short" {
	refused cut.pb 'byte 210: the input ends inside a field, after 212 bytes'
	refused cut.pb 'byte 210: the input ends inside a field, after 212 bytes' --lenient
	warns cut.pb 'byte 210: the profile ends early: 23 complete fields were kept' "$usual" --salvage
	refused cut-sample.pb 'byte 12: the input ends inside a field, after 20 bytes'
	decode --salvage cut-sample.pb
	same "$status" 0
	same "$rows" ''
}

@test "packing: members, gzip inside gzip, bytes after the end" {
	reads two-members.pb.gz "$usual"
	refused gzip-twice.pb.gz 'byte 0: gzip inside gzip'
	warns bytes-after.pb.gz \
		"bytes after the last gzip member, from packed byte $(bytes plain.pb.gz) on, are ignored" "$usual"
}

@test "packing: two profiles in one file, whether they have a time or not" {
	local reason='concatenated profiles detected: two profiles in one file, the second starts here'
	refused two-profiles.pb.gz "byte $(bytes plain.pb): $reason"
	refused two-profiles.pb.gz "byte $(bytes plain.pb): $reason" --salvage
	gzip -dc <no-time.pb.gz >"$BATS_TEST_TMPDIR/no-time.pb"
	refused two-profiles-no-time.pb.gz "byte $(bytes "$BATS_TEST_TMPDIR/no-time.pb"): $reason"
}

@test "wire: what is no protobuf" {
	refused noise.pb 'byte 0: is not a profile: its first byte is 0xfb'
	refused varint-endless.pb.gz 'byte 215: not a profile: the value is not a varint'
	refused varint-endless.pb.gz 'byte 215: not a profile: the value is not a varint' --lenient
	refused group.pb.gz 'byte 43: not a profile: the wire type is not one of 0, 1, 2, 5'
	refused sample-is-a-number.pb.gz 'byte 12: sample: wire type 0, not 2'
	refused length-beyond-end.pb.gz 'byte 215: the input ends inside a field, after 218 bytes'
	warns length-beyond-end.pb.gz 'byte 215: the profile ends early: 24 complete fields were kept' "$usual" --salvage
}

@test "strings: the first is not empty" {
	refused string-0-not-empty.pb.gz "byte 102: string_table[0]: 'x', must be empty"
	warns string-0-not-empty.pb.gz "byte 102: string_table[0] is 'x', taken as empty" "$usual" --lenient
}

@test "strings: an index beyond the table, no table" {
	refused string-beyond-table.pb.gz 'byte 94: function[1].name: string index 99 is outside the table of 11 strings'
	warns string-beyond-table.pb.gz 'byte 94: string index outside the table, taken as not given' "$nameless" --lenient
	refused no-strings.pb.gz 'string_table: the profile has no string table'
	refused no-strings.pb.gz 'string_table: the profile has no string table' --lenient
}

@test "ids: 0 is reserved" {
	refused location-id-0.pb.gz 'byte 215: location[2].id: reserved id 0'
	warns location-id-0.pb.gz 'byte 215: location dropped: its id is 0' "$usual" --lenient
	refused function-id-0.pb.gz 'byte 215: function[2].id: reserved id 0'
	warns function-id-0.pb.gz 'byte 215: function dropped: its id is 0' "$usual" --lenient
}

@test "ids: twice" {
	refused function-twice.pb.gz 'byte 215: function[2].id: multiple functions with same id 2'
	warns function-twice.pb.gz 'byte 215: function dropped: an identical one has the same id' "$usual" --lenient
	refused function-twice-unlike.pb.gz 'byte 215: function[2].id: multiple functions with same id 2' --lenient
	refused location-twice.pb.gz 'byte 215: location[2].id: multiple locations with same id 2'
	warns location-twice.pb.gz 'byte 215: location dropped: an identical one has the same id' "$usual" --lenient
}

@test "references: to nothing" {
	refused no-such-location.pb.gz 'byte 17: sample[0].location_id[1]: no location has id 77'
	warns no-such-location.pb.gz 'byte 17: frame dropped: its location does not exist' \
		$'3\t30000000\tmain;hash\n' --lenient
	refused no-such-function.pb.gz 'byte 71: location[1].line[0].function_id: no function has id 88'
	warns no-such-function.pb.gz 'byte 71: frame without a name: its function does not exist' "$nameless" --lenient
	reads no-such-mapping.pb.gz "$usual"
}

@test "values: their number differs from that of the types" {
	refused values-too-many.pb.gz 'byte 12: sample[0].value: mismatch: sample has 3 values vs. 2 types'
	refused values-too-few.pb.gz 'byte 12: sample[0].value: mismatch: sample has 1 values vs. 2 types'
	local warning='byte 12: sample dropped: its number of values is not that of the sample types'
	warns values-too-many.pb.gz "$warning" $'1\t10000000\tmain\n' --lenient
	warns values-too-few.pb.gz "$warning" $'1\t10000000\tmain\n' --lenient
	refused no-types.pb.gz 'byte 0: missing sample type information: there are samples but no sample_type'
}

@test "valid: no samples, no stack, one type, one stack twice" {
	reads no-samples.pb.gz ''
	reads no-stack.pb.gz "$usual"$'5\t50000000\t\t\n'
	reads one-type.pb.gz $'3\tmain;hash\n1\tmain\n'
	reads stack-twice.pb.gz "$usual"$'4\t40000000\t/login\tmain;hash\n'
}

@test "valid: ids at the end of 64 bits, long labels, odd names" {
	reads huge-ids.pb.gz $'3\t30000000\tmain;hash\n'
	decode long-label.pb.gz
	same "$status" 0
	same "$(printf %s "$rows" | cut -f 3 | tr -d '\n' | wc -c)" 4096
	reads odd-name.pb.gz $'3\t30000000\t/login\tmain;a\\nb\\tc"d\\\\e\\x1b[2J\n1\t10000000\t\tmain\n'
	reads name-empty.pb.gz "$nameless"
}

@test "valid: code without symbols is named alike wherever it is loaded" {
	local wanted=$'3\t30000000\t/login\tshop+0x1000;shop+0x2000\n1\t10000000\t\tshop+0x1000\n'
	reads no-symbols.pb.gz "$wanted"
	reads no-symbols-moved.pb.gz "$wanted"
}

@test "ranking: samples without stack, recursion, one name in two files" {
	ranks plain.pb.gz 'hash 30000000 30000000;main 10000000 40000000;' ''
	ranks no-samples.pb.gz '' ''
	ranks no-stack.pb.gz '(no stack) 50000000 50000000;hash 30000000 30000000;main 10000000 40000000;' ''
	ranks recursion.pb.gz 'hash 30000000 30000000;main 0 30000000;' ''
	ranks one-name-two-files.pb.gz 'hash 30000000 30000000;hash 10000000 40000000;' ''
	ranks one-name-two-files.pb.gz 'hash 40000000 40000000;' '' --by functions
	ranks odd-name.pb.gz 'a\nb\tc"d\\e\x1b[2J 30000000 30000000;main 10000000 40000000;' ''
}

@test "ranking: negative values are shown with their sign, and said" {
	ranks negative.pb.gz 'hash 30000000 30000000;main -1 29999999;' \
		"pprof-top: warning: 'negative.pb.gz': holds negative values: a difference?"
}

@test "ranking: a sum that does not fit 64 bits is refused" {
	top overflow.pb.gz
	same "$status" 3
	[[ $said == "pprof-top: 'overflow.pb.gz': "* ]]
	same "$rows" ''
	ranks overflow.pb.gz 'hash 2 2;main 1 3;' '' --sample-type samples
}

@test "ranking: the default sample type" {
	ranks default-type.pb.gz 'hash 3 3;main 1 4;' ''
	ranks default-type-unknown.pb.gz 'hash 30000000 30000000;main 10000000 40000000;' \
		"pprof-top: warning: 'default-type-unknown.pb.gz': default sample type 'hash' is not one of: samples, cpu; the last is taken"
	ranks type-empty.pb.gz 'hash 30000000 30000000;main 10000000 40000000;' \
		"pprof-top: warning: 'type-empty.pb.gz': sample type 1 has no name"
}

@test "ranking: drop_frames that is no expression, and one with parentheses" {
	top drop-frames-bad.pb.gz
	same "$status" 0
	same "$rows" 'hash 30000000 30000000;main 10000000 40000000;'
	[[ $said == "pprof-top: warning: 'drop-frames-bad.pb.gz': "*"'ha(sh'"* ]]
	ranks drop-frames-parentheses.pb.gz 'main 40000000 40000000;' ''
}
