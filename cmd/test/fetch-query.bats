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
}

# query MODE SELECTOR OPTION…: CPU in the incident's hour.
query() {
	local mode=$1 selector=$2
	shift 2
	fetch "/$mode" query "$selector" --profile-type "${TYPE:-$CPU}" "${HOUR[@]}" "$@"
}
# stacks FILE…: stacks and what they cost in CPU time, as exports know them: without labels.
stacks() {
	tool pprof-decode --lines "$1" | awk -F '\t' -v c="${2:-1}" 'NR > 1 && $c { sum[$NF] += $c } END { for (s in sum) printf "%.0f\t%s\n", sum[s], s }' | sort
}

@test "an export is the sum of the profiles, stack by stack, in every mode and on both wires" {
	tool pprof-merge "${incident[@]}" >merged
	stacks merged 2 >want
	for mode in v2 dual v1; do
		for wire in "" --json-wire; do
			query $mode "$SHOP" -o pprof $wire >got
			stacks got >have
			cmp want have
		done
	done
}

@test "the window becomes time and duration; the invented period is left out" {
	query v2 "$SHOP" -o pprof >got
	[ "$(tool pprof-decode --records got | grep '^profile' | cut -f 2,3,6)" = "1773237600000000000	3600000000000	0" ]
}

@test "to standard output through a pipe, into another tool" {
	run --separate-stderr bash -c "'$PP_BUILD/pprof-fetch' --url '$STANDIN' query '$SHOP' --profile-type $CPU ${HOUR[*]} -o pprof | '$PP_BUILD/pprof-top' --format tsv --by functions | cut -f 1-5"
	status_is 0
	[ -z "$stderr" ]
	piped=$output
	run --separate-stderr query v2 "$SHOP" -o tsv
	[ "$(sed 1d <<<"$piped" | cut -f 1,3,5)" = "$(sed 1d <<<"$output" | cut -f 1,3,5)" ]
	tool pprof-merge "${incident[@]}" | tool pprof-top -s cpu --format tsv --by functions | cut -f 1,3,5 | sed 1d >want
	[ "$(sed 1d <<<"$output" | cut -f 1,3,5)" = "$(cat want)" ]
}

@test "not to a terminal" {
	command -v script >/dev/null || skip "no script"
	run script -qec "'$PP_BUILD/pprof-fetch' --url '$STANDIN' query '$SHOP' --profile-type $CPU ${HOUR[*]} -o pprof" /dev/null
	status_is 2
	has "--force"
}

@test "every shape of no data is nothing: 5, and no file" {
	for mode in v2 dual v1; do
		for form in pprof tsv table json dot markdown; do
			run --separate-stderr fetch /$mode query "$SHOP" --profile-type $CPU "${VOID[@]}" -o $form
			status_is 5
			[ -z "$output" ]
			run --separate-stderr query $mode '{service_name="nobody"}' -o $form
			status_is 5
			[ -z "$output" ]
		done
		run query $mode "$SHOP" -o pprof --pprof-path there.pb.gz --profile-type process_cpu:wall:nanoseconds:cpu:nanoseconds
		status_is 5
		# Before all data: a dual-mode server answers as v1 does.
		run fetch /$mode query "$SHOP" --profile-type $CPU --from 2026-03-01T00:00:00Z --to 2026-03-01T01:00:00Z --output there.pb.gz -o pprof
		status_is 5
	done
	[ -z "$(ls)" ]
}

@test "counts: joined stack by stack, with the true period" {
	for mode in v2 dual v1; do
		query $mode "$SHOP" -o pprof --counts >got
		[ "$(tool pprof-decode got | head -n 1)" = "samples:count	cpu:nanoseconds	stack" ]
		tool pprof-merge "${incident[@]}" >merged
		cmp <(stacks merged 1) <(stacks got 1)
		cmp <(stacks merged 2) <(stacks got 2)
		[ "$(tool pprof-decode --records got | grep '^profile' | cut -f 4-6)" = "cpu	nanoseconds	10000000" ]
	done
	run fetch /v2 query '{service_name="heap"}' --profile-type $HEAP "${HOUR[@]}" --counts -o pprof --output heap.pb.gz
	status_is 0
	[ "$(tool pprof-decode heap.pb.gz | head -n 1)" = "inuse_objects:count	inuse_space:bytes	stack" ]
	run query v2 "$SHOP" --counts -o pprof --profile-type goroutine:goroutine:count:goroutine:count
	status_is 2
}

