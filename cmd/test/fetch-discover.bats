#!/usr/bin/env bats
load fetch
bats_require_minimum_version 1.5.0

setup_file() { start_standin; }
teardown_file() { stop_standin; }
setup() {
	unless_cannot
	cd "$BATS_TEST_TMPDIR"
}

@test "datasources: those of Grafana that are Pyroscopes" {
	run --separate-stderr tool pprof-fetch --url "$STANDIN" datasources
	status_is 0
	[ "$(cut -f 1 <<<"$output" | sed 1d)" = pyro-uid ]
	GRAFANA_SERVER=$STANDIN run --separate-stderr tool pprof-fetch datasources -o json
	status_is 0
	[ "$(jq -r '.datasources[].uid' <<<"$output")" = pyro-uid ]
}

@test "data-range: of the whole tenant" {
	run --separate-stderr fetch /v2 data-range
	status_is 0
	[ "$(sed 1d <<<"$output" | cut -f 1-3)" = "true	1772928000000	1773273600000" ]
	run --separate-stderr fetch /v2 data-range -o json
	[ "$(jq -c '[.dataIngested, .oldestProfileTime, .newestProfileTime]' <<<"$output")" = '[true,1772928000000,1773273600000]' ]
	run fetch /v2/tenants data-range --tenant nobody
	status_is 5
}

@test "types: those that have profiles in the window, in every mode" {
	for mode in v2 dual; do
		run --separate-stderr fetch /$mode types "${HOUR[@]}"
		status_is 0
		[ "$(sed 1d <<<"$output" | wc -l)" -eq 8 ]
		[ "$(grep -c "^$CPU	process_cpu	cpu	nanoseconds	cpu	nanoseconds$" <<<"$output")" -eq 1 ]
	done
	run --separate-stderr fetch /v1 types "${HOUR[@]}"
	status_is 0
	[ "$(sed 1d <<<"$output" | wc -l)" -eq 6 ]
}

@test "labels and their values" {
	run --separate-stderr fetch /v2 labels "${HOUR[@]}"
	status_is 0
	has "
service_name
"
	run --separate-stderr fetch /v2 labels --label version "${HOUR[@]}"
	is "value
v1
v2.3.1
v2.4.0"
	run --separate-stderr fetch /v2 labels -l version "$SHOP" "${HOUR[@]}"
	is "value
v2.3.1
v2.4.0"
	run --separate-stderr fetch /v2 labels -l version 'service_name="shop"' "${HOUR[@]}" -o json
	[ "$(jq -c .names <<<"$output")" = '["v2.3.1","v2.4.0"]' ]
}

@test "series: combinations of labels, wholly or those that are asked for" {
	run --separate-stderr fetch /v2 series "$SHOP" --label-name pod,version "${HOUR[@]}"
	status_is 0
	[ "$(sed 1d <<<"$output" | wc -l)" -eq 6 ]
	run --separate-stderr fetch /v2 series --match "$SHOP" --match '{version="v2.4.0"}' --label-name pod "${HOUR[@]}"
	[ "$(sed 1d <<<"$output")" = "shop-1
shop-2
shop-3" ]
	[ -n "$stderr" ] # several are an intersection here
	run --separate-stderr fetch /v2 series '{service_name="traced"}' "${HOUR[@]}" -o json
	[ "$(jq -r '[.labelsSet[].labels[] | select(.name == "span_name").value] | unique | join(",")' <<<"$output")" = "GET /cart,GET /list" ]
}

@test "what blocks list although the window holds no profile is nothing" {
	for mode in v2 dual v1; do
		for command in types labels "labels -l pod" series; do
			run --separate-stderr fetch /$mode $command "${VOID[@]}"
			status_is 5
			[ -z "$output" ]
			[[ $stderr == *"from 2026-03-11T16:10:00Z to 2026-03-11T16:50:00Z"* ]]
		done
	done
	run --separate-stderr fetch /v2 labels -l colour "${HOUR[@]}"
	status_is 5
	run --separate-stderr fetch /v2 series '{service_name="nobody"}' "${HOUR[@]}"
	status_is 5
}

@test "through Grafana the answers are the same" {
	for command in data-range "types ${HOUR[*]}" "labels ${HOUR[*]}" "series ${HOUR[*]}"; do
		fetch /v2 $command >straight
		fetch /v2 -d pyro-uid $command >through
		cmp straight through
		[ -s straight ]
	done
	[ "$(requests /api/datasources/proxy/uid/pyro-uid/querier | wc -l)" -gt 4 ]
	run fetch /v2 -d nope data-range
	status_is 7
	has "Data source not found"
	run fetch /v2 -d prom-uid data-range
	[ "$status" -eq 6 ] || [ "$status" -eq 7 ]
	run fetch /v2 -d ../admin data-range
	status_is 2
}

@test "JSON on the wire says the same as protobuf" {
	for command in data-range "types ${HOUR[*]}" "labels ${HOUR[*]}" "labels -l pod ${HOUR[*]}" "series ${HOUR[*]}"; do
		fetch /v2 $command >binary
		fetch /v2 --json-wire $command >json
		cmp binary json
	done
}

@test "a selector that the server cannot read: its words, and 7" {
	for mode in v2 dual v1; do
		run fetch /$mode labels '{service_name=shop}' "${HOUR[@]}"
		status_is 7
		has '1:15: parse error: unexpected identifier "shop" in label matching, expected string'
		[[ $output != *'{"code"'* ]]
	done
}

@test "options and operands that a command does not have" {
	for words in "types --label pod" "labels --step 60" "data-range --since 1h" "datasources {}" "nonsense" "query" ""; do
		run tool pprof-fetch --url "$STANDIN" $words
		status_is 2
	done
	run tool pprof-fetch types
	status_is 2
	has "no address"
}
