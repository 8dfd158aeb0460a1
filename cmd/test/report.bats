#!/usr/bin/env bats
# rca-report: fields, formats, exits and refusals, on small cases made from folded stacks.

load helper

# profile FILE TIME_NS STACK COUNT...: CPU samples of 10 ms for ten seconds, left as records.tsv too.
profile() {
	local file=$1 time=$2
	shift 2
	printf '%s %s\n' "$@" | awk -v time="$time" '
		BEGIN { OFS = "\t" }
		{
			n = split($1, names, ";")
			ids = ""
			for (i = 1; i <= n; i++) {
				id++
				short = names[i]; sub(/.*\./, "", short)
				functions = functions "function\t" id - 1 "\t" id "\t" names[i] "\t\t/src/shop/" short ".go\t0\n"
				locations = locations "location\t" id - 1 "\t" id "\t0\t0x0\t0\n"
				lines = lines "line\t" id "\t0\t" id "\t0\t0\n"
				ids = id (ids ? "," ids : "")
			}
			samples = samples "sample\t" NR - 1 "\t" ids "\t" ($2 ? $2 "0000000" : 0) "\n"
		}
		END {
			print "#pprof-records", 1
			print "sample_type", 0, "cpu", "nanoseconds"
			print "profile", time, "10000000000", "cpu", "nanoseconds", "10000000", "", "", "", ""
			printf "%s", functions locations lines samples
		}' >records.tsv
	tool pprof-encode records.tsv >"$file"
}

# The usual work of a pod, with main.price costing $3 samples.
pod() {
	profile "$1" "$2" 'main.main;main.cart;main.price' "$3" 'main.main;main.cart;main.tax' $((200 + $4)) \
		'main.main;main.find;main.match;strings.ToLower' $((300 - $4)) 'main.main;main.find;main.rank' $((150 + $4)) \
		'main.main;main.find;main.page' $((180 - $4)) 'main.main;main.login' $((120 + $4))
}

# Two days apart, at 14:05 UTC.
BEFORE=1795529100000000000
DURING=1795615500000000000

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p case/baseline case/incident
	printf '%s\t%s\n' question 'Why is shop slow?' context test datasource_uid none service shop \
		lens process_cpu:cpu:nanoseconds:cpu:nanoseconds \
		incident_from 2026-11-25T14:00:00Z incident_to 2026-11-25T15:00:00Z incident_selector '{v="2"}' \
		baseline_from 2026-11-24T14:00:00Z baseline_to 2026-11-24T15:00:00Z baseline_selector '{v="1"}' \
		control 'same hour' >case/case.tsv
	printf 'side\tpod\twindow_s\trequests\t/cart\t/find\n' >case/load.tsv
	for i in 1 2 3; do
		pod case/baseline/p$i.cpu.pb.gz $BEFORE $((100 + i)) $i
		pod case/incident/p$i.cpu.pb.gz $DURING $((300 - i)) $((2 - i))
		printf 'baseline\tp%d\t10\t1000\t600\t400\nincident\tp%d\t10\t1000\t600\t400\n' $i $i >>case/load.tsv
	done
}

report() { tool rca-report "$@"; }

# field NAME: its line in $output.
field() {
	printf '%s\n' "$output" | grep "^$1: "
}

# names_all_fields: $output is the eighteen fields, in order.
names_all_fields() {
	[ "$(printf '%s\n' "$output" | sed 's/: .*//' | tr '\n' ,)" = \
		"Conclusion,Exit,Scope,Lens,Incident,Baseline,Control,Slice,Location,Cost,Share,Normalization,Mechanism,Evidence,Counterevidence,Confidence,Limitations,Next action," ]
}

# claims_nothing: neither as a conclusion nor by a word.
claims_nothing() {
	field Conclusion | grep -Eq '^Conclusion: (cost location|inconclusive) '
	! printf '%s\n' "$output" | grep -Eiq 'regress|suspected|established|times the cost|costs more| rose|increas|grew'
}