@test "provenance stands beside the file, and is enough to ask again" {
	query v2 "$SHOP" -o pprof --pprof-path shop.pb.gz
	[ "$(ls)" = "shop.pb.gz
shop.pb.gz.tsv" ]
	file=shop.pb.gz.tsv
	[ "$(value_of profile_type $file)" = $CPU ]
	[ "$(value_of selector $file)" = "$SHOP" ]
	[ "$(value_of from $file) $(value_of to $file)" = "2026-03-11T14:00:00Z 2026-03-11T15:00:00Z" ]
	[ "$(value_of server_mode $file)" = v2 ]
	[ "$(value_of total $file)" = "$(total shop.pb.gz)" ]
	[ "$(value_of samples $file)" -eq "$(tool pprof-decode shop.pb.gz | sed 1d | wc -l)" ]
	[ "$(value_of coverage_first $file) $(value_of coverage_last $file)" = "2026-03-11T14:05:00Z 2026-03-11T14:25:00Z" ]
	[ "$(value_of url $file)" = "$STANDIN/key/$BATS_TEST_NUMBER/v2" ]
	for key in request_hash response_hash content_hash; do
		[[ $(value_of $key $file) =~ ^[0-9a-f]{32}$ ]]
	done
	# The same question brings the same bytes; a file that is there is kept.
	cp -r . ../again
	run query v2 "$SHOP" -o pprof --pprof-path shop.pb.gz
	[ "$status" -ne 0 ]
	has "shop.pb.gz"
	query v2 "$SHOP" -o pprof --pprof-path shop.pb.gz --pprof-overwrite
	diff -r . ../again
	query v2 "$SHOP" -o pprof --output shop.pb.gz
	diff -r . ../again
}

@test "a profile for a pipe or stdout is written there, without provenance; one for a folder is refused" {
	mkdir folder
	query v2 "$SHOP" -o pprof --pprof-path plain.pb.gz
	query v2 "$SHOP" -o pprof --output - | cmp - plain.pb.gz
	query v2 "$SHOP" -o pprof --pprof-path /dev/stdout | cmp - plain.pb.gz
	mkfifo pipe
	cat pipe >got &
	query v2 "$SHOP" -o pprof --output pipe
	wait $!
	cmp got plain.pb.gz
	[ -p pipe ]
	run query v2 "$SHOP" -o pprof --output folder
	[ "$status" -eq 4 ]
	has "cannot write 'folder': Is a directory"
	[ "$(echo *)" = "folder got pipe plain.pb.gz plain.pb.gz.tsv" ]
}

@test "credentials are in no provenance" {
	printf 'sesame\n' >token
	mkdir out
	query v2/auth "$SHOP" --token-file token -o pprof --pprof-path out/a.pb.gz
	PYROSCOPE_URL="http://user:sesame@${STANDIN#http://}/auth" tool pprof-fetch query "$SHOP" --profile-type $CPU "${HOUR[@]}" -o pprof --pprof-path out/b.pb.gz
	! grep -r sesame out
	[ "$(value_of url out/b.pb.gz.tsv)" = "$STANDIN/auth" ]
}

@test "the server's flame graph as JSON, numbers as the reference client prints them" {
	for mode in v2 dual v1; do
		query $mode "$SHOP" -o json >flame.json
		[ "$(jq -r .flamegraph.total flame.json)" -eq $(($(total "${incident[0]}" 2) + $(total "${incident[1]}" 2) + $(total "${incident[2]}" 2))) ]
		[ "$(jq -r '.flamegraph.names[0]' flame.json)" = total ]
	done
	query v2 "$SHOP" -o json --max-nodes 10 >few.json
	[ "$(jq -r .flamegraph.total few.json)" = "$(jq -r .flamegraph.total flame.json)" ]
	[ "$(jq '.flamegraph.names | length' few.json)" -lt 20 ]
}

@test "a cut export keeps its total" {
	query v2 "$SHOP" -o pprof --max-nodes 20 >few
	query v2 "$SHOP" -o pprof >all
	[ "$(total few)" = "$(total all)" ]
	[ "$(tool pprof-decode few | wc -l)" -lt 40 ]
	tool pprof-decode few | grep -q 'other'
}

@test "DOT: the server's where it makes one, else made here and said" {
	run --separate-stderr query v2 "$SHOP" -o dot
	status_is 0
	[ -z "$stderr" ]
	has 'N1 [label="'
	for mode in dual v1; do
		run --separate-stderr query $mode "$SHOP" -o dot
		status_is 0
		[[ $stderr == *"the graph is made here, from the exact profile"* ]]
		[[ $output == *"total 20.55s"* ]]
		run --separate-stderr query $mode "$SHOP" -o dot --max-nodes 5
		[ "$(grep -c 'id=n' <<<"$output")" -eq 5 ]
	done
}

@test "where the storages of a dual-mode server meet, every form answers" {
	for form in pprof tsv json dot; do
		run --separate-stderr fetch /dual query '{service_name="long"}' --profile-type $CPU -o $form \
			--from 2026-03-08T00:00:00Z --to 2026-03-08T12:00:00Z
		status_is 0
		[ -n "$output" ]
	done
}

@test "an old server: forms that it does not know are made here" {
	query v2 "$SHOP" -o pprof >want
	query old "$SHOP" -o pprof >got
	cmp <(stacks want) <(stacks got)
	cmp <(query v2 "$SHOP" -o tsv) <(query old "$SHOP" -o tsv)
	run --separate-stderr query old "$SHOP" -o dot
	status_is 0
	has "total 20.55s"
	[[ $stderr == *"the graph is made here"* ]]
}

@test "a file that may not grow: said, and nothing is left that is not whole" {
	run bash -c "ulimit -f 1; '$PP_BUILD/pprof-fetch' --url '$STANDIN' query '$SHOP' --profile-type $CPU ${HOUR[*]} -o pprof --output got"
	status_is 4
	has "File too large"
	[ -z "$(ls -A)" ]
	# The text is small enough; what it would stand beside is not.
	mkdir got
	run query v2 "$SHOP" -o pprof --output got --pprof-overwrite
	status_is 4
	[ "$(ls -A)" = got ]
	rmdir got
	run query v2 "$SHOP" -o pprof --output nowhere/got
	status_is 4
}

# ---- scopes ----

@test "one profile by its id: where the server obeys" {
	id=5a5a5a5a-0000-4000-8000-000000000004
	for form in "pprof --output got.pb" "json --output got.json"; do
		run query v2 "$SHOP" --profile-id $id -o $form
		status_is 0
	done
	[ "$(total got.pb)" = "$(total "${incident[0]}" 2)" ]
	[ "$(jq -r .flamegraph.total got.json)" = "$(total "${incident[0]}" 2)" ]
	run query dual "$SHOP" --profile-id $id --profile-id 5a5a5a5a-0000-4000-8000-000000000005 -o pprof --output got.pb
	status_is 0
	[ "$(total got.pb)" -eq $(($(total "${incident[0]}" 2) + $(total "${incident[1]}" 2))) ]
	[ "$(value_of scope got.pb.tsv)" != all ]
	# The proof: an id that nothing has, and the whole.
	requests /v2/ | grep -q 00000000-0000-4000-8000-000000000000
	run query v2 "$SHOP" --profile-id 5a5a5a5a-0000-4000-8000-00000000ffff -o pprof
	status_is 5
}

@test "v1 answers everything to a profile id: 6, and nothing is written" {
	for form in pprof json tsv dot; do
		run --separate-stderr query v1 "$SHOP" --profile-id 5a5a5a5a-0000-4000-8000-000000000004 -o $form
		status_is 6
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
	run query v1 "$SHOP" --profile-id 5a5a5a5a-0000-4000-8000-000000000004 -o pprof --output x.pb.gz
	status_is 6
	[ -z "$(ls)" ]
}

@test "spans and traces" {
	for mode in v2 dual v1; do
		query $mode '{service_name="traced"}' --span-id 00000000000000a1 -o pprof >got
		[ "$(total got)" = 10000000 ]
		query $mode '{service_name="traced"}' --span-id 00000000000000a1 --span-id 00000000000000a2 -o json >got
		[ "$(jq -r .flamegraph.total got)" = 30000000 ]
		run query $mode '{service_name="traced"}' --span-id 00000000000000ff -o pprof
		status_is 5
	done
	for mode in v2 dual; do
		query $mode '{service_name="traced"}' --trace-id 0000000000000000000000000000000b -o pprof >got
		[ "$(total got)" = 40000000 ]
	done
	run query v1 '{service_name="traced"}' --trace-id 0000000000000000000000000000000b -o pprof
	status_is 6
	has "trace_id_selector is only supported with the v2 query backend"
}

@test "stacks that begin so" {
	callers=(--stacktrace-selector 'main.(*load).run.func1' --stacktrace-selector 'main.(*load).work')
	tool pprof-merge "${incident[@]}" >merged
	want=$(stacks merged 2 | grep -P '\tmain\.\(\*load\)\.run\.func1[^;]*;main\.\(\*load\)\.work \(' | awk '{ s += $1 } END { printf "%.0f", s }')
	[ "$want" -gt 0 ]
	for mode in v2 dual v1; do
		query $mode "$SHOP" "${callers[@]}" -o pprof >got
		[ "$(total got)" = "$want" ]
		run query $mode "$SHOP" --stacktrace-selector main.nowhere -o pprof
		status_is 5
	done
	run query v2 "$SHOP" "${callers[@]}" -o json
	status_is 0
	run query v1 "$SHOP" "${callers[@]}" -o json
	status_is 6
}

@test "a server that knows no scopes at all is found out" {
	for scope in "--profile-id 5a5a5a5a-0000-4000-8000-000000000004" "--span-id 00000000000000a1" \
		"--trace-id 0000000000000000000000000000000a" "--stacktrace-selector main.main"; do
		for form in pprof json tsv dot; do
			run --separate-stderr query old '{service_name="traced"}' $scope -o $form
			status_is 6
			[ -z "$output" ]
		done
	done
}

@test "ids that are none, and scopes that do not go together, are not asked" {
	for words in "--profile-id x" "--span-id xyz" "--trace-id 12" "--span-id 00000000000000a1 --trace-id 0000000000000000000000000000000a"; do
		run query v2 "$SHOP" $words -o pprof
		status_is 2
	done
	[ -z "$(requests)" ]
}

@test "windows, types and forms that are mistakes are not asked" {
	run fetch /v2 query "$SHOP" --profile-type $CPU --from 2026-03-11T15:00:00Z --to 2026-03-11T14:00:00Z
	status_is 2
	run fetch /v2 query "$SHOP" --profile-type cpu "${HOUR[@]}"
	status_is 2
	run fetch /v2 query "$SHOP" "${HOUR[@]}"
	status_is 2
	run fetch /v2 query "$SHOP" --profile-type $CPU --from yesterday --to now
	status_is 2
	run fetch /v2 query "$SHOP" --profile-type $CPU --since 1h --from 2026-03-11T15:00:00Z
	status_is 2
	run query v2 "$SHOP" --pprof-path x.pb.gz
	status_is 2
	run query v2 ""
	status_is 2
	run query v2 --expr " "
	status_is 2
	[ -z "$(requests)" ]
}

@test "both kinds in one answer" {
	run --separate-stderr query v2 "$SHOP" --kind both -o json
	status_is 0
	[ "$(jq -r .profile.flamegraph.total <<<"$output")" = 20550000000 ]
	[ "$(jq '[.metrics.series[].points[].value] | add' <<<"$output")" = 20550000000 ]
	run --separate-stderr query v2 "$SHOP" --kind metrics --step 3600
	[ "$(sed 1d <<<"$output" | cut -f 4)" = 20550000000 ]
}

@test "tenants" {
	query v2/tenants '{service_name="theirs"}' --tenant team-a -o pprof >got
	[ "$(total got)" = 150000000 ]
	PYROSCOPE_TENANT=team-a query v2/tenants '{service_name="theirs"}' -o pprof >got
	[ "$(total got)" = 150000000 ]
	run query v2/tenants '{service_name="theirs"}' --tenant team-b -o pprof
	status_is 5
	run query v2/tenants '{service_name="theirs"}' -o pprof
	status_is 8
	has "no org id"
	run query v2/tenants '{service_name="theirs"}' --tenant a/b -o pprof
	status_is 8
	has "tenant ID 'a/b' contains unsupported character '/'"
}

@test "exactly the fields that are needed" {
	query v2 "$SHOP" -o pprof >got
	[ "$(requests SelectMergeProfile | cut -f 15)" = "{\"profileTypeID\": \"$CPU\", \"labelSelector\": \"{service_name=\\\\\"shop\\\\\"}\", \"start\": \"1773237600000\", \"end\": \"1773241200000\"}" ]
	[ "$(requests SelectMergeProfile | cut -f 5,8,12)" = "POST	application/proto	*/*;allow-utf8-labelnames=true" ]
}

@test "both kinds for people: the ranking, and the values over time below it" {
	run query v2 "$SHOP" --kind both -o table --step 600
	status_is 0
	has "Total: 20.55s"
	has "VALUE  TIME"
	run query v2 "$SHOP" --kind both -o tsv
	status_is 2
	has "--kind both needs -o json, table or markdown"
}
