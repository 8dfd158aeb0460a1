#!/usr/bin/env bats
load fetch
bats_require_minimum_version 1.5.0

setup_file() { start_standin; }
teardown_file() { stop_standin; }
setup() {
	unless_cannot
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
}

# The service "long" has a profile every six hours from 8 March 00:00 on, worth 1, 2, 4, … ns: the sum of a window
# tells which are in it, and how often. The server allows 24 hours.
long() { # long MODE FROM TO COMMAND OPTION…
	local mode=$1 from=$2 to=$3 command=$4
	shift 4
	fetch "/$mode/limits" "$command" '{service_name="long"}' --profile-type $CPU --from "2026-03-$from:00Z" --to "2026-03-$to:00Z" "$@"
}
sum() {
	awk -F '\t' 'NR > 1 { sum += $4 } END { printf "%.0f", sum }'
}

@test "a window longer than the server's: each profile once, also on the borders of the pieces" {
	while read -r from to want; do
		for mode in v2 dual v1; do
			long $mode $from $to query -o pprof --output got
			[ "$(total got)" = $want ]
			[ "$(long $mode $from $to metrics --step 3h | sum)" = $want ]
		done
	done <<-EOF
		08T00:00 12T00:00 131071
		08T00:00 10T00:00 511
		08T00:00 09T00:00 31
		07T18:00 09T18:00 255
		09T00:01 11T00:00 8160
		09T12:00 10T13:00 1984
	EOF
}

@test "the pieces do not overlap, and leave nothing out" {
	long v2 08T00:00 11T00:00 query -o pprof --output got
	requests SelectMergeProfile | grep -P '\t200\t' | sed 's/.*"start": "\([0-9]*\)", "end": "\([0-9]*\)".*/\1 \2/' | sort -n >pieces
	[ "$(head -n 1 pieces | cut -d ' ' -f 1)" = 1772928000000 ]
	[ "$(tail -n 1 pieces | cut -d ' ' -f 2)" = 1773187200000 ]
	awk 'NR > 1 && $1 != end + 1 { exit 1 } $2 - $1 > 86400000 { exit 1 } { end = $2 }' pieces
	[ "$(value_of windows_asked got.tsv)" -eq "$(wc -l <pieces)" ]
	[ "$(tool pprof-decode --records got | grep '^profile' | cut -f 2,3)" = "1772928000000000000	259200000000000" ]
}

@test "pieces are summed as one whole would be" {
	fetch /v2 query '{service_name="long"}' --profile-type $CPU --from 2026-03-08T00:00:00Z --to 2026-03-12T00:00:00Z -o pprof --counts --output whole
	long v2 08T00:00 12T00:00 query -o pprof --counts --output pieces
	cmp whole pieces
	[ "$(total whole 1) $(total whole 2)" = "17 131071" ]
}

@test "tables, graphs and labels of long windows" {
	run --separate-stderr long v2 08T00:00 12T00:00 query -o tsv
	status_is 0
	[ "$(awk -F '\t' '$5 == "main.main" { print $3 }' <<<"$output")" = 131071 ]
	for form in dot json; do
		run --separate-stderr long v2 08T00:00 12T00:00 query -o $form
		[ "$status" -eq 0 ] || [ "$status" -eq 7 ]
		[ "$status" -eq 0 ] || [[ $stderr == *"limit: 1d"* ]]
	done
	for command in types labels series; do
		run --separate-stderr fetch /v2/limits $command --from 2026-03-08T00:00:00Z --to 2026-03-12T00:00:00Z
		[ "$status" -eq 0 ] || [ "$status" -eq 7 ]
		[ "$status" -eq 0 ] || [[ $stderr == *"limit: 1d"* ]]
	done
}

@test "one piece fails: all fails, and says which" {
	for fault in 500 403 garbage; do
		run fetch "/v2/limits/fault/$fault,on=SelectMergeProfile,times=1" query '{service_name="long"}' --profile-type $CPU \
			--from 2026-03-08T00:00:00Z --to 2026-03-12T00:00:00Z -o pprof --output got
		[ "$status" -eq 7 ] || [ "$status" -eq 8 ]
		[ -z "$(ls)" ]
	done
}

@test "what came before one piece failed is kept, and not asked for again" {
	# Only in JSON can the stand-in tell the third piece by its text.
	again() {
		run fetch /v2/limits/fault/500,on=1773100800000,times=1 query '{service_name="long"}' --profile-type $CPU --json-wire \
			--parallel 1 --from 2026-03-08T00:00:00Z --to 2026-03-12T00:00:00Z -o pprof --output got
	}
	again
	status_is 7
	[ ! -e got ]
	mark=$(requests /SelectMergeProfile | grep -cP '\t200\t')
	again
	status_is 0
	[ $(($(requests /SelectMergeProfile | grep -cP '\t200\t') - mark)) -eq 1 ]
	[ "$(total got)" = 131071 ]
	[ "$(ls -A)" = "got
got.tsv" ]
	cp got.tsv kept.tsv
	rm got got.tsv
	again
	cmp got.tsv kept.tsv
}

@test "a long window without anything is nothing" {
	run fetch /v2/limits query '{service_name="nobody"}' --profile-type $CPU --from 2026-03-08T00:00:00Z --to 2026-03-12T00:00:00Z -o pprof --output got
	status_is 5
	run long v1 01T00:00 05T00:00 query -o pprof --output got
	status_is 5
	run long dual 01T00:00 05T00:00 metrics --step 3h
	status_is 5
	[ -z "$(ls)" ]
}

@test "a window that can be had whole is not split" {
	fetch /v2 query '{service_name="long"}' --profile-type $CPU --from 2026-03-08T00:00:00Z --to 2026-03-12T00:00:00Z -o pprof --output got
	[ "$(requests SelectMergeProfile | wc -l)" -eq 1 ]
	[ "$(value_of windows_asked got.tsv)" = 1 ]
}

@test "times: RFC 3339 with zones and fractions, Unix seconds, now" {
	want=$(long v2 08T06:00 08T12:00 query -o pprof >got; total got)
	[ "$want" = 6 ]
	for window in "--from 2026-03-08T07:00:00+01:00 --to 2026-03-08T13:00:00+01:00" "--from 1772949600 --to 1772971200" \
		"--from 1772949600.000 --to 2026-03-08T12:00:00.000Z" "--to 2026-03-08T12:00:00Z --since 6h"; do
		fetch /v2 query '{service_name="long"}' --profile-type $CPU $window -o pprof >got
		[ "$(total got)" = 6 ]
	done
	run fetch /v2 query '{service_name="long"}' --profile-type $CPU --since 1h -o pprof
	status_is 5
	run fetch /v2 query '{service_name="long"}' --profile-type $CPU --from now-2h --to now-1h -o pprof
	status_is 5
	# Milliseconds are a far future as seconds: said, not empty.
	run fetch /v2 query '{service_name="long"}' --profile-type $CPU --from 1772949600000 --to 1772971200000 -o pprof
	[ "$status" -ne 0 ]
}

@test "one millisecond is a window" {
	for mode in v2 dual; do
		fetch /$mode query '{service_name="long"}' --profile-type $CPU --from 2026-03-08T06:00:00Z --to 2026-03-08T06:00:00Z -o pprof >got
		[ "$(total got)" = 2 ]
	done
	# v1 finds nothing in one: no piece of a longer window may be of that length. See the first test.
}