@test "a function that costs more is a suspected cause" {
	run report case
	status_is 0
	names_all_fields
	[[ $(field Conclusion) == "Conclusion: suspected cause — Why is shop slow? code: main.price: 2."*" times the cost per request "* ]]
	[[ $(field Exit) == "Exit: none — "* ]]
	is_scope="Scope: context test, datasource UID none, service shop"
	[ "$(field Scope)" = "$is_scope" ]
	[[ $(field Location) == "Location: main.price, by main.main > main.cart > main.price; file /src/shop/price.go, "* ]]
	[[ $(field Cost) == *"main.price self 8940000000 nanoseconds (8.94s) vs 3060000000 nanoseconds (3.06s), cumulative "* ]]
	[[ $(field Confidence) == "Confidence: medium — "* ]]
	[[ $(field Slice) == *"in 3 of 3 incident profiles"* ]]
}

@test "with a symptom that supports, and a mechanism, it is established; contradicted it is not" {
	for i in 1 2 3; do
		profile case/baseline/p$i.cpu.pb.gz $BEFORE 'main.main;main.price;strings.ToLower' $((100 + i)) 'main.main;main.a' 300 'main.main;main.b' $((200 + i))
		profile case/incident/p$i.cpu.pb.gz $DURING 'main.main;main.price;strings.ToLower' $((400 + i)) 'main.main;main.a' 300 'main.main;main.b' $((202 - i))
	done
	printf 'alert\tcart is slow\tsupports\thttp://alerts/1\n' >case/symptoms.tsv
	run report case
	[[ $(field Conclusion) == "Conclusion: established cause — "* ]]
	[[ $(field Mechanism) == "Mechanism: supported: the change is carried by strings.ToLower" ]]
	[[ $(field Evidence) == *"alert supports: cart is slow [http://alerts/1]"* ]]
	[[ $(field Confidence) == "Confidence: high — "* ]]
	[ "$(field 'Next action')" = "Next action: none" ]
	# Half of the incident was never collected.
	for i in 1 2 3; do printf 'coverage_steps\t200\ncoverage_covered\t120\n' >case/incident/p$i.cpu.pb.gz.tsv; done
	run report case
	[[ $(field Confidence) == "Confidence: medium — "*"collection has gaps"* ]]
	[[ $(field Incident) == *"the server has profiles of 60 % of the steps" ]]
	[[ $(field Limitations) == *"the server lacks profiles in 40 % of the steps of the incident, on average"* ]]
	printf 'coverage\tmost\n' >case/incident/p1.cpu.pb.gz.tsv
	run report case
	has "p1.cpu.pb.gz.tsv': no provenance: line 1: coverage is no number that makes sense: 'most'"
	rm case/incident/*.tsv
	printf 'log\tcart is as fast as ever\tcontradicts\t\n' >>case/symptoms.tsv
	run report case
	[[ $(field Conclusion) == "Conclusion: suspected cause — "* ]]
	[[ $(field Counterevidence) == "Counterevidence: log contradicts: cart is as fast as ever; "* ]]
}

@test "nothing changed is inconclusive, and says what could have been missed" {
	rm case/incident/*
	for i in 1 2 3; do pod case/incident/p$i.cpu.pb.gz $DURING $((102 - i)) $((1 - i)); done
	run report case
	names_all_fields
	[[ $(field Conclusion) == "Conclusion: inconclusive — "*"nothing rose beyond noise"* ]]
	[[ $(field Limitations) == *"could have been missed"* ]]
	[[ $(field Location) == "Location: unknown: "* ]]
}

@test "--exit-code is 1 for a regression, and only then" {
	run report --exit-code case
	status_is 1
	run report case
	status_is 0
	rm case/baseline/*
	run report --exit-code case
	status_is 0
}

@test "without a baseline: costs, and no claim" {
	rm -r case/baseline
	sed -i '/^question/d' case/case.tsv
	run report case
	status_is 0
	names_all_fields
	claims_nothing
	[[ $(field Conclusion) == "Conclusion: cost location — Most of the cost in the incident is charged to main.match;"* ]]
	[ "$(field Baseline)" = "Baseline: unavailable: no profile of the lens within the baseline window (no files); the window was 2026-11-24T14:00:00Z to 2026-11-24T15:00:00Z" ]
	[[ $(field Share) == *"baseline not measured"* ]]
}

@test "profiles outside the baseline window are no baseline" {
	sed -i 's/^baseline_\(from\|to\)\t2026-11-24/baseline_\1\t2026-11-23/' case/case.tsv
	run report case
	names_all_fields
	claims_nothing
	[[ $(field Baseline) == "Baseline: unavailable: no profile of the lens within the baseline window (3 outside the window)"* ]]
}

@test "a baseline of another sample type, another period type, or without samples is none" {
	for i in 1 2 3; do
		echo 'main.main;main.a 5' | tool pprof-encode - >case/baseline/p$i.cpu.pb.gz
	done
	run report case
	claims_nothing
	[[ $(field Baseline) == *"(3 of other kinds)"* ]]
	for i in 1 2 3; do
		pod case/baseline/p$i.cpu.pb.gz $BEFORE 100 $i
		sed "s/^profile.*/profile\t$BEFORE\t10000000000\twall\tnanoseconds\t10000000\t\t\t\t/" records.tsv | tool pprof-encode - >case/baseline/p$i.cpu.pb.gz
	done
	run report case
	claims_nothing
	[[ $(field Baseline) == *"(3 of another period type)"* ]]
	for i in 1 2 3; do
		profile case/baseline/p$i.cpu.pb.gz $((BEFORE + i)) 'main.main;main.a' 0
	done
	run report case
	names_all_fields
	claims_nothing
	[[ $(field Baseline) == "Baseline: unavailable: the baseline profiles hold no cost"* ]]
}

