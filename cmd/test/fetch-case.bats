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

# case_of SERVICE [LENS]: case.tsv, both sides of the service, in the folder "case".
case_of() {
	mkdir -p case
	printf '%s\t%s\n' question "Why does $1 need more?" service "$1" lens "${2:-$CPU}" \
		incident_from 2026-03-11T14:00:00Z incident_to 2026-03-11T15:00:00Z incident_selector "{service_name=\"$1\"}" \
		baseline_from 2026-03-10T14:00:00Z baseline_to 2026-03-10T15:00:00Z baseline_selector "{service_name=\"$1\"}" >case/case.tsv
}
profiles() { (cd case && ls */*.gz 2>/dev/null); }
cpu_of() { # cpu_of FILE: CPU time by stack
	tool pprof-decode --lines "$1" | awk -F '\t' 'NR > 1 { sum[$NF] += $2 } END { for (s in sum) printf "%.0f\t%s\n", sum[s], s }' | sort
}

@test "a profile a replica and side, with its counts, as it was pushed" {
	for mode in v2 dual v1; do
		rm -rf case
		case_of shop
		fetch /$mode case case
		[ "$(profiles)" = "baseline/shop-1.cpu.pb.gz
baseline/shop-2.cpu.pb.gz
baseline/shop-3.cpu.pb.gz
incident/shop-1.cpu.pb.gz
incident/shop-2.cpu.pb.gz
incident/shop-3.cpu.pb.gz" ]
		for file in $(profiles); do
			cmp <(cpu_of case/$file) <(cpu_of "$DATA/cases/slow-login/$file")
			[ "$(value_of content_hash case/$file.tsv)" != "" ]
			[ "$(value_of total case/$file.tsv)" = "$(total case/$file 2)" ]
			[ "$(value_of count_total case/$file.tsv)" = "$(total case/$file 1)" ]
			[ "$(value_of period case/$file.tsv)" = 10000000 ]
		done
		[ "$(value_of incident_replicas_fetched case/fetch.tsv)" = 3 ]
	done
}

@test "what was fetched is compared and reported as the folder that it came from" {
	cp -r "$DATA/cases/slow-login" case
	chmod -R u+w case
	rm -r case/baseline case/incident
	fetch /v2 case case --keep-label endpoint
	tool rca-report case >got
	tool rca-report "$DATA/cases/slow-login" >want
	for field in Conclusion Location Mechanism; do
		[ "$(grep "^$field: " got)" = "$(grep "^$field: " want)" ]
	done
}

@test "what is there is not fetched again" {
	case_of shop
	fetch /v2 case case
	cp -r case before
	sleep 0.01
	mark=$(requests /SelectMergeProfile | wc -l)
	fetch /v2 case case
	[ "$(requests /SelectMergeProfile | wc -l)" -eq $mark ]
	diff -r before case
}

@test "what is there and is not what it says is fetched again" {
	case_of shop
	fetch /v2 case case
	cp -r case before
	printf 'x' >>case/incident/shop-1.cpu.pb.gz
	rm case/incident/shop-2.cpu.pb.gz.tsv
	rm case/baseline/shop-1.cpu.pb.gz
	sed -i 's/^to\t.*/to\t2026-03-10T14:30:00Z/' case/baseline/shop-2.cpu.pb.gz.tsv
	: >case/baseline/shop-3.cpu.pb.gz
	mark=$(requests /SelectMergeProfile | wc -l)
	fetch /v2 case case
	[ "$(requests /SelectMergeProfile | wc -l)" -eq $((mark + 10)) ]
	diff -r before case
}

@test "killed half-way and begun again: the bytes of an undisturbed run" {
	case_of fleet
	prefix=/v2/fault/slow,ms=60,on=SelectMergeProfile,times=30
	# Not through a function: it is the tool that is to be killed.
	${PP_RUN:-} "$PP_BUILD/pprof-fetch" --url "$STANDIN/key/$BATS_TEST_NUMBER$prefix" --parallel 2 case case >said 2>&1 3>&- &
	pid=$!
	for i in $(seq 1 400); do
		[ "$(profiles | wc -l)" -lt 4 ] || break
		sleep 0.01
	done
	kill -9 $pid
	wait $pid || true
	n=$(profiles | wc -l)
	[ $n -ge 4 ]
	[ $n -lt 24 ]
	mark=$(requests /SelectMergeProfile | wc -l)
	fetch $prefix case case
	[ $(($(requests /SelectMergeProfile | wc -l) - mark)) -eq $((2 * (24 - n))) ]
	mkdir again
	cp case/case.tsv again
	fetch $prefix case again
	diff -r again case
}

@test "many at once over one pool of connections, no more than asked for" {
	case_of fleet
	fetch /v2/fault/slow,ms=30,on=SelectMergeProfile --parallel 5 case case
	[ "$(profiles | wc -l)" -eq 24 ]
	[ "$(requests /SelectMergeProfile | wc -l)" -eq 48 ]
	[ "$(requests | cut -f 4 | sort -n | tail -n 1)" -eq 5 ]
	[ "$(requests | cut -f 3 | sort -u | wc -l)" -le 5 ]
}

@test "one replica fails: said, the others stay, and the next run gets it" {
	case_of shop
	run fetch /v2/fault/500,on=shop-2,times=2 case case
	status_is 7
	has "disk on fire"
	[ "$(profiles | wc -l)" -ge 4 ]
	[ -z "$(find case -name '*.partial')" ]
	run fetch /v2/fault/500,on=shop-2,times=2 case case
	status_is 0
	[ "$(profiles | wc -l)" -eq 6 ]
}

@test "replicas by another label, and not more than allowed" {
	case_of shop
	run fetch /v2 case case --by endpoint
	status_is 0
	[ "$(value_of incident_replica_label case/fetch.tsv)" = endpoint ]
	[ "$(for f in case/incident/*.gz; do total $f 2; done | awk '{ s += $1 } END { printf "%.0f", s }')" = 20550000000 ]
	! ls case/incident | grep -q '[/ ]'
	rm -rf case
	case_of fleet
	run fetch /v2 case case --max-replicas 3
	status_is 0
	[ "$(profiles | wc -l)" -eq 6 ]
	has "12"
	[ "$(value_of incident_replicas case/fetch.tsv) $(value_of incident_replicas_fetched case/fetch.tsv)" = "12 3" ]
	run fetch /v2 case case --by colour
	status_is 0
	has "no series has the label 'colour'"
}

@test "slices of time: together they are the whole" {
	case_of long
	sed -i 's/incident_from.*/incident_from\t2026-03-08T00:00:00Z/; s/incident_to.*/incident_to\t2026-03-09T18:00:00Z/' case/case.tsv
	sed -i 's/baseline_from.*/baseline_from\t2026-03-10T00:00:00Z/; s/baseline_to.*/baseline_to\t2026-03-11T00:00:00Z/' case/case.tsv
	for mode in v2 v1 dual; do
		rm -rf case/incident case/baseline
		run fetch /$mode case case --slices 4
		status_is 0
		[ "$(ls case/incident/*.gz | wc -l)" -eq 4 ]
		[ "$(for f in case/incident/*.gz; do total $f 2; done | awk '{ s += $1 } END { print s }')" = 255 ]
		[ "$(for f in case/baseline/*.gz; do total $f 2; done | awk '{ s += $1 } END { print s }')" = 7936 ]
	done
}

@test "a label of the samples is put back, and nothing is lost" {
	case_of shop
	fetch /v2 case case --keep-label endpoint
	for file in $(profiles); do
		[ "$(total case/$file 2)" = "$(total "$DATA/cases/slow-login/$file" 2)" ]
		by_endpoint() {
			tool pprof-decode "$1" | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "label:endpoint") c = i; next }
				{ sum[$c] += $2 } END { for (e in sum) printf "%s\t%.0f\n", e, sum[e] }' | sort
		}
		cmp <(by_endpoint case/$file) <(by_endpoint "$DATA/cases/slow-login/$file")
	done
}

