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

# export_from PREFIX OPTION…: shop's hour to the file "got"; and what fails leaves no file.
export_from() {
	local prefix=$1
	shift
	fetch "$prefix" query "$SHOP" --profile-type $CPU "${HOUR[@]}" -o pprof --output got "$@"
}
fails() { # fails STATUS PREFIX [OPTION…]
	local want=$1
	shift
	run export_from "$@"
	status_is "$want"
	[ -z "$(ls)" ]
}

# ---- outcomes ----

@test "access refused is 8, in the server's words" {
	fails 8 /fault/401
	has "invalid token"
	fails 8 /fault/403
	has "no read permission"
	fails 8 /fault/grafana-401
	has "Authentication to data source failed"
	fails 8 /fault/grafana-403
	has "Access denied to datasource"
	[ "$(requests | wc -l)" -eq 4 ]
}

@test "what failed is 7, in the server's words, and is not asked again" {
	fails 7 /fault/500
	has "disk on fire"
	fails 7 /fault/404
	has "404"
	fails 7 /fault/html
	fails 7 /fault/proto-html
	fails 7 /fault/garbage
	[ "$(requests | wc -l)" -eq 5 ]
}

@test "the words in v1's JSON in JSON are unwrapped; control bytes are masked" {
	fails 7 /fault/500-nested
	has "the <inner> words"
	[[ $output != *'{"code"'* && $output != *u003c* ]]
	fails 7 /fault/control
	has "alert"
	! grep -q $'[\x01-\x08\x1b]' <<<"$output"
}

@test "a method that is not there, a page instead of an answer: never empty, never data" {
	for fault in 404 html proto-html garbage 500 bad-gzip cut-gzip; do
		for command in "data-range" "types ${HOUR[*]}" "labels ${HOUR[*]}" "series ${HOUR[*]}" \
			"metrics {} --profile-type $CPU ${HOUR[*]}" "query {} --profile-type $CPU ${HOUR[*]}" "exemplars profile {} ${HOUR[*]}"; do
			run --separate-stderr fetch /fault/$fault $command
			[ "$status" -eq 6 ] || [ "$status" -eq 7 ]
			[ -z "$output" ]
			[ -n "$stderr" ]
		done
	done
}

# ---- retries ----

@test "429, 502, 503, 504 and broken connections are tried again" {
	for fault in 429-bare 502 503 504 close reset cut; do
		export_from /fault/$fault,times=1
		rm got got.tsv
		[ "$(requests "/fault/$fault,times=1/" | grep -c SelectMergeProfile)" -eq 2 ]
	done
}

@test "three times at most" {
	fetch /fault/503,times=3,on=SelectMergeProfile query "$SHOP" --profile-type $CPU "${HOUR[@]}" -o pprof >../got 3>&- &
	fails 7 /fault/close
	wait $!
	[ "$(total ../got)" = 20550000000 ]
	[ "$(requests /fault/close/ | wc -l)" -eq 4 ]
	has "not known"
}

@test "Retry-After is waited for, unless it is too long" {
	start=$(date +%s%N)
	export_from /fault/429,times=1
	[ $((($(date +%s%N) - start) / 1000000)) -ge 1000 ]
	rm got got.tsv
	start=$(date +%s)
	fails 7 /fault/429-later
	has "too many queries"
	[ $(($(date +%s) - start)) -le 3 ]
	[ "$(requests 429-later | wc -l)" -eq 1 ]
}

# ---- answers that are not whole, or too much ----

@test "an answer that ends early is no answer" {
	fetch /fault/short query "$SHOP" --profile-type $CPU "${HOUR[@]}" -o pprof >../got 3>&- &
	fails 7 /fault/cut
	! wait $!
	[ ! -s ../got ]
	fails 7 /fault/cut-gzip
	fails 7 /fault/bad-gzip
}

@test "an answer longer than allowed, packed or unpacked, is given up" {
	fails 7 /fault/endless --max-answer 1000000
	has "--max-answer"
	fails 7 /fault/bomb --max-answer 1000000
	fails 7 / --max-answer 1024
	[ "$(requests | wc -l)" -eq 3 ]
}

@test "a server that is slow beyond the patience" {
	fails 7 /fault/slow,ms=5000 --timeout 1
	has "--timeout"
	fails 7 /fault/drip --timeout 1
	export_from /fault/slow,ms=300 --timeout 5
}

@test "nobody there" {
	run tool pprof-fetch --url http://127.0.0.1:1 data-range
	status_is 7
	has "cannot connect"
	run tool pprof-fetch --url http://host.invalid data-range
	status_is 7
	for address in "ftp://127.0.0.1" "file:///etc/passwd" "gopher://x" "" "http://"; do
		run tool pprof-fetch --url "$address" data-range
		status_is 2
	done
}

# ---- the wire ----

@test "answers come packed, long questions go packed" {
	fetch /v2 labels "{service_name=~\"$(printf 'x%.0s' $(seq 1500))|shop\"}" -l pod "${HOUR[@]}" >got
	[ "$(sed 1d got | paste -sd ,)" = shop-1,shop-2,shop-3 ]
	[ "$(requests LabelValues | cut -f 9)" = gzip ]
}

