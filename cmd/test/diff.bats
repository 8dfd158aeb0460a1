# pprof-diff: what changed, as rows, words, JSON or a profile.
load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	records=$ROOT/scripts/make-records
	edge=$ROOT/../shared/corpus/edge
	printf 'main;foo 100\nmain;bar 50\nmain;old 30\n' | "$records" >a.tsv
	printf 'main;foo 100\nmain;bar 90\nmain;fresh 20\n' | "$records" time=1700000900000000000 >b.tsv
}

# wants_shared: skips where there is no ../shared.
wants_shared() {
	[ -e "$edge/EXPECT.tsv" ] || skip "no ../shared"
}

first_columns=baseline_flat${TAB}incident_flat${TAB}delta_flat${TAB}baseline_cum${TAB}incident_cum${TAB}delta_cum${TAB}q_flat${TAB}q_cum${TAB}name

later_columns=delta_flat_low${TAB}delta_flat_high${TAB}delta_cum_low${TAB}delta_cum_high${TAB}mdc_flat${TAB}mdc_cum${TAB}beyond_flat_ratio${TAB}beyond_flat_low${TAB}beyond_flat_high${TAB}q_beyond_flat${TAB}beyond_cum_ratio${TAB}beyond_cum_low${TAB}beyond_cum_high${TAB}q_beyond_cum${TAB}other_name
no_control=${TAB}${TAB}${TAB}${TAB}${TAB}${TAB}${TAB}${TAB}${TAB}

@test "columns stand in their promised order, the largest change first" {
	run tool pprof-diff a.tsv b.tsv
	status_is 0
	is "$first_columns${TAB}state${TAB}baseline_flat_share${TAB}incident_flat_share${TAB}baseline_cum_share${TAB}incident_cum_share${TAB}flat_ratio${TAB}flat_ratio_low${TAB}flat_ratio_high${TAB}cum_ratio${TAB}cum_ratio_low${TAB}cum_ratio_high${TAB}baseline_flat_samples${TAB}incident_flat_samples${TAB}baseline_cum_samples${TAB}incident_cum_samples${TAB}p_flat${TAB}p_cum${TAB}file${TAB}line${TAB}mapping${TAB}address${TAB}$later_columns
500000000${TAB}900000000${TAB}400000000${TAB}500000000${TAB}900000000${TAB}400000000${TAB}0.00121748${TAB}0.00152185${TAB}bar${TAB}common${TAB}0.277778${TAB}0.428571${TAB}0.277778${TAB}0.428571${TAB}1.8${TAB}1.26012${TAB}2.59692${TAB}1.8${TAB}1.26012${TAB}2.59692${TAB}50${TAB}90${TAB}50${TAB}90${TAB}0.000913113${TAB}0.000913113${TAB}/src/bar.go${TAB}${TAB}${TAB}${TAB}167440000${TAB}642055000${TAB}167440000${TAB}642055000${TAB}0.635729${TAB}0.635729$no_control
300000000${TAB}0${TAB}-300000000${TAB}300000000${TAB}0${TAB}-300000000${TAB}8.3819e-09${TAB}9.31323e-09${TAB}old${TAB}gone${TAB}0.166667${TAB}0${TAB}0.166667${TAB}0${TAB}0${TAB}0${TAB}0.130842${TAB}0${TAB}0${TAB}0.130842${TAB}30${TAB}0${TAB}30${TAB}0${TAB}1.86265e-09${TAB}1.86265e-09${TAB}/src/old.go${TAB}${TAB}${TAB}${TAB}-434939000${TAB}-182499000${TAB}-434939000${TAB}-182499000${TAB}53.2924${TAB}53.2924$no_control
0${TAB}200000000${TAB}200000000${TAB}0${TAB}200000000${TAB}200000000${TAB}3.8147e-06${TAB}4.76837e-06${TAB}fresh${TAB}new${TAB}0${TAB}0.0952381${TAB}0${TAB}0.0952381${TAB}${TAB}4.93706${TAB}${TAB}${TAB}4.93706${TAB}${TAB}0${TAB}20${TAB}0${TAB}20${TAB}1.90735e-06${TAB}1.90735e-06${TAB}/src/fresh.go${TAB}${TAB}${TAB}${TAB}95678500${TAB}316048000${TAB}95678500${TAB}316048000${TAB}54.1505${TAB}54.1505$no_control
0${TAB}0${TAB}0${TAB}1800000000${TAB}2100000000${TAB}300000000${TAB}${TAB}0.177347${TAB}main${TAB}common${TAB}0${TAB}0${TAB}1${TAB}1${TAB}${TAB}${TAB}${TAB}1.16667${TAB}0.951491${TAB}1.43169${TAB}0${TAB}0${TAB}180${TAB}210${TAB}${TAB}0.141878${TAB}/src/main.go${TAB}${TAB}${TAB}${TAB}${TAB}${TAB}-89035300${TAB}691633000${TAB}${TAB}0.328702$no_control"
}

