# For the tests of pprof-fetch: the stand-in server (cmd/test/standin) and what it serves.
#
# Services, all with namespace "test": shop, three pods before (v2.3.1, 10 March) and in (v2.4.0, 11 March) the slow
# login of testdata; quiet, three pods of which nothing happens; heap and lock, a profile each; traced, a pod
# with spans; long, a profile every six hours from 8 to 12 March, worth 1, 2, 4, … ns, so that a sum tells
# which are in it; fleet, twelve pods a side, each pair of which has the profiles of a pod of shop. Tenant team-a has one profile of a service "theirs".
load helper

CPU=process_cpu:cpu:nanoseconds:cpu:nanoseconds
SAMPLES=process_cpu:samples:count:cpu:nanoseconds
HEAP=memory:inuse_space:bytes:space:bytes
SHOP='{service_name="shop"}'
# The incident's hour of shop, and the hour of its baseline; an hour without anything.
HOUR=(--from 2026-03-11T14:00:00Z --to 2026-03-11T15:00:00Z)
BEFORE=(--from 2026-03-10T14:00:00Z --to 2026-03-10T15:00:00Z)
VOID=(--from 2026-03-11T16:10:00Z --to 2026-03-11T16:50:00Z)

# profile FILE: the samples view on stdin, with columns samples:count and cpu:nanoseconds, as a CPU profile.
cpu_profile() {
	tool pprof-encode | tool pprof-decode --records |
		sed 's/^profile\t.*/profile\t0\t0\tcpu\tnanoseconds\t10000000\tcpu\t\t\t/' | tool pprof-encode >"$1"
}

store_rows() { # store_rows SERVICE VERSION DAY FOLDER
	local pod
	for pod in 1 2 3; do
		printf '%s/shop-%s.cpu.pb.gz\t%sT14:%s5:00Z\t\tprocess_cpu\t%s\ttest\tshop-%s\t%s\n' \
			"$4" $pod "$3" $((pod - 1)) "$1" $pod "$2"
	done
}

fleet_rows() { # fleet_rows PODS: a side each on 10 and 11 March, all at 14:05
	local pod
	for pod in $(seq 1 "$1"); do
		printf '%s/cases/slow-login/%s/shop-%s.cpu.pb.gz\t2026-03-1%sT14:05:00Z\t\tprocess_cpu\tfleet\ttest\tpod-%02d\t%s\n' \
			"$DATA" baseline $((pod % 3 + 1)) 0 "$pod" v2.3.1 "$DATA" incident $((pod % 3 + 1)) 1 "$pod" v2.4.0
	done
}

# make_store FOLDER: the profiles that only the stand-in has, and store.tsv.
make_store() {
	local i=0 day hour
	printf 'samples:count\tcpu:nanoseconds\tlabel:span_id\tlabel:trace_id\tlabel:span_name\tstack\n%s\n' \
		"1${TAB}10000000${TAB}00000000000000a1${TAB}0000000000000000000000000000000a${TAB}GET /list${TAB}main.main;main.list
2${TAB}20000000${TAB}00000000000000a2${TAB}0000000000000000000000000000000a${TAB}GET /cart${TAB}main.main;main.cart
4${TAB}40000000${TAB}00000000000000b1${TAB}0000000000000000000000000000000b${TAB}GET /list${TAB}main.main;main.list
8${TAB}80000000${TAB}${TAB}${TAB}${TAB}main.main;main.idle" | cpu_profile "$1/traced.pb"
	printf 'file\ttime\ttenant\t__name__\tservice_name\tnamespace\tpod\tversion\n' >"$1/store.tsv"
	{
		store_rows shop v2.3.1 2026-03-10 "$DATA/cases/slow-login/baseline"
		store_rows shop v2.4.0 2026-03-11 "$DATA/cases/slow-login/incident"
		store_rows quiet v1 2026-03-11 "$DATA/cases/no-change/incident"
		printf '%s\t2026-03-11T14:05:00Z\t\t%s\t%s\ttest\t%s-1\tv1\n' "$DATA/heap.pb.gz" memory heap heap \
			"$DATA/mutex.pb.gz" mutex lock lock traced.pb process_cpu traced traced
		fleet_rows 12
		printf '%s\t2026-03-11T14:05:00Z\tteam-a\tprocess_cpu\ttheirs\ttest\tt-1\tv1\n' traced.pb
	} >>"$1/store.tsv"
	for day in 08 09 10 11 12; do
		for hour in 00 06 12 18; do
			[ $i -le 16 ] || break
			printf 'samples:count\tcpu:nanoseconds\tstack\n1\t%s\tmain.main;main.step%s\n' $((1 << i)) $i |
				cpu_profile "$1/long-$i.pb"
			printf 'long-%s.pb\t2026-03-%sT%s:00:00Z\t\tprocess_cpu\tlong\ttest\tlong-1\tv1\n' $i $day $hour >>"$1/store.tsv"
			i=$((i + 1))
		done
	done
}

# cannot WHY: for setup_file, where "skip" would be a failure: every test of the file is skipped by unless_cannot in setup.
cannot() {
	export CANNOT=$1
	return 1
}
unless_cannot() { [ -z "${CANNOT:-}" ] || skip "$CANNOT"; }

# start_standin [OPTION...]: for setup_file. $STANDIN is its address, $LOG its log; it ends with the test file.
start_standin() {
	[ -x "$PP_BUILD/pprof-fetch" ] && [ -x "$PP_BUILD/cmd/test/standin/standin" ] || cannot "built without libcurl" || return 0
	make_store "$BATS_FILE_TMPDIR"
	export LOG=$BATS_FILE_TMPDIR/log
	"$PP_BUILD/cmd/test/standin/standin" --log "$LOG" "$@" "$BATS_FILE_TMPDIR/store.tsv" >"$BATS_FILE_TMPDIR/url" 3>&- &
	STANDIN_PID=$!
	local tries=0
	until [ -s "$BATS_FILE_TMPDIR/url" ]; do
		sleep 0.02
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || return 1
	done
	STANDIN=$(cat "$BATS_FILE_TMPDIR/url")
	export STANDIN STANDIN_PID
	unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy NO_PROXY no_proxy
	unset PYROSCOPE_URL PYROSCOPE_TOKEN PYROSCOPE_USER PYROSCOPE_PASSWORD PYROSCOPE_TENANT
	unset GRAFANA_SERVER GRAFANA_TOKEN GRAFANA_USER GRAFANA_PASSWORD
}

stop_standin() {
	[ -z "${STANDIN_PID:-}" ] || kill "$STANDIN_PID" 2>/dev/null || true
}

# fetch PREFIX ARGUMENT...: pprof-fetch against the stand-in in this manner (see standin/manner.h). Its
# requests, and no others, are in the log behind the address's key.
fetch() {
	local prefix=$1
	shift
	tool pprof-fetch --url "$STANDIN/key/$BATS_TEST_NUMBER$prefix" "$@"
}

# requests [WORD]: the log lines of this test, those with the word.
requests() {
	grep -F "	/key/$BATS_TEST_NUMBER/" "$LOG" | grep -F -- "${1:-}"
}

# total FILE [COLUMN]: the sum of a column (1) of a profile, and rows FILE: its samples.
total() {
	tool pprof-decode "$1" | awk -F '\t' -v c="${2:-1}" 'NR > 1 { sum += $c } END { printf "%.0f\n", sum }'
}

# value_of KEY FILE: of a provenance.
value_of() {
	awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$2"
}