@test "a control" {
	case_of shop
	printf 'control_from\t2026-03-11T14:00:00Z\ncontrol_to\t2026-03-11T15:00:00Z\ncontrol_selector\t{service_name="quiet"}\n' >>case/case.tsv
	fetch /v2 case case
	[ "$(ls case/control/*.gz | wc -l)" -eq 3 ]
	cmp <(cpu_of case/control/shop-1.cpu.pb.gz) <(cpu_of "$DATA/cases/no-change/incident/shop-1.cpu.pb.gz")
}

@test "other lenses, with their counts or without" {
	for lens in "heap $HEAP inuse_objects" "lock mutex:delay:nanoseconds:contentions:count contentions"; do
		set -- $lens
		rm -rf case
		case_of $1 $2
		run fetch /v2 case case
		status_is 0
		[ "$(value_of count_type case/incident/*.tsv | cut -d : -f 2)" = $3 ]
		[ "$(tool pprof-decode case/incident/*.gz | head -n 1 | cut -d : -f 1)" = $3 ]
	done
	rm -rf case
	case_of shop
	fetch /v2 case case --no-counts
	[ "$(tool pprof-decode case/incident/shop-1.cpu.pb.gz | head -n 1)" = "cpu:nanoseconds	stack" ]
}

@test "exits of the report: no access, nothing ingested, outside of the data, nothing there" {
	case_of shop
	run fetch /fault/403 case case
	status_is 8
	[ "$(value_of exit case/fetch.tsv)" = A ]
	run fetch /v2/tenants case case --tenant nobody
	status_is 5
	[ "$(value_of exit case/fetch.tsv)" = B ]
	sed -i 's/2026-03-11/2027-03-11/' case/case.tsv
	run fetch /v2 case case
	status_is 5
	[ "$(value_of exit case/fetch.tsv)" = C ]
	case_of nobody
	for mode in v2 dual v1; do
		run fetch /$mode case case
		status_is 5
		[ "$(value_of exit case/fetch.tsv)" = D ]
	done
	[ -z "$(profiles)" ]
}