@test "--all prints unchanged rows, --limit the first ones" {
	run tool pprof-diff --all a.tsv b.tsv
	[ "${#lines[@]}" -eq 6 ]
	run tool pprof-diff --all --limit 1 a.tsv b.tsv
	[ "${#lines[@]}" -eq 2 ]
}

@test "a profile does not differ from itself" {
	for normalize in raw duration total robust robust_median; do
		run tool pprof-diff --exit-code --normalize $normalize a.tsv a.tsv
		status_is 0
		[ "${#lines[@]}" -eq 1 ]
	done
}

@test "words for people say what was compared and what it could not see" {
	run tool pprof-diff --format table a.tsv b.tsv
	status_is 0
	has 'Compared: cpu in nanoseconds by frames, baseline against incident, 1 against 1 profiles'
	has 'Normalised by: nothing (raw)'
	has 'cpu rose from 1.80s to 2.10s, by +300ms (+16.67% of the baseline; 95% interval -89.04ms to +691.63ms) as measured. 3 of 5 frames changed beyond noise (q < 0.05), first bar: flat +400ms (+80.00% of its own baseline; 95% interval +167.44ms to +642.05ms).'
	has 'With one profile a side nothing tells how much instances differ: three or more a side would.'
	has 'each normalisation multiplies with: duration '
	has 'Total: baseline 1.80s, incident 2.10s, change +300ms (+16.67%)'
	has 'Samples: 180 and 210 samples'
	has 'sampling noise only (no replicate variance is modelled)'
	has 'Warning replicates: 1 against 1 profiles'
	has 'Verdict: '
	has 'Rows: 4 of 5; unchanged ones need --all'
}

@test "a uniform change leaves the shape" {
	printf 'main;foo 200\nmain;bar 100\nmain;old 60\n' | "$records" >double.tsv
	run tool pprof-diff --format table --normalize total a.tsv double.tsv
	status_is 0
	has "No change: the shape is the same; the total as measured is 2.00 times the baseline's"
	run tool pprof-diff --exit-code a.tsv double.tsv
	status_is 1
}

@test "a robust normalisation leaves alone what did not change" {
	printf 'main;foo 100\nmain;bar 50\n' | "$records" >small.tsv
	printf 'main;foo 100\nmain;bar 80\nmain;fresh 20\n' | "$records" >grown.tsv
	for normalize in robust total; do
		tool pprof-diff --all --normalize $normalize small.tsv grown.tsv | awk -F '\t' '$9 == "foo" { print $3 != 0 }'
	done >moved
	run cat moved
	is "0
1"
}

@test "profiles of a side are replicates: what varies between them is noise" {
	for i in 1 2 3 4; do
		printf 'main;foo %d\nmain;bar %d\nmain;baz 500\n' $((300 + 130 * i)) $((1000 + i)) | "$records" >a$i.tsv
		printf 'main;foo %d\nmain;bar %d\nmain;baz 500\n' $((390 + 140 * i)) $((1400 + i)) | "$records" >b$i.tsv
	done
	tool pprof-diff --baseline a[1-4].tsv --incident b[1-4].tsv | awk -F '\t' 'NR > 1 && $7 != "" { print $9, $7 < 0.05 }' | sort >found
	run cat found
	is "bar 1
foo 0"
	run tool pprof-diff --format table --baseline a[1-4].tsv --incident b[1-4].tsv
	has 'Noise: replicates (how much profiles of a side differ, beyond sampling)'
	has 'profiles a side would find one of this size 4 times in 5'
	tool pprof-diff --format json --baseline a[1-4].tsv --incident b[1-4].tsv >out.json
	run jq -c '.noise_model | .model, (.flat | keys_unsorted)' out.json
	is '"replicates"
["dispersion","residual_df","prior_df","prior_scale"]'
}

# pods LETTER FOO BAR FRESH: four profiles of a group, LETTER1.tsv to LETTER4.tsv, that differ a little.
pods() {
	local i
	for i in 1 2 3 4; do
		printf 'main;foo %d\nmain;bar %d\nmain;fresh %d\nmain;a 300\nmain;b 410\nmain;c 280\n' \
			$(($2 + 7 * i)) $(($3 + 5 * i)) $(($4 * (10 + i) / 10)) | "$records" >"$1$i.tsv"
	done
}

