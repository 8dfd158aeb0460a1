#!/usr/bin/env bats
load helper
load fetch
bats_require_minimum_version 1.5.0

# A server that speaks TLS and has one file: the list of a Grafana's data sources.
setup_file() {
	[ -x "$PP_BUILD/pprof-fetch" ] || cannot "built without libcurl" || return 0
	command -v openssl >/dev/null || cannot "no openssl" || return 0
	unset https_proxy HTTPS_PROXY all_proxy ALL_PROXY
	cd "$BATS_FILE_TMPDIR"
	for who in server client stranger; do
		openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$who" -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' \
			-keyout $who.key -out $who.pem 2>/dev/null || cannot "this openssl makes no certificate" || return 0
	done
	mkdir api
	printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n%s' \
		'[{"uid":"a-b","name":"pyroscope","type":"grafana-pyroscope-datasource","access":"proxy","isDefault":true}]' >api/datasources
	serve plain
	serve strict -Verify 1 -verify_return_error -CAfile client.pem
}
serve() { # serve NAME OPTION…: its address is in $NAME
	local name=$1 tries=0
	shift
	openssl s_server -accept 127.0.0.1:0 -HTTP -cert server.pem -key server.key "$@" </dev/null >"$name.out" 2>&1 3>&- &
	echo $! >>pids
	until grep -q '^ACCEPT 127' "$name.out"; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || cannot "openssl s_server does not say its port" || return 0
		sleep 0.02
	done
	export "$name=https://127.0.0.1:$(sed -n 's/^ACCEPT 127.0.0.1://p' "$name.out" | head -n 1)"
}
teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/pids" ] || kill $(cat "$BATS_FILE_TMPDIR/pids") 2>/dev/null || true
}
setup() {
	unless_cannot
	cd "$BATS_FILE_TMPDIR"
}

@test "a server whose authority is trusted" {
	run --separate-stderr tool pprof-fetch --url "$plain" --cacert server.pem datasources
	status_is 0
	[ "$(sed 1d <<<"$output" | cut -f 1)" = a-b ]
}

@test "any other server is a failure, not asked twice" {
	run tool pprof-fetch --url "$plain" datasources
	status_is 7
	run tool pprof-fetch --url "$plain" --cacert stranger.pem datasources
	status_is 7
	has "certificate"
}

@test "a client's certificate" {
	run --separate-stderr tool pprof-fetch --url "$strict" --cacert server.pem --cert client.pem --key client.key datasources
	status_is 0
	run tool pprof-fetch --url "$strict" --cacert server.pem --cert stranger.pem --key stranger.key datasources
	status_is 7
}
