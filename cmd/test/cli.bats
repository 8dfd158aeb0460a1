#!/usr/bin/env bats
# What every tool does with its command line and its outputs.
load helper
bats_require_minimum_version 1.5.0

@test "every tool: --help is a synopsis on stdout, status 0" {
	for t in $(every_tool); do
		run --separate-stderr tool "$t" --help
		status_is 0
		[ "${lines[0]%%\[*}" = "Usage: $t " ]
		[ -z "$stderr" ]
	done
}

@test "every tool: --version" {
	for t in $(every_tool); do
		run tool "$t" --version
		status_is 0
		is "$t 0.1.0"
	done
}

@test "every tool: an unknown option is one line on stderr and status 2" {
	for t in $(every_tool); do
		run tool "$t" --no-such-option
		status_is 2
		is "$t: unknown option '--no-such-option' (try --help)"
	done
}

@test "every tool: a file that is not there is status 4" {
	for t in $(every_tool); do
		case $t in
		pprof-diff) run tool "$t" nosuch "$DATA/tiny.folded" ;;
		pprof-list) run tool "$t" . nosuch ;;
		pprof-export) run tool "$t" --format speedscope nosuch ;;
		pprof-fetch) continue ;; # reads no profiles
		*) run tool "$t" nosuch ;;
		esac
		status_is 4
		has "$t: cannot open 'nosuch"
		has "No such file or directory"
	done
}

