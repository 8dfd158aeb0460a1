#!/usr/bin/env bats
load helper
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p src/shop
	printf 'package shop\n\nfunc add() {\n\tx := f()\n\tg(x)\n}\n\nfunc g() {\n\th()\n}\n' >src/shop/cart.go
	profile 10 30 >now
	profile 10 5 >before
}

# profile N M: g costs N at its line 9, called by add at line 5, and M at the line of f, which is in a file
# that is not there.
profile() {
	tool pprof-encode <<-END
		#pprof-records${TAB}1
		sample_type${TAB}0${TAB}cpu${TAB}ms
		function${TAB}0${TAB}1${TAB}shop.add${TAB}${TAB}/build/shop/cart.go${TAB}3
		function${TAB}1${TAB}2${TAB}shop.g${TAB}${TAB}/build/shop/cart.go${TAB}8
		function${TAB}2${TAB}3${TAB}shop.f${TAB}${TAB}/build/shop/gone.go${TAB}1
		location${TAB}0${TAB}1${TAB}0${TAB}0x0${TAB}0
		line${TAB}1${TAB}0${TAB}1${TAB}5${TAB}0
		location${TAB}1${TAB}2${TAB}0${TAB}0x0${TAB}0
		line${TAB}2${TAB}0${TAB}2${TAB}9${TAB}0
		location${TAB}2${TAB}3${TAB}0${TAB}0x0${TAB}0
		line${TAB}3${TAB}0${TAB}3${TAB}7${TAB}0
		sample${TAB}0${TAB}2,1${TAB}$1
		sample${TAB}1${TAB}3,1,1${TAB}$2
	END
}

@test "source with values, and a file that is not there" {
	run --separate-stderr tool pprof-list --source src --format table . now
	status_is 0
	is "Total: 40ms
ROUTINE ======================== shop.add in /build/shop/cart.go
         .       40ms (flat, cum) 100% of Total
Source: src/shop/cart.go
         .          .      3:func add() {
         .          .      4:${TAB}x := f()
         .       40ms      5:${TAB}g(x)
         .          .      6:}
         .          .      7:
         .          .      8:func g() {
         .          .      9:${TAB}h()
         .          .     10:}
ROUTINE ======================== shop.f in /build/shop/gone.go
      30ms       30ms (flat, cum) 75.00% of Total
Source: not found
      30ms       30ms      7:
ROUTINE ======================== shop.g in /build/shop/cart.go
      10ms       10ms (flat, cum) 25.00% of Total
Source: src/shop/cart.go
         .          .      8:func g() {
      10ms       10ms      9:${TAB}h()
         .          .     10:}"
	[ "$stderr" = "pprof-list: warning: no source file '/build/shop/gone.go' in the folders of --source" ]
}

@test "source files that are missing: one line, whatever their number" {
	run --separate-stderr tool pprof-list --source nowhere 'f|g|add' now
	[ "$stderr" = "pprof-list: warning: no source for 2 files in the folders of --source: '/build/shop/cart.go', '/build/shop/gone.go'" ]
	printf 'n:count%sstack\n' "$TAB" >many
	for file in a b c d e; do printf '1%sf (%s.go:3)\n' "$TAB" "$file" >>many; done
	run --separate-stderr tool pprof-list --source nowhere f many
	[ "$stderr" = "pprof-list: warning: no source for 5 files in the folders of --source: 'a.go', 'b.go', 'c.go', ..." ]
}

@test "the same as a table" {
	run tool pprof-list --source src 'shop.g$' now
	is "flat${TAB}cum${TAB}line${TAB}source${TAB}file${TAB}name
0${TAB}0${TAB}8${TAB}func g() {${TAB}/build/shop/cart.go${TAB}shop.g
10${TAB}10${TAB}9${TAB}\\th()${TAB}/build/shop/cart.go${TAB}shop.g
0${TAB}0${TAB}10${TAB}}${TAB}/build/shop/cart.go${TAB}shop.g"
	[ "$(tool pprof-list --source src --format json 'shop.g$' now | jq -c '.[1] | [.flat, .line, .source]')" = '[10,9,"\th()"]' ]
}

@test "a difference, line by line" {
	run tool pprof-list --baseline before --source src 'f|add' now
	has "0${TAB}25${TAB}5${TAB}\\tg(x)${TAB}/build/shop/cart.go${TAB}shop.add${TAB}0${TAB}15"
	has "25${TAB}25${TAB}7${TAB}${TAB}/build/shop/gone.go${TAB}shop.f${TAB}5${TAB}5"
	run tool pprof-list --baseline now --format table --source src 'add' before
	has "Total: 40ms in the baseline; values are changes"
	has "         .      -25ms (flat, cum) -62.50% of Total"
	run tool pprof-list --baseline now --format table . now
	has "         .          . (flat, cum) 0% of Total"
}

@test "only files of the named folders are opened" {
	mkdir in
	echo secret >outside
	tool pprof-encode >sly <<-END
		#pprof-records${TAB}1
		sample_type${TAB}0${TAB}cpu${TAB}ms
		function${TAB}0${TAB}1${TAB}a${TAB}${TAB}$PWD/outside${TAB}1
		function${TAB}1${TAB}2${TAB}b${TAB}${TAB}in/../../outside${TAB}1
		function${TAB}2${TAB}3${TAB}c${TAB}${TAB}${TAB}1
		location${TAB}0${TAB}1${TAB}0${TAB}0x0${TAB}0
		line${TAB}1${TAB}0${TAB}1${TAB}1${TAB}0
		line${TAB}1${TAB}1${TAB}2${TAB}1${TAB}0
		line${TAB}1${TAB}2${TAB}3${TAB}0${TAB}0
		sample${TAB}0${TAB}1${TAB}1
	END
	run tool pprof-list --source in --format table . sly
	status_is 0
	[[ $output != *secret* ]]
	has "ROUTINE ======================== c in an unnamed file"
	has "         .        1ms      ?:"
	run tool pprof-list --source . a sly
	has secret
}

@test "--trim-path, filters, folders in order" {
	mkdir -p other/shop
	seq 20 >other/shop/cart.go
	run tool pprof-list --source other --source src 'shop.g$' now
	has "10${TAB}10${TAB}9${TAB}9${TAB}"
	run tool pprof-list --source src/shop --trim-path /build/shop 'shop.g$' now
	has "\\th()${TAB}cart.go${TAB}shop.g"
	run tool pprof-list --source src --focus 'shop.f' add now
	has "0${TAB}30${TAB}5${TAB}"
}

@test "mistakes" {
	run tool pprof-list
	status_is 2
	has "which functions? give a regular expression"
	run tool pprof-list nothing now
	status_is 2
	has "no function matches 'nothing'"
	run tool pprof-list '(' now
	status_is 2
	echo 'a;b 1' >folded
	run tool pprof-list --baseline folded . now
	status_is 3
	has "the baseline has another sample type"
}
