#!/usr/bin/env bats
# Answers that no honest server sends: JSON in place of a recorded answer, one a "server" of the replay.
load fetch
bats_require_minimum_version 1.5.0

# hostile METHOD ANSWER…: each as the answer to the one question of that method in the log, for the servers METHOD-1, …
hostile() {
	local method=$1 n=0 folder=$BATS_FILE_TMPDIR/recorded answer
	shift
	for answer; do
		n=$((n + 1))
		mkdir -p "$folder/$method-$n"
		grep -P "/querier.v1.QuerierService/$method\t.*\t200\t" "$LOG" | cut -f 15 | sort -u >questions
		local q=0 question
		while IFS= read -r question; do
			q=$((q + 1))
			printf '%b' "${question//%/%%}" >"$folder/$method-$n/$q.req.json"
			printf '%s' "$answer" >"$folder/$method-$n/$q.res.json"
			printf '%s\t%s\tPOST\t/querier.v1.QuerierService/%s\tapplication/json\t\t%s\t200\tapplication/json\t\t%s\n' \
				"$method-$n" $q "$method" $q.req.json $q.res.json >>"$folder/manifest.tsv"
		done <questions
	done
}

setup_file() {
	start_standin
	[ -z "${CANNOT:-}" ] || return 0
	cd "$BATS_FILE_TMPDIR"
	mkdir recorded
	printf 'server\tname\tmethod\tpath\trequest_type\trequest_headers\trequest\tstatus\tresponse_type\tresponse_encoding\tresponse\n' >recorded/manifest.tsv
	BATS_TEST_NUMBER=0
	for command in data-range "types ${HOUR[*]}" "labels ${HOUR[*]}" "labels -l pod ${HOUR[*]}" "series ${HOUR[*]}" \
		"metrics {} --step 600 --profile-type $CPU ${HOUR[*]}" "query {} --profile-type $CPU ${HOUR[*]}" \
		"query {} -o json --profile-type $CPU ${HOUR[*]}" "exemplars profile {} ${HOUR[*]}" "exemplars span {} ${HOUR[*]}"; do
		fetch /v2 --json-wire $command >/dev/null || return 1
	done
	big=9223372036854775807
	hostile GetProfileStats "{\"dataIngested\":true,\"oldestProfileTime\":\"$big\",\"newestProfileTime\":\"-9223372036854775808\"}" \
		"{\"dataIngested\":\"yes\"}" "{\"dataIngested\":true,\"oldestProfileTime\":\"$big\",\"newestProfileTime\":\"$big\"}" "[]" "null" "{}x"
	hostile ProfileTypes '{"profileTypes":[{"ID":"::::","name":""},{"ID":"\u001b[31mred:a:b:c:d"},{"ID":"a"}]}' \
		'{"profileTypes":[null]}' '{"profileTypes":{"ID":"x"}}'
	hostile LabelNames '{"names":["\u001b]0;x\u0007","a\nb","a\tb","\u0000",""]}' '{"names":[1]}' '{"names":"x"}'
	hostile LabelValues '{"names":["\u001b]0;x\u0007","a\nb"]}' '{"names":[[]]}'
	hostile Series '{"labelsSet":[{"labels":[{"name":"\u001b[1m","value":"\n\u0007"},{"name":"","value":""}]},{}]}' '{"labelsSet":[{"labels":[{}]}]}' \
		'{"labelsSet":[{"labels":[{"name":"a","value":"1"},{"name":"a","value":"2"}]}]}'
	local points
	for points in '"value":"NaN","timestamp":"1773238200000"' '"value":"Infinity","timestamp":"1773238200000"' '"value":1e300,"timestamp":"1773238200000"' \
		'"value":-5,"timestamp":"1773238200000"' '"value":0.5,"timestamp":"1773238200000"' "\"value\":1,\"timestamp\":\"$big\"" '"value":1,"timestamp":"-1"' '"value":1' '"value":5e18,"timestamp":"1773238200000"'; do
		set -- "$@" "{\"series\":[{\"labels\":[{\"name\":\"p\",\"value\":\"\\u001b[31m\"}],\"points\":[{$points},{$points}]}]}"
	done
	hostile SelectSeries "$@" '{"series":[{}]}' '{"series":[{"points":[{"value":1,"timestamp":"1773238200000","exemplars":[{"value":"1","profileId":"\u001b[31m","labels":[{"name":"\n"}]}]}]}]}'
	flame() { printf '{"flamegraph":{"names":["total","\\u001b[31m"],"levels":[%s],"total":"%s","maxSelf":"1"}}' "$1" "${2:-1}"; }
	hostile SelectMergeStacktraces "$(flame '{"values":["0","1","0","9"]}')" "$(flame '{"values":["0","1","0"]}')" "$(flame '{"values":["0","1","0","-1"]}')" \
		"$(flame "{\"values\":[\"0\",\"$big\",\"$big\",\"0\",\"$big\",\"$big\",\"1\",\"1\"]},{\"values\":[\"$big\",\"$big\",\"1\",\"1\"]}" $big)" \
		"$(flame '{"values":["0","-1","0","0"]}' -1)" "$(flame '')" '{"flamegraph":{}}' '{}' '{"flamegraph":[]}' '{"pprof":{}}' '{"dot":"digraph {}"}'
	profile() { printf '{"sampleType":[{"type":"1","unit":"2"}],"stringTable":["","cpu","nanoseconds","f"],%s}' "$1"; }
	hostile SelectMergeProfile "$(profile '"sample":[{"locationId":["7"],"value":["1"]}]')" "$(profile '"sample":[{"value":["1","2"]}]')" \
		"$(profile '"sample":[{"locationId":["1"],"value":["1"]}],"location":[{"id":"1","line":[{"functionId":"5"}]}]')" \
		"$(profile '"sample":[{"locationId":["1"],"value":["1"]}],"location":[{"id":"1"}],"function":[{"id":"1","name":"99"}]')" \
		'{"sampleType":[{"type":"99"}],"stringTable":[""]}' '{"stringTable":["x"]}' '{"sample":[{"locationId":["1"],"value":["1"]}]}' \
		"$(profile "\"sample\":[{\"locationId\":[\"1\"],\"value\":[\"$big\"]},{\"locationId\":[\"1\"],\"value\":[\"$big\"],\"label\":[{\"key\":\"3\",\"num\":\"1\"}]}],\"location\":[{\"id\":\"1\",\"line\":[{\"functionId\":\"1\"}]}],\"function\":[{\"id\":\"1\",\"name\":\"3\"}]")" \
		"$(profile '"sample":[{"locationId":["1"],"value":["-5"]}],"location":[{"id":"1","line":[{"functionId":"1"}]}],"function":[{"id":"1","name":"3"}]')"
	hostile SelectHeatmap '{"series":[{"slots":[{"exemplars":[{"spanId":"\u001b[31m","value":"-1","timestamp":"-9223372036854775808"}]}]}]}' '{"series":[{"slots":[{}]}]}' \
		'{"series":[{"slots":[{"exemplars":[{}]}]}]}'
	"$PP_BUILD/cmd/test/standin/standin" --log second --replay recorded store.tsv >second-url 3>&- &
	echo $! >second-pid
	while [ ! -s second-url ]; do sleep 0.02; done
	export SECOND=$(cat second-url)
}
teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/second-pid" ] || kill "$(cat "$BATS_FILE_TMPDIR/second-pid")" 2>/dev/null || true
	stop_standin
}
setup() {
	unless_cannot
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
}