@test "every tool: completion words make a completion that bash takes" {
	for t in $(every_tool); do
		run bash -c "source <('$ROOT/scripts/bash-completion' $t '$PP_BUILD/$t') &&
			COMP_WORDS=($t --he) COMP_CWORD=1 && _${t//-/_} && echo \"\${COMPREPLY[*]}\""
		status_is 0
		is "--help"
	done
}

@test "completion knows the values of an option" {
	run bash -c "source <('$ROOT/scripts/bash-completion' pprof-top '$PP_BUILD/pprof-top') &&
		COMP_WORDS=(pprof-top --by fi) COMP_CWORD=2 && _pprof_top && echo \"\${COMPREPLY[*]}\""
	is "filefunctions files"
}

@test "numbers: whole, in range, nothing else" {
	for bad in '' x 1x -1 +1 ' 1' 0x1 1.5 18446744073709551616; do
		run tool pprof-top --limit "$bad" "$DATA/tiny.folded"
		status_is 2
		is "pprof-top: option '--limit' must be a whole number of at least 0, not '$bad' (try --help)"
	done
	run tool pprof-top --limit=18446744073709551615 "$DATA/tiny.folded"
	status_is 0
}

@test "choices are named when one is wrong" {
	run tool pprof-top --by function "$DATA/tiny.folded"
	status_is 2
	is "pprof-top: option '--by' must be one of frames, functions, filefunctions, files, lines, columns, addresses, mappings, not 'function' (try --help)"
}

@test "an option without its argument, a flag with one" {
	run tool pprof-top --limit
	is "pprof-top: option '--limit' needs an argument, N (try --help)"
	run tool pprof-top --cum=yes
	is "pprof-top: option '--cum' takes no argument (try --help)"
}

@test "options after operands, letters with and without space, -- ends options" {
	want=$(tool pprof-top --limit 1 "$DATA/tiny.folded")
	cp "$DATA/tiny.folded" "$BATS_TEST_TMPDIR/--x"
	cd "$BATS_TEST_TMPDIR"
	for words in "$DATA/tiny.folded --limit=1" "$DATA/tiny.folded -n 1" "-n1 $DATA/tiny.folded" "-n1 -- --x"; do
		run tool pprof-top $words
		status_is 0
		is "$want"
	done
}

@test "control bytes in names do not reach the terminal" {
	run tool pprof-top $'no\e[31m\nsuch'
	status_is 4
	is "pprof-top: cannot open 'no\\x1b[31m\\x0asuch': No such file or directory"
}

@test "stdin: no operand, and -" {
	want=$(tool pprof-top "$DATA/tiny.folded")
	run tool pprof-top <"$DATA/tiny.folded"
	is "$want"
	run tool pprof-top - <"$DATA/tiny.folded"
	is "$want"
}

@test "a closed stdin or stdout is a failure, not an empty result" {
	run bash -c "$PP_RUN '$PP_BUILD/pprof-top' <&-"
	status_is 4
	has "pprof-top: '-': cannot read: Bad file descriptor"
	run bash -c "$PP_RUN '$PP_BUILD/pprof-top' '$DATA/tiny.folded' >&-"
	status_is 4
	has "pprof-top: cannot write standard output: Bad file descriptor"
}

@test "a reader that leaves ends the tool silently, even where the pipe signal was ignored" {
	run bash -c "trap '' PIPE; { sleep 0.3; $PP_RUN '$PP_BUILD/pprof-top' '$DATA/cpu.pb.gz'; echo \$? >&2; } | true"
	is 141
}

@test "a folder is no profile" {
	run tool pprof-top "$BATS_TEST_TMPDIR"
	status_is 4
	has "Is a directory"
}

@test "--output: the file appears whole, keeps its permissions, and links stay links" {
	cd "$BATS_TEST_TMPDIR"
	want=$(tool pprof-top "$DATA/tiny.folded")
	(umask 027; tool pprof-top --output new "$DATA/tiny.folded")
	[ "$(stat -c %a new)" = 640 ]
	[ "$(cat new)" = "$want" ]
	echo old >target
	chmod 604 target
	ln -s target link
	tool pprof-top -o link "$DATA/tiny.folded"
	[ -L link ] && [ "$(stat -c %a target)" = 604 ] && [ "$(cat target)" = "$want" ]
}

@test "--output: a failure leaves the old file and nothing else" {
	cd "$BATS_TEST_TMPDIR"
	echo old >file
	run tool pprof-top --output file nosuch
	status_is 4
	[ "$(cat file)" = old ]
	run tool pprof-top --output nofolder/file "$DATA/tiny.folded"
	status_is 4
	is "pprof-top: cannot write 'nofolder/file': No such file or directory"
	run tool pprof-top --output . "$DATA/tiny.folded"
	status_is 4
	is "pprof-top: cannot write '.': Is a directory"
	ln -s nothing dangling
	run tool pprof-top --output dangling "$DATA/tiny.folded"
	status_is 4
	is "pprof-top: cannot write 'dangling': symbolic link to nothing"
	[ "$(ls -A)" = "dangling
file" ]
}

@test "--output: a pipe and a device are written in place" {
	cd "$BATS_TEST_TMPDIR"
	mkfifo pipe
	timeout 20 cat pipe >copy &
	tool pprof-top --output pipe "$DATA/tiny.folded"
	wait
	[ -p pipe ]
	[ "$(cat copy)" = "$(tool pprof-top "$DATA/tiny.folded")" ]
	run tool pprof-top --output /dev/null "$DATA/tiny.folded"
	status_is 0
	is ""
}

@test "no tool depends on the locale" {
	want=$(tool pprof-top "$DATA/cpu.pb.gz")
	[ "$(LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 tool pprof-top "$DATA/cpu.pb.gz")" = "$want" ]
}

@test "stdin can be one input only" {
	cd "$BATS_TEST_TMPDIR"
	printf 'a 1\n' >one
	for command in "pprof-diff - -" "pprof-diff --baseline one @- --incident -" "pprof-merge - one -" "pprof-merge - @-" \
		"pprof-dot - -" "pprof-list --baseline - a" "pprof-filter --normalize-to - -"; do
		run bash -c "'$PP_BUILD'/$command <one"
		status_is 2
		is "${command%% *}: stdin can be one input only, and is named more than once (try --help)"
	done
	run bash -c "'$PP_BUILD/pprof-diff' --all one - <one | cut -f 1,2,9 | tail -n 1"
	is "1${TAB}1${TAB}a"
}
