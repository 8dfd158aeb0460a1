#!/usr/bin/env bats
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	tool pprof-encode >p <<-END
		#pprof-records${TAB}1
		sample_type${TAB}0${TAB}cpu${TAB}ms
		mapping${TAB}0${TAB}1${TAB}0x1000${TAB}0x9000${TAB}0x0${TAB}/bin/shop${TAB}${TAB}1${TAB}0${TAB}0${TAB}0
		function${TAB}0${TAB}1${TAB}main${TAB}${TAB}shop.c${TAB}1
		function${TAB}1${TAB}2${TAB}f;g${TAB}${TAB}f.c${TAB}1
		location${TAB}0${TAB}1${TAB}1${TAB}0x1010${TAB}0
		line${TAB}1${TAB}0${TAB}1${TAB}5${TAB}0
		location${TAB}1${TAB}2${TAB}1${TAB}0x1020${TAB}0
		line${TAB}2${TAB}0${TAB}2${TAB}7${TAB}0
		location${TAB}2${TAB}3${TAB}1${TAB}0x1030${TAB}0
		sample${TAB}0${TAB}2,1${TAB}30
		sample${TAB}1${TAB}3,2,1${TAB}5
		sample${TAB}2${TAB}2,1${TAB}2
	END
	printf 'main;a 5\nmain;b 1\n(no stack) 1\n' >old
	printf 'main;a 2\nmain;b 8\n(no stack) 1\n' >new
}

@test "callgrind" {
	run tool pprof-export --format callgrind p
	status_is 0
	is "# callgrind format
version: 1
creator: pprof-export 0.1.0
positions: instr line
events: cpu(ms)
summary: 37

ob=(1) /bin/shop
fl=(1) f.c
fn=(1) f;g
0x1020 7 32
cob=(1)
cfl=(2) ???
cfn=(2) 0x1030
calls=0 0x1030 0
0x1020 7 5

ob=(1)
fl=(2)
fn=(2)
0x1030 0 5

ob=(1)
fl=(3) shop.c
fn=(3) main
0x1010 5 0
cob=(1)
cfl=(1)
cfn=(1)
calls=0 0x1020 7
0x1010 5 37"
}

@test "callgrind: a call tree" {
	printf 'main;get;sum 5\nmain;put;sum 2\n' >t
	tool pprof-export --format callgrind --call-tree t >tree
	run sed -n '/fn=/p; /^calls/{n;p;}' tree
	is "fn=(1) sum [1/2]
fn=(2) sum [2/2]
fn=(3) get
cfn=(1)
0x0 0 5
fn=(4) main
cfn=(3)
0x0 0 5
cfn=(5) put
0x0 0 2
fn=(5)
cfn=(2)
0x0 0 2"
}

@test "callgrind: what is below 0 is another event" {
	tool pprof-diff --format pprof old new | tool pprof-export --format callgrind >got
	grep -q '^events: samples(count) samples_decrease(count)$' got
	grep -q '^summary: 7 3$' got
	grep -q '^0x0 0 0 3$' got
	grep -q '^0x0 0 7 0$' got
}

# flow_of FILE FUNCTION: what calls of it cost: ups and downs.
flow_of() {
	awk -v want="$2" '
		/^c?fn=/ { id = $1; sub(/.*=/, "", id); if (NF > 1) name[id] = $2; called = name[id] }
		/^calls=/ { getline; if (called == want) print $3, $4 }' "$1"
}

@test "callgrind: costs of calls are not made less by what went the other way" {
	printf 'main;get;a 5\nmain;get;b 1\n' >o
	printf 'main;get;a 2\nmain;get;b 4\n' >n
	for tree in '' --call-tree; do
		tool pprof-diff --format pprof o n | tool pprof-export --format callgrind $tree >got
		[ "$(flow_of got get)" = "3 3" ]
		[ "$(flow_of got b)" = "3 0" ]
		grep -q '^summary: 3 3$' got
	done
}

@test "callgrind_annotate reads it" {
	command -v callgrind_annotate >/dev/null || skip "no callgrind_annotate"
	tool pprof-export --format callgrind p >callgrind.out
	run callgrind_annotate --inclusive=yes callgrind.out
	status_is 0
	[[ $output =~ 37\ \(100.0%\)\ +shop.c:main ]]
}

@test "speedscope" {
	run tool pprof-export --format speedscope p
	status_is 0
	is '{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"pprof-export","name":"p",
"activeProfileIndex":0,"shared":{"frames":[
{"name":"main","file":"shop.c"},
{"name":"f;g","file":"f.c"},
{"name":"shop+0x30"}]},
"profiles":[{"type":"sampled","name":"cpu","unit":"milliseconds","startValue":0,"endValue":37,"samples":[
[0,1],
[0,1,2]],
"weights":[32,5]}]}'
	jq . >/dev/null <<<"$output"
}