@test "exit C: both ranges, no claim" {
	sed -i 's/^incident_\(from\|to\)\t2026-11-25/incident_\1\t2026-11-28/' case/case.tsv
	run report case
	status_is 0
	names_all_fields
	claims_nothing
	[ "$(field Exit)" = "Exit: C — the incident is not covered: the window 2026-11-28T14:00:00Z to 2026-11-28T15:00:00Z has no overlap with the 3 incident profiles of the lens, which cover 2026-11-25T14:05:00Z to 2026-11-25T14:05:10Z" ]
	[ "$(field Location)" = "Location: not measured: exit C" ]
}

@test "partial overlap: what lies in the window counts, and the rest is said" {
	pod case/incident/p3.cpu.pb.gz $BEFORE 297 -1
	run report case
	[[ $(field Conclusion) == "Conclusion: suspected cause — "* ]]
	[[ $(field Incident) == *"observed: 2 profiles of the lens"*"1 outside the window" ]]
	[[ $(field Limitations) == *"1 incident profile outside the window left out"* ]]
}

@test "exit D: no incident profiles of the lens, or none with cost" {
	for i in 1 2 3; do echo 'a;b 1' | tool pprof-encode - >case/incident/p$i.cpu.pb.gz; done
	run report case
	names_all_fields
	claims_nothing
	[[ $(field Exit) == "Exit: D — no usable incident profiles: none is of the lens (3 of other kinds); "* ]]
	rm case/incident/*
	run report case
	[[ $(field Exit) == "Exit: D — no usable incident profiles: none is of the lens (no files); "* ]]
	rm -r case/incident
	run report case
	names_all_fields
	mkdir case/incident
	profile case/incident/p1.cpu.pb.gz $DURING 'main.main;main.a' 0
	run report case
	names_all_fields
	[[ $(field Exit) == "Exit: D — no usable incident profiles: the 1 profile of the lens hold no cost; "* ]]
}

@test "exits A and B as case.tsv says" {
	printf 'exit\tA\nexit_reason\tno access to the datasource\n' >>case/case.tsv
	run report case
	names_all_fields
	claims_nothing
	[ "$(field Exit)" = "Exit: A — profiling unavailable: no access to the datasource" ]
	sed -i 's/^exit\tA/exit\tB/' case/case.tsv
	run report case
	[ "$(field Exit)" = "Exit: B — no ingestion reported: no access to the datasource" ]
	sed -i 's/^exit\tB/exit\tC/' case/case.tsv
	run report case
	status_is 3
	has "case.tsv': line 13: exit is A, B or none"
}

@test "profiles without a time: coverage unknown, not an exit" {
	for i in 1 2 3; do pod case/incident/p$i.cpu.pb.gz 0 $((300 - i)) $((2 - i)); done
	run report case
	[[ $(field Exit) == "Exit: none — "* ]]
	[[ $(field Incident) == *"times unknown"* ]]
	[[ $(field Limitations) == *"3 incident profiles without a time: coverage unknown"* ]]
}

@test "copies of a profile are no replicates" {
	cp case/incident/p1.cpu.pb.gz case/incident/p2.cpu.pb.gz
	cp case/incident/p1.cpu.pb.gz case/incident/p3.cpu.pb.gz
	run report case
	[[ $(field Limitations) == *"2 incident profiles the same as another, left out"* ]]
	[[ $(field Confidence) == "Confidence: low — 3 against 1 profiles"* ]]
}

@test "without load.tsv what rose is mix or code, and inconclusive" {
	rm case/load.tsv
	run report --exit-code case
	status_is 0
	[[ $(field Conclusion) == "Conclusion: inconclusive — "*"mix or code"* ]]
	[[ $(field Normalization) == "Normalization: by what each value of the label handler served, estimated "*"no load.tsv" ]]
}

@test "formats: Markdown, TSV and JSON hold the same fields" {
	report case >text
	report --format tsv case >tsv
	[ "$(sed 1d tsv | cut -f 2)" = "$(sed 's/^[^:]*: //' text)" ]
	[ "$(head -n 1 tsv)" = "field${TAB}value" ]
	report --format markdown case >md
	[ "$(sed 's/^- \*\*\([^:]*\):\*\* .*/\1/' md)" = "$(sed 's/:.*//' text)" ]
	report --format json case >json
	command -v jq >/dev/null || skip "no jq"
	[ "$(jq -r 'keys_unsorted | join(" ")' json)" = "conclusion exit scope lens incident baseline control slice location cost share normalization mechanism evidence counterevidence confidence limitations next_action verdicts slices changed_share" ]
	[ "$(jq -r 'del(.verdicts, .slices, .changed_share) | .[]' json)" = "$(sed 's/^[^:]*: //' text)" ]
	[ "$(jq -r '.verdicts[0] | "\(.verdict) \(.location) \(.path)"' json)" = "code main.price main.main;main.cart;main.price" ]
}