@test "a control takes off what changed there too" {
	pods a 400 600 0
	pods b 800 1200 90
	pods c 800 610 0
	tool pprof-diff --baseline a[1-4].tsv --incident b[1-4].tsv --control c[1-4].tsv >out.tsv
	run awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$9 ~ /^(foo|bar|fresh)$/ { print $9, ($at["q_flat"] < 0.05), ($at["q_beyond_flat"] < 0.05), ($at["beyond_flat_low"] < 2 && $at["beyond_flat_high"] > 2) }' out.tsv
	is "bar 1 1 1
foo 1 0 0
fresh 1 1 0"
	pods d 400 1200 0
	pods e 800 1220 0
	tool pprof-diff --format json --limit 0 --baseline a[1-4].tsv --incident b[1-4].tsv --control e[1-4].tsv --control-baseline d[1-4].tsv >out.json
	run jq -c '.control.baseline, (.inputs | map(.side) | unique)' out.json
	is '"its own"
["baseline","control","control_baseline","incident"]'
	run tool pprof-diff --format table --baseline a[1-4].tsv --incident b[1-4].tsv --control e[1-4].tsv --control-baseline d[1-4].tsv
	has 'Control, against its own baseline: baseline'
	has 'Beyond the control: 3 frames changed beyond it, first bar: flat '
	run tool pprof-diff --control-baseline d1.tsv --baseline a1.tsv --incident b1.tsv
	status_is 2
	has '--control-baseline needs --control'
}

