# What the command tests share. $PP_BUILD is the folder of the tools, build without it; $PP_RUN, which may
# be empty, is what every tool runs under.
ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
PP_BUILD=$(cd "${PP_BUILD:-$ROOT/build}" && pwd)
DATA=$ROOT/testdata
export LC_ALL=C TZ=UTC
TAB=$'\t'

# tool NAME ARGUMENT...: one of ours.
tool() {
	local name=$1
	shift
	${PP_RUN:-} "$PP_BUILD/$name" "$@"
}

# every_tool: the names of all, one a line.
every_tool() {
	(cd "$ROOT/cmd" && ls pprof-*.c rca-report.c 2>/dev/null) | sed 's/\.c$//'
}

# is WANT: $output is exactly this.
is() {
	[ "$output" = "$1" ] || {
		printf 'wanted:\n%s\ngot (status %s):\n%s\n' "$1" "$status" "$output"
		return 1
	}
}

# status_is N: the status of the last run.
status_is() {
	[ "$status" -eq "$1" ] || {
		printf 'status %s, wanted %s:\n%s\n' "$status" "$1" "$output"
		return 1
	}
}

# has TEXT: $output holds it.
has() {
	case $output in *"$1"*) return 0 ;; esac
	printf 'no "%s" in:\n%s\n' "$1" "$output"
	return 1
}