@test "--output writes the file whole; nothing of the folder's place is in it" {
	report --output out.txt case
	report ./case/ | cmp - out.txt
	mv case elsewhere
	report elsewhere | cmp - out.txt
}

@test "a broken profile is status 3; --lenient goes on and names it" {
	printf 'broken' >case/incident/p2.cpu.pb.gz
	run report case
	status_is 3
	run report --lenient case
	status_is 0
	has "incident/p2.cpu.pb.gz could not be read"
}

@test "mistakes of the texts are named by file and line" {
	cp case/case.tsv keep
	printf 'lonely\n' >>case/case.tsv
	run report case
	status_is 3
	has "case/case.tsv': line 13: expected key and value"
	sed 's/^lens.*/lens\tcpu:nanoseconds/' keep >case/case.tsv
	run report case
	status_is 3
	has "line 5: lens: "
	sed 's/^incident_to.*/incident_to\tlater/' keep >case/case.tsv
	run report case
	status_is 3
	has "line 7: incident_to is not a time"
	cp keep case/case.tsv
	printf 'baseline\tp1\t10\tmany\t1\t1\n' >>case/load.tsv
	run report case
	status_is 3
	has "load.tsv': line 8: column 4: not a number: 'many'"
}

@test "no case folder, two of them, or none" {
	run report nowhere
	status_is 4
	run report case/case.tsv
	status_is 4
	mkdir empty
	run report empty
	status_is 3
	has "not a case folder"
	run report
	status_is 2
	run report case case
	status_is 2
}