@test "paths of calls are tested from callers down" {
	{
		printf 'main;login;hash 400\nmain;login;parse 300\nmain;search;hash 500\n'
		printf 'main;search;rank 600\nmain;search 350\n'
	} | "$records" >c.tsv
	{
		printf 'main;login;hash 800\nmain;login;parse 300\nmain;search;hash 500\n'
		printf 'main;search;rank 300\nmain;search;sort 300\nmain;search 350\n'
	} | "$records" time=1700000900000000000 >d.tsv
	run tool pprof-diff --call-tree c.tsv d.tsv
	status_is 0
	[ "$(head -n 1 <<<"$output" | cut -f 1-13)" = "$first_columns${TAB}depth${TAB}q_within${TAB}deepest${TAB}state" ]
	[ "$(cut -f 6,9,10,12 <<<"$output")" = "delta_cum${TAB}name${TAB}depth${TAB}deepest
4000000000${TAB}main${TAB}0${TAB}
4000000000${TAB}login${TAB}1${TAB}
4000000000${TAB}hash${TAB}2${TAB}deepest
0${TAB}search${TAB}1${TAB}
-3000000000${TAB}rank${TAB}2${TAB}deepest
3000000000${TAB}sort${TAB}2${TAB}deepest" ]
	# All of them: what did not change has q of its own.
	run tool pprof-diff --call-tree --all c.tsv d.tsv
	[ "${#lines[@]}" -eq 9 ]
	awk -F '\t' '$9 == "search" && $11 < 0.05 && $8 > 0.05 { found++ } $9 == "hash" && $6 == 0 && $11 > 0.05 { found++ }
		END { exit found != 2 }' <<<"$output"
	run tool pprof-diff --call-tree --limit 2 c.tsv d.tsv
	[ "${#lines[@]}" -eq 3 ]

	run tool pprof-diff --call-tree --format table c.tsv d.tsv
	status_is 0
	has "Paths of calls: on or below 6 of the 8 with at least 10 samples something changed; * marks the deepest that did: 3"
	has "  *   hash"
	run tool pprof-diff --call-tree --format json c.tsv d.tsv
	[ "$(jq -r '[.call_tree[] | select(.deepest == "deepest") | .name] | join(" ")' <<<"$output")" = "hash rank sort" ]
	[ "$(jq '.rows | length' <<<"$output")" -gt 3 ]
	run tool pprof-diff --call-tree --unit ms --limit 3 c.tsv d.tsv
	[ "$(cut -f 6,9 <<<"$output")" = "delta_cum:ms${TAB}name
4000${TAB}main
4000${TAB}login
4000${TAB}hash" ]
	run tool pprof-diff --call-tree --exit-code c.tsv d.tsv
	status_is 1

	run tool pprof-diff --call-tree c.tsv c.tsv
	[ "${#lines[@]}" -eq 1 ]
	run tool pprof-diff --call-tree --format table c.tsv c.tsv
	has "Paths of calls: no change on any of the 7 with at least 10 samples"
	# What is below that is in the cost of its callers.
	run tool pprof-diff --call-tree --min-samples 700 --all --format tsv c.tsv d.tsv
	[ "$(cut -f 1,2,4,5,9 <<<"$output")" = "baseline_flat${TAB}incident_flat${TAB}baseline_cum${TAB}incident_cum${TAB}name
0${TAB}0${TAB}21500000000${TAB}25500000000${TAB}main
0${TAB}0${TAB}7000000000${TAB}11000000000${TAB}login
4000000000${TAB}8000000000${TAB}4000000000${TAB}8000000000${TAB}hash
3500000000${TAB}3500000000${TAB}14500000000${TAB}14500000000${TAB}search
6000000000${TAB}3000000000${TAB}6000000000${TAB}3000000000${TAB}rank
5000000000${TAB}5000000000${TAB}5000000000${TAB}5000000000${TAB}hash" ]
	run tool pprof-diff --call-tree --control c.tsv --baseline c.tsv --incident d.tsv
	status_is 2
	run tool pprof-diff --call-tree --format pprof c.tsv d.tsv
	status_is 2
}

@test "--fail-over looks at the interval, not at the estimate" {
	pods a 400 600 0
	pods b 400 660 0
	tool pprof-diff --fail-over 5% --baseline a[1-4].tsv --incident b[1-4].tsv >out.tsv 2>err && status=0 || status=$?
	run awk -F '\t' '$9 == "bar" { print ($3 / $1 > 0.05), ($16 > 1 && $16 < 1.05), ($7 < 0.05) }' out.tsv
	is "1 1 1"
	[ "$status" -eq 0 ]
	pods b 400 900 0
	run tool pprof-diff --fail-over 5% --output out.tsv --baseline a[1-4].tsv --incident b[1-4].tsv
	status_is 1
	[[ $output == "pprof-diff: over 5%: 'bar': flat rose by 12s, at least 1"*"s, or +48."*"%, at least +"*"%"* ]]
	run tool pprof-diff --fail-over 60% --output out.tsv --baseline a[1-4].tsv --incident b[1-4].tsv
	status_is 0
	run tool pprof-diff --fail-over 10000ms --output out.tsv --baseline a[1-4].tsv --incident b[1-4].tsv
	status_is 1
	run tool pprof-diff --fail-over 13s --output out.tsv --baseline a[1-4].tsv --incident b[1-4].tsv
	status_is 0
	run tool pprof-diff --fail-over total:5% --output out.tsv --baseline a[1-4].tsv --incident b[1-4].tsv
	status_is 1
	has "over total:5%: 'cpu': the total rose by 12s"
	run tool pprof-diff --fail-over 5MB --output out.tsv --baseline a[1-4].tsv --incident b[1-4].tsv
	status_is 3
	has 'values are in nanoseconds'
	run tool pprof-diff --fail-over much a.tsv b.tsv
	status_is 2
	run tool pprof-diff --fail-over total:1% --normalize total a.tsv b.tsv
	status_is 2
}

@test "a side with next to nothing says so, without NaN" {
	printf 'main;foo 2\n' | "$records" >tiny.tsv
	for normalize in raw duration total robust; do
		run tool pprof-diff --format table --all --normalize $normalize a.tsv tiny.tsv
		status_is 0
		has 'The incident has only 2 samples, so little can be told.'
		! grep -qiw -e nan -e inf <<<"$output" || false
	done
	has 'Warning counts: 180 and 2 samples'
}

@test "no number of threads changes what is printed, nor what is said" {
	pods a 400 600 0
	pods b 400 660 0
	printf 'broken' >broken.tsv
	for threads in 1 2 7; do
		tool pprof-diff --threads $threads --format json --baseline a[1-4].tsv --incident b[1-4].tsv >out$threads
		tool pprof-diff --threads $threads --baseline a1.tsv broken.tsv missing.tsv --incident b[1-4].tsv >>out$threads 2>&1 &&
			status=0 || status=$?
		echo "$status" >>out$threads
	done
	cmp out1 out2
	cmp out1 out7
	run tail -n 1 out7
	is 3
}

@test "Markdown is a list and a table" {
	run tool pprof-diff --format markdown --limit 1 a.tsv b.tsv
	status_is 0
	has '- Compared: cpu'
	has '| 500ms | 900ms | +400ms | 500ms | 900ms | +400ms |'
}

@test "JSON holds verdicts, normalization, qualification, totals and rows" {
	tool pprof-diff --format json --normalize duration a.tsv b.tsv >out.json
	run jq -rc '[.sample_type, .unit, .by], (.verdicts[0] | keys_unsorted[0:5]), .normalization.method, (.normalization.factors | map(.method)),
		(.qualification.checks | map(.name)), .totals.normalized, (.rows | map(.name)), (.rows[0] | keys_unsorted[0:9] | join("\t")), (.inputs | map(.side))' out.json
	status_is 0
	is "[\"cpu\",\"nanoseconds\",\"frames\"]
[\"verdict\",\"share\",\"location\",\"mechanism\",\"path\"]
duration
[\"raw\",\"duration\",\"total\",\"exposure\",\"robust_tmm\",\"robust_median\"]
[\"sample_type\",\"unit\",\"period\",\"period_type\",\"durations\",\"replicates\",\"instances\",\"symbolization\",\"inline_frames\",\"coverage\",\"counts\",\"time_order\",\"negative_values\"]
{\"baseline\":1800000000,\"incident\":2100000000,\"delta\":300000000}
[\"bar\",\"old\",\"fresh\",\"main\"]
$first_columns
[\"baseline\",\"incident\"]"
}

@test "the difference as a profile keeps both sides apart" {
	tool pprof-diff --format pprof a.tsv b.tsv >diff.pb.gz
	run tool pprof-top --by functions diff.pb.gz
	status_is 0
	[[ $output == *"400000000${TAB}"*"${TAB}bar"* ]]
	[[ $output == *"-300000000${TAB}"*"${TAB}old"* ]]
	run tool pprof-decode diff.pb.gz
	has 'pprof::base'
	run tool pprof-diff --format pprof --normalize total a.tsv b.tsv
	status_is 2
}

@test "several profiles a side, folders and lists, in any order" {
	mkdir base incident
	cp a.tsv base/x.pb && cp b.tsv incident/x.pb
	"$records" label=pod:shop-2 <<<'main;foo 10' >base/y.pb
	"$records" label=pod:shop-2 <<<'main;foo 30' >incident/y.pb
	tool pprof-diff base incident >want.tsv
	tool pprof-diff --incident incident/y.pb incident/x.pb --baseline base/y.pb base/x.pb | cmp - want.tsv
	printf 'base/y.pb\nbase/x.pb\n' >list
	tool pprof-diff --baseline @list --incident incident | cmp - want.tsv
	run awk -F '\t' '$9 == "foo" { print $1, $2 }' want.tsv
	is '1100000000 1300000000'
}

@test "exposures come from load.tsv, by the pod in the file name or by side" {
	mkdir base incident
	cp a.tsv base/shop-1.cpu.pb && cp b.tsv incident/shop-1.cpu.pb
	printf 'side\tpod\trequests\nbaseline\tshop-1\t100\nincident\tshop-1\t300\n' >load.tsv
	tool pprof-diff --normalize exposure --load load.tsv base incident >by-pod.tsv
	tool pprof-diff --normalize exposure --load load.tsv a.tsv b.tsv | cmp - by-pod.tsv
	run awk -F '\t' '$9 == "foo" { print $1, $2 }' by-pod.tsv
	is '2000000000 666666667'
	printf 'side\tpod\trequests\nbaseline\tshop-1\t100\n' >load.tsv
	run tool pprof-diff --normalize exposure --load load.tsv base incident
	status_is 3
	has 'cannot normalise by exposure: no exposure is given for a profile'
	run tool pprof-diff --normalize exposure base incident
	status_is 2
	has 'needs --load'
}

@test "a case folder has both sides, its load and its lens" {
	cp -r "$DATA/cases/slow-login" case
	tool pprof-diff --normalize exposure --load case/load.tsv case/baseline case/incident >want.tsv
	tool pprof-diff --normalize exposure --case case | cmp - want.tsv
	cp "$DATA/heap.pb.gz" case/baseline/shop-1.heap.pb.gz
	cp "$DATA/heap.pb.gz" case/incident/shop-2.heap.pb.gz
	tool pprof-diff --normalize exposure --case case | cmp - want.tsv
	run tool pprof-diff --case case case/baseline
	status_is 2
	run tool pprof-diff --case missing
	status_is 4
	# As rca-report reads it: a sample type alone; by the file's name of two kinds that are alike inside; a mistake.
	sed -i 's/^lens.*/lens\tcpu/' case/case.tsv
	tool pprof-diff --normalize exposure --case case | cmp - want.tsv
	mkdir -p locks/baseline locks/incident
	printf 'lens\tmutex:delay:nanoseconds:contentions:count\n' >locks/case.tsv
	for side in baseline incident; do cp "$DATA/mutex.pb.gz" locks/$side/a.mutex.pb.gz; done
	tool pprof-merge "$DATA/mutex.pb.gz" "$DATA/mutex.pb.gz" >locks/incident/a.block.pb.gz
	run tool pprof-diff --exit-code --case locks
	status_is 0
	printf 'lens\tcpu:nanoseconds\n' >case/case.tsv
	run tool pprof-diff --case case
	status_is 3
	has "'case.tsv': line 1: lens: 'cpu:nanoseconds' is not name:type:unit:period type:period unit"
}

@test "verdicts name the cause first" {
	tool pprof-diff --format json --limit 0 --case "$DATA/cases/slow-login" >out.json
	run jq -r '.verdicts[0] | .verdict, .location, (.share > 0.9)' out.json
	is 'code
main.hashPassword
true'
	tool pprof-diff --format json --limit 0 --case "$DATA/cases/no-change" >out.json
	run jq -r '.verdicts | map(.verdict) | join(" ")' out.json
	is none
}

@test "what was not counted is not tested" {
	"$records" type=wall unit=nanoseconds period=0 <<<'main;foo 3' | sed '/^sample_type.0/d; s/^sample_type.1/sample_type\t0/; s/\t[0-9]*,0$/\t500/' >c.tsv
	sed 's/\t500$/\t900/' c.tsv >d.tsv
	run tool pprof-diff --exit-code c.tsv d.tsv
	status_is 1
	[ "$(cut -f 1-3,7-9 <<<"${lines[1]}")" = "500${TAB}900${TAB}400${TAB}${TAB}${TAB}foo" ]
	run tool pprof-diff --exit-code c.tsv c.tsv
	status_is 0
	run tool pprof-diff --format table c.tsv d.tsv
	has 'Warning counts: not measured, so nothing is tested'
}

@test "the sides' order in time is checked" {
	run tool pprof-diff --format table b.tsv a.tsv
	has 'Warning time_order: baseline from 2023-11-14T22:28:20Z, incident from 2023-11-14T22:13:20Z: the baseline is newer than the incident'
}

@test "what cannot be compared is refused by name" {
	"$records" type=wall <<<'main;foo 3' >wall.tsv
	run tool pprof-diff a.tsv wall.tsv
	status_is 3
	is "pprof-diff: 'wall.tsv': sample type wall/nanoseconds cannot be compared with cpu/nanoseconds of 'a.tsv'"
	"$records" </dev/null >empty.tsv
	run tool pprof-diff empty.tsv a.tsv
	status_is 3
	is "pprof-diff: no baseline: 'empty.tsv' has no samples"
	run tool pprof-diff --format pprof empty.tsv a.tsv
	status_is 3
	run tool pprof-diff --sample-type nothing a.tsv b.tsv
	status_is 2
}

@test "a side that is missing is a mistake" {
	for arguments in a.tsv 'a.tsv b.tsv a.tsv' '--baseline a.tsv' 'a.tsv --baseline a.tsv --incident b.tsv'; do
		# shellcheck disable=SC2086
		run tool pprof-diff $arguments
		status_is 2
	done
}

@test "edge cases" {
	wants_shared
	for by in frames functions filefunctions files lines mappings; do
		run tool pprof-diff --by $by --exit-code "$edge/base.pb.gz" "$edge/shift.pb.gz"
		status_is 0
		[ "${#lines[@]}" -eq 1 ]
	done
	run tool pprof-diff "$edge/onetype.pb.gz" "$edge/ok.pb.gz"
	status_is 3
	has 'samples/count'
	has 'cpu/nanoseconds'
	run tool pprof-diff "$edge/emptybase.pb.gz" "$edge/base.pb.gz"
	status_is 3
	has 'no baseline'
	tool pprof-diff "$edge/base.pb.gz" "$edge/src.pb.gz" | cut -f 3,9,10 >out
	run tail -n +2 out
	is "300000000${TAB}bar${TAB}common
200000000${TAB}newf${TAB}new
0${TAB}main.main${TAB}common"
}

@test "what a rebuild renamed is one row, and says so" {
	printf 'main.main;main.Run.func1;work 80\nmain.main;main.old;work 40\n' | "$records" >a.tsv
	printf 'main.main;main.Run.func2;work 90\nmain.main;main.young;work 44\n' | "$records" >b.tsv
	tool pprof-diff --by functions a.tsv b.tsv >out.tsv
	run awk -F '\t' -v OFS='\t' 'NR > 1 { print $4, $5, $9, $10, $45 }' out.tsv
	is "1200000000${TAB}1340000000${TAB}work${TAB}common${TAB}
0${TAB}440000000${TAB}main.young${TAB}renamed?${TAB}main.old
400000000${TAB}0${TAB}main.old${TAB}renamed?${TAB}main.young
1200000000${TAB}1340000000${TAB}main.main${TAB}common${TAB}
800000000${TAB}900000000${TAB}main.Run.func2${TAB}renamed${TAB}main.Run.func1"
	run tool pprof-diff --by functions --format table a.tsv b.tsv
	has 'Renamed: 1, joined by go-closure 1'
	has 'Renamed? main.old -> main.young (similarity 0.94, callees 1/1)'
	run tool pprof-diff --by functions --format json a.tsv b.tsv
	[ "$(jq -c '.identity.applied, [.renames[] | [.baseline_name, .incident_name, .joined, .rules, .names, .raw_cum.incident]]' <<<"$output")" = '{"go-closure":1}
[["main.Run.func1","main.Run.func2",true,["go-closure"],2,900000000],["main.old","main.young",false,[],2,440000000]]' ]
	run tool pprof-diff --by functions --fold-renamed a.tsv b.tsv
	[[ $output == *"${TAB}main.young${TAB}renamed${TAB}"*"${TAB}main.old"* ]]
}

@test "a control is found under the names of its own build" {
	printf 'main.main;main.Run.func1;work 80\nmain.main 90\n' | "$records" >a.tsv
	printf 'main.main;main.Run.func2;work 160\nmain.main 90\n' | "$records" >b.tsv
	printf 'main.main;main.Run.func1;work 160\nmain.main 90\n' | "$records" >not-deployed.tsv
	beyond() { # of work's closure: the ratio to the control's
		tool pprof-diff --by functions "$@" >out.tsv
		run awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			$at["name"] == "main.Run.func2" { printf "%s %s %.2f\n", $at["state"], $at["other_name"], $at["beyond_cum_ratio"] }' out.tsv
		status_is 0
	}
	beyond --baseline a.tsv --incident b.tsv --control not-deployed.tsv
	is "renamed main.Run.func1 1.00"
	# its own baseline; deployed like the incident; what did not change
	beyond --baseline a.tsv --incident b.tsv --control not-deployed.tsv --control-baseline a.tsv
	is "renamed main.Run.func1 1.00"
	beyond --baseline a.tsv --incident b.tsv --control b.tsv --control-baseline a.tsv
	is "renamed main.Run.func1 1.00"
	beyond --baseline a.tsv --incident b.tsv --control a.tsv --control-baseline a.tsv
	is "renamed main.Run.func1 1.99"
}

@test "the paragraph does not call new what may only have another name" {
	printf 'main.main;main.old 400\nmain.main;work 300\n' | "$records" >a.tsv
	printf 'main.main;main.young 440\nmain.main;work 300\n' | "$records" >b.tsv
	run tool pprof-diff --by functions --format table a.tsv b.tsv
	has 'first main.young: flat +4.40s (not in the baseline'
	has '), perhaps renamed from main.old. '
	[[ $output != *'(new'* ]]
	run tool pprof-diff --by functions --format table b.tsv a.tsv
	has 'first main.young: flat -4.40s (-100.00% of its own baseline'
	has '), perhaps renamed to main.old. '
	run tool pprof-diff --by functions --format table --no-fuzzy a.tsv b.tsv
	has 'first main.young: flat +4.40s (new'
	[[ $output != *perhaps* ]]
}

@test "names without a package, some of them gone and some new: no package has moved" {
	printf 'main;hash 400\nmain;sum 90\n' >a.folded
	printf 'main;hash 400\nmain;crc 90\n' >b.folded
	run tool pprof-diff --no-fuzzy a.folded b.folded
	status_is 0
	[ "$(cut -f 3,9,10 <<<"$output")" = "delta_flat${TAB}name${TAB}state
90${TAB}crc${TAB}new
-90${TAB}sum${TAB}gone" ]
}

@test "a package under another path changes nothing, and the rule says how often" {
	printf 'main.main;P.Serve;P.Load;work 80\nmain.main;P.Serve;P.Save;work 40\nmain.main;P.Serve;P/sub.New 9\nmain.main 50\n' >stacks
	sed 's,P,github.com/a/x,g' stacks | "$records" >a.tsv
	sed 's,P,github.com/b/x/v2,g' stacks | "$records" >b.tsv
	run tool pprof-diff --format json a.tsv b.tsv
	[ "$(jq -c '.identity.applied, .rows' <<<"$output")" = '{"package":4}
[]' ]
	run tool pprof-diff --rules -package --no-fuzzy a.tsv b.tsv
	has "github.com/b/x/v2.Serve${TAB}new"
	# both are there on both sides
	printf 'main.main;github.com/a/x.Stay 1\nmain.main;github.com/b/x/v2.Stay 1\n' >both
	sed 's,P,github.com/a/x,g' stacks | cat - both | "$records" >a.tsv
	sed 's,P,github.com/b/x/v2,g' stacks | cat - both | "$records" >b.tsv
	run tool pprof-diff --no-fuzzy a.tsv b.tsv
	has "github.com/b/x/v2.Serve${TAB}new"
}

@test "rules are chosen by name" {
	printf 'main.main;main.Run.func1;work 80\n' | "$records" >a.tsv
	printf 'main.main;main.Run.func2;work 80\n' | "$records" >b.tsv
	for rules in none hex,file -go-closure; do
		run tool pprof-diff --by functions --rules $rules --no-fuzzy a.tsv b.tsv
		status_is 0
		[[ $output == *"${TAB}main.Run.func2${TAB}new${TAB}"* ]]
	done
	for rules in all go-closure -hex; do
		run tool pprof-diff --by functions --rules $rules --no-fuzzy a.tsv b.tsv
		[ "${#lines[@]}" -eq 1 ]
	done
	run tool pprof-diff --rules magic a.tsv b.tsv
	status_is 2
	has "--rules: 'magic' is no rule"
}

@test "edge pairs: exchanged closures are renamed, moved lines and addresses are nothing" {
	wants_shared
	for normalize in raw duration total; do
		run tool pprof-diff --normalize $normalize "$edge/clo_a.pb.gz" "$edge/clo_b.pb.gz"
		status_is 0
		[ "${#lines[@]}" -eq 1 ]
		for by in frames functions filefunctions files lines mappings; do
			run tool pprof-diff --normalize $normalize --by $by "$edge/base.pb.gz" "$edge/shift.pb.gz"
			[ "${#lines[@]}" -eq 1 ]
		done
	done
	run tool pprof-diff --format json "$edge/clo_a.pb.gz" "$edge/clo_b.pb.gz"
	[ "$(jq -c '[.renames[] | [.baseline_name, .incident_name, .joined, .rules[0]]]' <<<"$output")" = \
		'[["main.Run.func1","main.Run.func2",true,"go-closure"],["main.Run.func2","main.Run.func1",true,"go-closure"]]' ]
}

@test "filters: both sides, those that matched nowhere are said once, what is left must be comparable" {
	cd "$BATS_TEST_TMPDIR"
	printf 'main;a;x 10\nmain;b;y 20\n' >before
	printf 'main;a;x 15\nmain;b;y 20\nmain;c;z 5\n' >after
	rows() { tool pprof-diff --all "$@" | sed 1d | cut -f 1,2,9; }
	run rows --focus '^[ac]$' --hide main before after
	is "10${TAB}15${TAB}x
0${TAB}5${TAB}z
0${TAB}0${TAB}a
0${TAB}0${TAB}c"
	run tool pprof-diff --tagfocus k=v before after
	status_is 3
	has "pprof-diff: no baseline: 'before' has no samples"
	run tool pprof-diff --ignore z --tagignore k=w --hide nothing before after
	[ "${lines[0]}" = "pprof-diff: warning: --hide matched nothing in any profile" ]
	[ "${lines[1]}" = "pprof-diff: warning: --tagignore matched nothing in any profile" ]
	[ "$(grep -c warning <<<"$output")" -eq 2 ]
	run tool pprof-diff --hide 'a(' before after
	status_is 2
	has "pprof-diff: 'before': "
}

@test "a difference as a profile: filters see what reports see" {
	cd "$BATS_TEST_TMPDIR"
	for side in 1 2; do
		printf 'main;work;malloc;page %d\n' $((side * 4)) | tool pprof-encode | tool pprof-decode --records |
			awk -F '\t' -v OFS='\t' '$1 == "profile" { $8 = "malloc" } { print }' | tool pprof-encode >drop$side
	done
	stacks() { tool pprof-diff --format pprof "$@" drop1 drop2 | tool pprof-decode | sed 1d | cut -f 1,3; }
	[ "$(stacks | sort)" = "-4${TAB}main;work;malloc;page
8${TAB}main;work;malloc;page" ]
	[ "$(stacks --focus work | sort)" = "-4${TAB}main;work
8${TAB}main;work" ]
	[ "$(stacks --all-frames --focus page | sort)" = "-4${TAB}main;work;malloc;page
8${TAB}main;work;malloc;page" ]
}

@test "--unit: rows in it, of a comparison and of its paths" {
	cd "$BATS_TEST_TMPDIR"
	printf 'cpu:milliseconds\tstack\n1500\ta;b\n20\ta\n' >before
	printf 'cpu:microseconds\tstack\n1750250\ta;b\n' >after
	rows() { tool pprof-diff "$@" before after | cut -f 1-3,6,9,31; }
	run rows --unit s
	is "baseline_flat:s${TAB}incident_flat:s${TAB}delta_flat:s${TAB}delta_cum:s${TAB}name${TAB}delta_flat_low:s
1.5${TAB}1.75025${TAB}0.25025${TAB}0.25025${TAB}b${TAB}
0.02${TAB}0${TAB}-0.02${TAB}0.23025${TAB}a${TAB}"
	run rows --unit minimum --limit 1
	[ "${lines[0]%%$TAB*}" = baseline_flat:s ]
	run bash -c "'$PP_BUILD/pprof-diff' --unit ms --call-tree before after | head -n 1 | cut -f 1-3"
	has baseline_flat:ms
	run bash -c "'$PP_BUILD/pprof-diff' --unit ms --format table before after | grep ' b  '"
	has "+250.25ms"
	run tool pprof-diff --unit MB before after
	status_is 0
	[ "${lines[0]}" = "pprof-diff: warning: --unit 'MB' is none for values in 'microseconds', which are shown in s: auto, minimum, ns, us, ms, s, hrs would be one" ]
	run tool pprof-diff --unit ms --format json before after
	status_is 2
}
