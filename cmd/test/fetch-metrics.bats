#!/usr/bin/env bats
load fetch
bats_require_minimum_version 1.5.0

setup_file() { start_standin; }
teardown_file() { stop_standin; }
setup() {
	unless_cannot
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
	incident=("$DATA"/cases/slow-login/incident/*.pb.gz)
	pods=("$(total "${incident[0]}" 2)" "$(total "${incident[1]}" 2)" "$(total "${incident[2]}" 2)")
	all=$((pods[0] + pods[1] + pods[2]))
}

metrics() { # metrics MODE OPTION…: of shop in the incident's hour
	local mode=$1
	shift
	fetch "/$mode" metrics "$SHOP" --profile-type "${TYPE:-$CPU}" "${HOUR[@]}" "$@"
}
sum() { # of the values on stdin
	awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "value") c = i; next } { sum += $c } END { printf "%.0f", sum }'
}

@test "points, and their sum is the export's total, whatever the step" {
	for mode in v2 dual v1; do
		run --separate-stderr metrics $mode --step 600
		status_is 0
		is "series	time_ms	time	value
1	1773238200000	2026-03-11T14:10:00Z	${pods[0]}
1	1773238800000	2026-03-11T14:20:00Z	${pods[1]}
1	1773239400000	2026-03-11T14:30:00Z	${pods[2]}"
		for step in 600 3600 7200 700 1 10m 0.5 97; do
			[ "$(metrics $mode --step $step | sum)" = $all ]
		done
		[ "$(metrics $mode | sum)" = $all ]
	done
}

@test "what lies on an end of the window counts, what lies before it does not" {
	# Profiles at 14:05, 14:15 and 14:25.
	for mode in v2 dual v1; do
		for step in 60 600 3600 7; do
			window="--from 2026-03-11T14:05:00Z --to 2026-03-11T14:15:00Z"
			[ "$(fetch /$mode metrics "$SHOP" --profile-type $CPU $window --step $step | sum)" = $((pods[0] + pods[1])) ]
			window="--from 2026-03-11T14:05:01Z --to 2026-03-11T14:15:00Z"
			[ "$(fetch /$mode metrics "$SHOP" --profile-type $CPU $window --step $step | sum)" = "${pods[1]}" ]
			window="--from 2026-03-11T14:15:01Z --to 2026-03-11T14:16:02Z"
			run fetch /$mode metrics "$SHOP" --profile-type $CPU $window --step $step
			status_is 5
		done
		fetch /$mode query "$SHOP" --profile-type $CPU --from 2026-03-11T14:05:00Z --to 2026-03-11T14:15:00Z -o pprof >got
		[ "$(total got)" = $((pods[0] + pods[1])) ]
	done
}

@test "the border of a dual-mode server: no refusal, no wrong grid, no lost tail" {
	# The oldest profile, worth 1 ns, is at midnight of 8 March.
	for window in "--from 2026-03-08T00:00:00Z --to 2026-03-08T12:00:00Z" "--from 2026-03-07T21:30:00Z --to 2026-03-08T12:00:00Z" \
		"--from 2026-03-07T21:30:00Z --to 2026-03-08T17:17:17Z"; do
		for mode in v2 dual v1; do
			for step in 3600 50000 86400 4999; do
				[ "$(fetch /$mode metrics '{service_name="long"}' --profile-type $CPU $window --step $step | sum)" = 7 ]
			done
			fetch /$mode query '{service_name="long"}' --profile-type $CPU $window -o pprof >got
			[ "$(total got)" = 7 ]
			[ "$(fetch /$mode query '{service_name="long"}' --profile-type $CPU $window -o json | jq -r .flamegraph.total)" = 7 ]
		done
	done
	# The grid is the question's, in every mode.
	for mode in v2 dual v1; do
		fetch /$mode metrics '{service_name="long"}' --profile-type $CPU --from 2026-03-07T21:30:00Z --to 2026-03-08T09:30:00Z --step 3h |
			cut -f 3,4 >$mode
	done
	[ "$(cat v2)" = "time	value
2026-03-08T00:30:00Z	1
2026-03-08T06:30:00Z	2" ]
	cmp v2 dual
	cmp v2 v1
}

@test "groups" {
	for mode in v2 dual v1; do
		run --separate-stderr metrics $mode --step 3600 --group-by pod
		status_is 0
		[ "$(sed 1d <<<"$output" | cut -f 4,5 | sort)" = "$(printf '%s\tshop-%s\n' "${pods[0]}" 1 "${pods[1]}" 2 "${pods[2]}" 3 | sort)" ]
		[ "$(metrics $mode --step 3600 --group-by version --group-by endpoint | sum)" = $all ]
		[ "$(metrics $mode --step 3600 --group-by version,endpoint | head -n 1 | cut -f 5,6)" = "label:version	label:endpoint" ]
		[ "$(metrics $mode --step 3600 --group-by colour | sum)" = $all ]
	done
}

@test "a leaderboard ranks the whole, and says what it cut" {
	ranked=$(printf '%s\tshop-%s\n' "${pods[0]}" 1 "${pods[1]}" 2 "${pods[2]}" 3 | sort -rn)
	for mode in v2 dual v1; do
		run --separate-stderr metrics $mode --top --group-by pod
		status_is 0
		[ "$(wc -l <<<"$output")" -eq 4 ]
		[ "$(metrics $mode --top --group-by pod -o json | jq -r '.series[] | "\(.total)\t\(.labels.pod)"')" = "$ranked" ]
		run --separate-stderr metrics $mode --top --group-by pod --limit 2
		status_is 0
		[ "$(wc -l <<<"$output")" -eq 3 ]
		[[ $stderr == *"pprof-fetch: "* ]]
	done
	# The server is asked for all of it.
	! requests SelectSeries | grep -q '"limit"'
}

@test "JSON as the reference client prints it" {
	run --separate-stderr metrics v2 --step 600 --group-by pod -o json
	status_is 0
	[ "$(jq '[.series[].points[].value] | add' <<<"$output")" = $all ]
	[ "$(jq -r '.series[].labels[] | select(.name == "pod").value' <<<"$output" | sort | paste -sd ,)" = shop-1,shop-2,shop-3 ]
	[ "$(jq .stepSeconds <<<"$output")" = 600 ]
}

@test "no points are nothing" {
	for mode in v2 dual v1; do
		run --separate-stderr fetch /$mode metrics "$SHOP" --profile-type $CPU "${VOID[@]}" --step 600
		status_is 5
		[ -z "$output" ]
		run fetch /$mode metrics '{service_name="nobody"}' --profile-type $CPU "${HOUR[@]}" --top
		status_is 5
		# One point, of before the window.
		run fetch /$mode metrics "$SHOP" --profile-type $CPU --from 2026-03-11T14:25:30Z --to 2026-03-11T14:40:00Z --step 60
		status_is 5
	done
}

@test "an average is what no server answers" {
	for mode in v2 dual v1; do
		run --separate-stderr metrics $mode --aggregation average --step 600
		case $status in
		6) [ -z "$output" ] ;;
		0) [ "$(sed 1d <<<"$output" | cut -f 4)" = "$(printf '%s\n' "${pods[@]}")" ] ;;
		*) return 1 ;;
		esac
	done
	[ "$(metrics v2 --aggregation sum --step 3600 | sum)" = $all ]
}

@test "points of some stacks, or the word that this server has none" {
	callers=(--stacktrace-selector 'main.(*load).run.func1')
	for mode in v2 dual v1; do
		fetch /$mode query "$SHOP" --profile-type $CPU "${HOUR[@]}" "${callers[@]}" -o pprof >got
		run --separate-stderr metrics $mode --step 3600 "${callers[@]}"
		case $status in
		0) [ "$(sum <<<"$output")" = "$(total got)" ] ;;
		6) [ -z "$output" ] ;;
		*) return 1 ;;
		esac
	done
}

@test "exemplars: profiles by value, and what their ids bring" {
	for mode in v2 dual; do
		run --separate-stderr fetch /$mode exemplars profile "$SHOP" --profile-type $CPU "${HOUR[@]}" -o json
		status_is 0
		[ "$(jq -r '[.exemplars[].value] | sort | map(tostring) | join(" ")' <<<"$output")" = "$(printf '%s\n' "${pods[@]}" | sort -n | paste -sd ' ')" ]
		id=$(jq -r '.exemplars[0].profileId' <<<"$output")
		fetch /$mode query "$SHOP" --profile-type $CPU "${HOUR[@]}" --profile-id $id -o pprof >got
		[ "$(total got)" = "$(jq -r '.exemplars[0].value' <<<"$output")" ]
	done
	run fetch /v1 exemplars profile "$SHOP" --profile-type $CPU "${HOUR[@]}"
	status_is 6
	for mode in v2 dual v1; do
		run fetch /$mode exemplars profile "$SHOP" --profile-type $CPU "${VOID[@]}"
		status_is 5
	done
}

@test "exemplars: spans" {
	for mode in v2 dual; do
		run --separate-stderr fetch /$mode exemplars span '{service_name="traced"}' "${HOUR[@]}" -o json
		status_is 0
		[ "$(jq -r '.exemplars[0] | "\(.spanId) \(.traceId) \(.value)"' <<<"$output")" = "00000000000000b1 0000000000000000000000000000000b 40000000" ]
		run fetch /$mode exemplars span "$SHOP" "${HOUR[@]}"
		status_is 5
	done
	run fetch /v1 exemplars span '{service_name="traced"}' "${HOUR[@]}"
	status_is 6
	has "this endpoint is not available in v1 frontend"
	run fetch /old exemplars span '{service_name="traced"}' "${HOUR[@]}"
	status_is 6
	has "SelectHeatmap: HTTP 404: there is no such method: this server is too old for it"
	# Nothing is there: a wrong address.
	run fetch /fault/404 exemplars span '{service_name="traced"}' "${HOUR[@]}"
	status_is 7
	has "a wrong address"
}