# against METHOD COMMAND…: the command against every hostile answer of the method: an outcome, never a crash, and no
# control byte on the way out. It is the recorded answer that came.
against() {
	local method=$1 where raw
	shift
	raw=$'[\x01-\x08\x0b-\x1f\x7f]'
	for where in "$BATS_FILE_TMPDIR/recorded/$method"-*; do
		where=${where##*/}
		local mark
		mark=$(wc -l <"$BATS_FILE_TMPDIR/second")
		run --separate-stderr tool pprof-fetch --url "$SECOND/replay/$where/v2" --json-wire "$@"
		printf '%s: %s\n%s\n' "$where" "$status" "$stderr"
		case $status in 0 | 5 | 6 | 7) ;; *) return 1 ;; esac
		if grep -q "$raw" <<<"$output$stderr"; then return 1; fi
		sed "1,${mark}d" "$BATS_FILE_TMPDIR/second" | grep -q "	recorded " || return 1
		eval "seen_${where//-/_}=$status"
	done
}

@test "the range of the data" {
	against GetProfileStats data-range
	[ "$seen_GetProfileStats_1" -eq 0 ]
	run --separate-stderr tool pprof-fetch --url "$SECOND/replay/GetProfileStats-1/v2" --json-wire data-range
	[ "$(sed 1d <<<"$output" | cut -f 1-3)" = "true	0	0" ]
	for n in 2 4 6; do
		name=seen_GetProfileStats_$n
		[ "${!name}" -eq 7 ]
	done
}

@test "lists" {
	against ProfileTypes types "${HOUR[@]}"
	against LabelNames labels "${HOUR[@]}"
	[ "$seen_LabelNames_2 $seen_LabelNames_3" = "7 7" ]
	against LabelValues labels -l pod "${HOUR[@]}"
	against Series series "${HOUR[@]}"
}

@test "values over time" {
	against SelectSeries metrics {} --step 600 --profile-type $CPU "${HOUR[@]}"
	against SelectSeries metrics {} --step 600 --profile-type $CPU "${HOUR[@]}" -o json
	# What does not fit into the question's grid, or is no number, is asked for in another way.
	for n in 1 2 3 6; do
		run --separate-stderr tool pprof-fetch --url "$SECOND/replay/SelectSeries-$n/v2" --json-wire metrics {} --step 600 --profile-type $CPU "${HOUR[@]}"
		status_is 0
		[ "$output" = "$(fetch /v2 metrics {} --step 600 --profile-type $CPU "${HOUR[@]}")" ]
	done
	# Each point fits 64 bits, their sum does not.
	for options in "-o tsv" "-o json"; do
		run --separate-stderr tool pprof-fetch --url "$SECOND/replay/SelectSeries-9/v2" --json-wire metrics {} --step 600 --profile-type $CPU "${HOUR[@]}" $options
		status_is 7
		[ -z "$output" ]
		[[ $stderr == *"the sum of the points does not fit 64 bits"* ]]
	done
}

@test "flame graphs" {
	against SelectMergeStacktraces query {} -o json --profile-type $CPU "${HOUR[@]}"
	for n in 1 2 3 4 5 6 9; do
		name=seen_SelectMergeStacktraces_$n
		[ "${!name}" -eq 7 ]
	done
	[ "$seen_SelectMergeStacktraces_7 $seen_SelectMergeStacktraces_8" = "5 5" ]
}

@test "exports" {
	against SelectMergeProfile query {} -o pprof --output got --profile-type $CPU "${HOUR[@]}"
	against SelectMergeProfile query {} -o tsv --profile-type $CPU "${HOUR[@]}"
	for n in 1 2 3 4 5 6; do
		name=seen_SelectMergeProfile_$n
		[ "${!name}" -eq 7 ]
	done
}

@test "exemplars" {
	against SelectSeries exemplars profile {} "${HOUR[@]}"
	against SelectHeatmap exemplars span {} "${HOUR[@]}"
}