@test "a case without case.tsv still fills every field" {
	rm case/case.tsv
	run report case
	status_is 0
	names_all_fields
	[[ $(field Scope) == "Scope: context unknown (not in case.tsv), "* ]]
	[[ $(field Lens) == *"taken from the first profile: case.tsv has no lens" ]]
}

@test "a control that changed alike weakens the conclusion; one that did not is said" {
	cp -r case/incident case/control
	sed -n 's/^incident/control/p' case/load.tsv >rows
	cat rows >>case/load.tsv
	run report case
	[[ $(field Control) == *"control/ holds 3 profiles of the lens, compared with the baseline: the same changed there "*"beyond the control is 1.00 times" ]]
	[[ $(field Counterevidence) == "Counterevidence: the control, which the incident spared, changed in the same way"* ]]
	[[ $(field Confidence) == "Confidence: low — "* ]]
}

@test "a provenance of other content counts for nothing, and a warning says so" {
	rm -r case
	cp -r "$DATA/cases/slow-login" case
	chmod -R u+w case
	printf 'content_hash\t%032d\n' 0 >case/incident/shop-1.cpu.pb.gz.tsv
	printf 'service\tshop\n' >case/incident/shop-2.cpu.pb.gz.tsv
	tool rca-report case >out 2>said
	[ "$(cat said)" = "rca-report: warning: 'case/incident/shop-1.cpu.pb.gz.tsv': the provenance of another file: its content_hash is not that of the profile" ]
	grep -q "provenance beside 1 of 6" out
}

@test "a pipe in a case folder is refused, not waited for" {
	mkfifo case/symptoms.tsv
	run timeout 10 "$PP_BUILD/rca-report" case
	[ "$status" -eq 3 ]
	has "rca-report: 'case/symptoms.tsv': not a regular file"
}

@test "no number of threads changes a byte of the report" {
	for threads in 1 4; do
		tool rca-report --threads $threads "$DATA/cases/slow-login" >"$BATS_TEST_TMPDIR/report$threads"
	done
	cmp "$BATS_TEST_TMPDIR/report1" "$BATS_TEST_TMPDIR/report4"
}

@test "investigate.mk: names with blanks and signs, and nothing is made again but for other content" {
	local folder="a case's \$(touch evil) %=#: folder"
	mv case "$folder"
	mv "$folder/incident/p1.cpu.pb.gz" "$folder/incident/p1 of: #1 \$x 'so'.cpu.pb.gz"
	investigate() { env -u PYROSCOPE_URL -u GRAFANA_SERVER make -s -f "$ROOT/scripts/investigate.mk" "CASE=$folder" BIN="$PP_BUILD"; }
	run investigate
	status_is 0
	has "Conclusion: "
	[ ! -e evil ] && [ ! -e "$folder/evil" ]
	[ "$(sed 1d "$folder/diff.tsv" | wc -l)" -gt 1 ]
	grep -q "	incident/p1 of: #1 " "$folder/manifest.tsv"
	[ "$(cut -f 2 "$folder/manifest.tsv" | grep -c '^incident/.*gz$')" -eq 3 ]
	local was
	was=$(ls -i "$folder/report.txt")
	touch "$folder"/incident/*
	run investigate
	status_is 0
	[ "$(ls -i "$folder/report.txt")" = "$was" ]
	# Other content is another report.
	cp "$folder/baseline/p1.cpu.pb.gz" "$folder/incident/p2.cpu.pb.gz"
	run investigate
	status_is 0
	[ "$(ls -i "$folder/report.txt")" != "$was" ]
}