@test "a server that does not take protobuf is spoken to in JSON" {
	export_from /no-proto
	mv got json
	rm got.tsv
	export_from /v2
	cmp got json
	requests no-proto | grep -q "415"
	requests no-proto | grep -q "application/json"
}

@test "an address with slashes at its end" {
	run tool pprof-fetch --url "$STANDIN///" data-range
	status_is 0
}

# ---- credentials ----

@test "a bearer token, from a file or from the environment" {
	printf 'sesame\n' >../token
	export_from /auth --token-file ../token
	rm got got.tsv
	PYROSCOPE_TOKEN=sesame export_from /auth
	rm got got.tsv
	PYROSCOPE_TOKEN=wrong fails 8 /auth
	[[ $output != *wrong* ]]
	GRAFANA_TOKEN=sesame fails 8 /auth
	GRAFANA_TOKEN=sesame GRAFANA_SERVER=$STANDIN/auth run --separate-stderr tool pprof-fetch -d pyro-uid data-range
	status_is 0
	GRAFANA_TOKEN=sesame run tool pprof-fetch --url "$STANDIN/auth" datasources
	status_is 0
	run tool pprof-fetch --url "$STANDIN/auth" datasources
	status_is 8
}

@test "user and password: from files, the environment, the address of the environment, netrc" {
	printf 'sesame\n' >../password
	printf 'machine 127.0.0.1 login user password sesame\n' >../netrc
	export_from /auth --user user --password-file ../password
	rm got got.tsv
	PYROSCOPE_USER=user PYROSCOPE_PASSWORD=sesame export_from /auth
	rm got got.tsv
	export_from /auth --netrc-file ../netrc
	rm got got.tsv
	mkdir ../home
	cp ../netrc ../home/.netrc
	HOME=$PWD/../home export_from /auth --netrc
	PYROSCOPE_URL=http://user:sesame@${STANDIN#http://}/auth run tool pprof-fetch data-range
	status_is 0
	run tool pprof-fetch --url "http://user:sesame@${STANDIN#http://}/auth" data-range
	status_is 2
	[[ $output != *sesame* ]]
}

@test "no credential in any message, also with --verbose" {
	printf 'sesame\n' >../token
	for prefix in /auth /auth/fault/500 /auth/fault/cut,times=1 /auth/fault/redirect /fault/403 /auth/fault/garbage; do
		run fetch $prefix --verbose --token-file ../token data-range
		[[ $output != *sesame* ]]
		run fetch $prefix --verbose --user user --password-file ../token data-range
		[[ $output != *sesame* && $output != *dXNlcjpzZXNhbWU* ]]
		PYROSCOPE_URL=http://user:sesame@${STANDIN#http://}$prefix run tool pprof-fetch --verbose data-range
		[[ $output != *sesame* && $output != *dXNlcjpzZXNhbWU* ]]
	done
	run fetch /v2 --verbose data-range
	has "GetProfileStats"
	printf 'two\nlines\n' >../token
	run fetch /auth --token-file ../token data-range
	[ "$status" -ne 0 ]
	[ -z "$(requests lines)" ]
}

@test "a redirection to another host gets no credentials; one to the same host keeps them" {
	# localhost is another host than 127.0.0.1; what the redirection leads to has no prefix, so no key.
	mark=$(wc -l <"$LOG")
	PYROSCOPE_TOKEN=sesame run fetch /auth/fault/redirect data-range --tenant me
	sed "1,${mark}d" "$LOG" >seen
	[ "$(awk -F '\t' '$7 ~ /^127/ { print $10, $11 }' seen)" = "Bearer sesame me" ]
	[ "$(awk -F '\t' '$7 ~ /^localhost/ { print "with", $10, $11 }' seen | sort -u)" = "with  " ]
	mark=$(wc -l <"$LOG")
	PYROSCOPE_TOKEN=sesame run fetch /auth/fault/redirect-same data-range
	status_is 0
	[ "$(sed "1,${mark}d" "$LOG" | cut -f 10 | sort -u)" = "Bearer sesame" ]
	mark=$(wc -l <"$LOG")
	printf 'machine 127.0.0.1 login user password sesame\nmachine localhost login user password sesame\n' >../netrc
	run fetch /auth/fault/redirect data-range --netrc-file ../netrc
	[ -z "$(sed "1,${mark}d" "$LOG" | awk -F '\t' '$7 ~ /^localhost/ { print $10 }')" ]
}

@test "a redirection that would lose the question, and a circle of them" {
	fails 7 /fault/redirect-301
	fails 7 /fault/redirect-loop
	[ "$(requests redirect-loop | wc -l)" -le 5 ]
}

@test "proxies by the usual variables" {
	http_proxy=$STANDIN run tool pprof-fetch --url http://pyroscope.invalid:4040/v2 data-range
	status_is 0
	grep proxied "$LOG" | grep -q pyroscope.invalid:4040
	no_proxy=127.0.0.1 http_proxy=http://127.0.0.1:1 run fetch /v2 data-range
	status_is 0
	http_proxy=http://who:sesame@127.0.0.1:1 run fetch /v2 data-range --verbose
	status_is 7
	[[ $output != *sesame* ]]
}