@test "speedscope: what is below 0 is another profile" {
	tool pprof-diff --format pprof old new | tool pprof-export --format speedscope >got
	[ "$(jq -c '[.profiles[] | [.name, .endValue, .weights, (.samples | length)]]' got)" = \
		'[["samples",7,[7],1],["samples (decrease)",3,[3],1]]' ]
}

# What the schema that speedscope ships asks for, and what its reader takes for granted.
@test "speedscope: frames are there, sums are right, units are known" {
	tool pprof-diff --format pprof old new >difference
	for file in p difference "$DATA/cpu.pb.gz" "$DATA/heap.pb.gz" "$DATA/mutex.pb.gz"; do
		tool pprof-export --format speedscope "$file" >got
		jq -e '(.shared.frames | length) as $n | all(.shared.frames[]; .name | length > 0) and
			.activeProfileIndex < (.profiles | length) and all(.profiles[];
				.type == "sampled" and .startValue == 0 and .endValue == (.weights | add // 0) and
				(.samples | length) == (.weights | length) and all(.samples[][]; 0 <= . and . < $n) and
				(.unit | IN("bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds")))' got
	done
}

# stacks_of FILE THREAD: "frame;frame weight" of each sample of a file for Firefox.
stacks_of() {
	jq -r --argjson t "$2" '.threads[$t] as $t | range($t.samples.length) as $i |
		([$t.samples.stack[$i] | recurse($t.stackTable.prefix[.] // empty) |
			$t.stringArray[$t.funcTable.name[$t.frameTable.func[$t.stackTable.frame[.]]]]] | reverse | join(";")) +
		" \($t.samples.weight[$i])"' "$1" | sort
}

@test "firefox: the same stacks as folded" {
	tool pprof-export --format firefox "$DATA/tiny.folded" >got
	diff <(stacks_of got 0) <(tool pprof-decode --folded "$DATA/tiny.folded" | sort)
	[ "$(jq -c '[.meta.preprocessedProfileVersion, (.threads | length), .threads[0].samples.weightType]' got)" = '[47,1,"samples"]' ]
	# every column has its length
	jq -e '.threads[0] | [.samples, .stackTable, .frameTable, .funcTable, .resourceTable, .nativeSymbols, .markers] |
		all(.[]; .length as $n | [to_entries[] | select(.value | type == "array") | .value | length] | all(. == $n))' got
}

@test "firefox: units; what is below 0 is another thread" {
	tool pprof-export --format firefox p >got
	[ "$(jq -c '[.threads[0].samples | .weight, .weightType]' got)" = '[[32,5],"tracing-ms"]' ]
	tool pprof-diff --format pprof old new | tool pprof-export --format firefox >got
	[ "$(jq -c '[.threads[] | .name]' got)" = '["samples","samples (decrease)"]' ]
	[ "$(stacks_of got 0)$(stacks_of got 1)" = "main;b 7main;a 3" ]
}

# The viewer hides threads with few samples beside others unless told, and cannot show a span of nothing.
@test "firefox: which threads are shown, and when" {
	shown() { jq -c '[.meta.initialVisibleThreads, .meta.initialSelectedThreads, .meta.profilingEndTime > 0]'; }
	[ "$(tool pprof-export --format firefox old | shown)" = '[[0],[0],true]' ]
	[ "$(tool pprof-diff --format pprof old new | tool pprof-export --format firefox | shown)" = '[[0,1],[0],true]' ]
	printf 'main;a 1\nmain;b 1\n(no stack) 1\n' >less
	[ "$(tool pprof-diff --format pprof old less | tool pprof-export --format firefox | shown)" = '[[0,1],[1],true]' ]
	[ "$(tool pprof-diff --format pprof old old | tool pprof-export --format firefox | shown)" = '[[0],[0],true]' ]
	tool pprof-export --format firefox "$DATA/cpu.pb.gz" >got
	[ "$(jq -c '[.meta.startTime, .threads[0].processName]' got)" = "[1773151500000,\"$DATA/cpu.pb.gz\"]" ]
}

@test "firefox: a file that is not known is none" {
	tool pprof-export --format firefox p >got
	[ "$(jq -c '.threads[0] | [.funcTable.fileName[] | if . then . as $i | $i else null end]' got)" = '[3,4,null]' ]
}

@test "filters, sample type, no stack" {
	run tool pprof-export --format speedscope --focus b new
	has '"endValue":8'
	run tool pprof-export --format speedscope old
	has '(no stack)'
	run tool pprof-export --format speedscope -s nosuch old
	status_is 2
}

@test "a format must be given" {
	run tool pprof-export --format firefox --call-tree p
	status_is 2
	is "pprof-export: --call-tree is for --format callgrind (try --help)"
	run tool pprof-export old
	status_is 2
	is "pprof-export: which viewer is it for? give --format (try --help)"
}