@test "a baseline without profiles is only said" {
	case_of shop
	sed -i 's/^\(baseline_[ft][a-z]*\t\).*T\(.*\)/\12026-03-11T1\2/; s/^\(baseline_from\t\).*/\12026-03-11T16:10:00Z/; s/^\(baseline_to\t\).*/\12026-03-11T16:50:00Z/' case/case.tsv
	run fetch /v2 case case
	status_is 0
	has baseline
	[ "$(profiles | cut -d / -f 1 | sort -u)" = incident ]
}

@test "hostile names of replicas stay in the folder" {
	mkdir store
	cd store
	for name in ../../evil /etc/evil ..  . 'a b' 'x;y' ; do
		printf '%s\t2026-03-11T14:05:00Z\tprocess_cpu\todd\t%s\n' "$DATA/cpu.pb.gz" "$name"
	done >rows
	{ printf 'file\ttime\t__name__\tservice_name\tpod\n'; cat rows; } >store.tsv
	"$PP_BUILD/cmd/test/standin/standin" store.tsv >url 3>&- &
	server=$!
	cd ..
	while [ ! -s store/url ]; do sleep 0.02; done
	case_of odd
	run tool pprof-fetch --url "$(cat store/url)" case case
	kill $server
	[ -z "$(find "$BATS_TEST_TMPDIR" -name '*evil*' ! -path '*/here/case/incident/*')" ]
	[ "$(ls case/incident/*.gz | wc -l)" -eq 6 ]
}

@test "from a case.tsv to the report, and nothing is made again" {
	case_of shop
	cp "$DATA/cases/slow-login/load.tsv" case
	investigate() {
		make -s -f "$ROOT/scripts/investigate.mk" CASE=case BIN="$PP_BUILD" URL="$STANDIN/key/$BATS_TEST_NUMBER/v2" FETCH='--keep-label endpoint'
	}
	run investigate
	status_is 0
	has "main.(*shop).login"
	[ "$(sed 1d case/diff.tsv | wc -l)" -gt 10 ]
	[ "$(jq -r .exit case/report.json)" != null ]
	cp -r case before
	mark=$(requests | wc -l)
	run investigate
	status_is 0
	[ "$(requests | wc -l)" -eq $mark ]
	diff -r before case
	rm -r case/*/ case/*.txt case/*.md case/*.json case/diff.tsv case/fetch.tsv case/manifest.tsv
	run investigate
	diff -r before case
}

@test "an investigation without access has its report all the same" {
	case_of shop
	run make -s -f "$ROOT/scripts/investigate.mk" CASE=case BIN="$PP_BUILD" URL="$STANDIN/fault/403"
	status_is 0
	grep -q '^Exit: A' case/report.txt
	run make -s -f "$ROOT/scripts/investigate.mk" CASE=case BIN="$PP_BUILD" URL="$STANDIN/fault/500"
	[ "$status" -ne 0 ]
}

@test "through Grafana, with its credentials" {
	case_of shop
	GRAFANA_SERVER=$STANDIN/auth GRAFANA_TOKEN=sesame run tool pprof-fetch -d pyro-uid case case
	status_is 0
	[ "$(profiles | wc -l)" -eq 6 ]
	! grep -rq sesame case
	[ "$(value_of datasource_uid case/incident/shop-1.cpu.pb.gz.tsv)$(value_of datasource case/incident/shop-1.cpu.pb.gz.tsv)" = pyro-uid ]
}

@test "a folder that is no case, and mistakes" {
	run fetch /v2 case nowhere
	[ "$status" -ne 0 ]
	mkdir case
	run fetch /v2 case case
	[ "$status" -ne 0 ]
	case_of shop
	grep -v lens case/case.tsv >x
	mv x case/case.tsv
	run fetch /v2 case case
	[ "$status" -ne 0 ]
	[ -z "$(requests /SelectMergeProfile)" ]
}
