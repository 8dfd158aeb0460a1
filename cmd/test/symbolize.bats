#!/usr/bin/env bats
# pprof-symbolize against addr2line, on programs that are built here; which files it takes, and what it says.
load helper
bats_require_minimum_version 1.5.0

# need COMMAND…: skips the test where one is missing.
need() {
	local command
	for command in addr2line objdump readelf objcopy strip "$@"; do
		command -v "$command" >/dev/null || skip "no $command"
	done
}

setup_file() {
	cd "$BATS_FILE_TMPDIR"
	command -v g++ >/dev/null || return 0
	cp "$BATS_TEST_DIRNAME/symbols/shop.cpp" .
	g++ -g -O2 -fPIE -pie -Wl,--build-id -o shop shop.cpp
}

setup() {
	cd "$BATS_FILE_TMPDIR"
}

# code FILE [SYMBOLS]: the address of each instruction of .text, eight digits; of functions whose name matches.
code() {
	objdump -d -j .text --no-show-raw-insn "$1" | awk -v symbols="${2:-.}" '
		/^[0-9a-f]+ <.*>:$/ { wanted = $2 ~ symbols }
		wanted && /^ +[0-9a-f]+:\t/ { sub(/:.*/, ""); sub(/^ +/, ""); print substr("00000000" $0, length($0) + 1) }'
}

# build_id FILE
build_id() {
	readelf -n "$1" | sed -n 's/^ *Build ID: //p'
}

# profile FILE NAME HIGH [ID] <ADDRESSES: records of a profile with a location for each address, loaded at HIGH (four
# hex digits) * 2^32; the mapping's file is NAME, its build id ID or that of FILE.
profile() {
	local segment id=${4-$(build_id "$1")}
	segment=$(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')
	awk -v segment="$segment" -v name="$2" -v high="$3" -v id="$id" '
		function page(hex) { sub(/^0x/, "", hex); hex = "00000000" hex; return substr(hex, length(hex) - 7, 5) "000" }
		BEGIN {
			split(segment, at, " ")
			print "#pprof-records\t1\n#sample_type\tindex\ttype\tunit\nsample_type\t0\tsamples\tcount"
			print "#mapping\tindex\tid\tstart\tlimit\toffset\tfilename\tbuild_id\thas_functions\thas_filenames\thas_line_numbers\thas_inline_frames"
			print "mapping\t0\t1\t0x" high page(at[2]) "\t0x" high "ffffffff\t0x" page(at[1]) "\t" name "\t" id "\t0\t0\t0\t0"
			print "#location\tindex\tid\tmapping\taddress\tis_folded\n#sample\tindex\tlocations\tvalues"
		}
		{ print "location\t" NR - 1 "\t" NR "\t1\t0x" high $1 "\t0"; print "sample\t" NR - 1 "\t" NR "\t1" }'
}

# frames FILE <ADDRESSES: what addr2line says, a row a frame: address, function, file, line. It says so of clones and of
# branches of a line; "?" is not known.
frames() {
	addr2line -e "$1" -a -i -f -C | awk '
		/^0x/ { address = substr($0, length($0) - 7); next }
		function_of == "" { function_of = $0; sub(/ \[clone .*/, "", function_of); next }
		{
			sub(/ \(discriminator [0-9]+\)$/, "")
			line = file = $0; sub(/.*:/, "", line); sub(/:[^:]*$/, "", file)
			if (line == "?" || line == 0) { line = 0; file = "??" }
			print address "\t" function_of "\t" file "\t" line
			function_of = ""
		}'
}

# resolved FILE [ID]: the same rows of a profile, or of its mapping ID. A location that is not resolved is one row of "??".
resolved() {
	tool pprof-decode --records "$1" | awk -F '\t' -v mapping="${2-}" '
		$1 == "function" { name[$3] = $4; file[$3] = $6 }
		$1 == "location" && (mapping == "" || $4 == mapping) { hex = "00000000" substr($5, 3); address[$3] = substr(hex, length(hex) - 7); order[++n] = $3 }
		$1 == "line" {
			where = $5 == 0 ? "??" : file[$4]
			rows[$2] = rows[$2] address[$2] "\t" (name[$4] == "" ? "??" : name[$4]) "\t" where "\t" $5 "\n"
		}
		END { for (i = 1; i <= n; i++) printf "%s", order[i] in rows ? rows[order[i]] : address[order[i]] "\t??\t??\t0\n" }'
}

# agrees FILE HIGH [SYMBOLS]: a profile of all its code reads as addr2line says, with more than one frame somewhere.
agrees() {
	code "$1" "${3:-.}" >addresses
	[ -s addresses ]
	profile "$1" "$PWD/$1" "$2" <addresses >records
	tool pprof-symbolize --demangle full records >named
	frames "$1" <addresses >want
	resolved named >got
	diff want got | head -n 20
	cmp want got
	[ "$(wc -l <want)" -gt "$(wc -l <addresses)" ]
}

# sampled FILE AS [OPTION…]: FILE runs as AS and is sampled there; what its samples become is what addr2line says of FILE.
# Without the address, since that is another one each time.
sampled() {
	local file=$1 as=$2 id start offset segment at
	shift 2
	SAMPLES=samples "$as" work >/dev/null
	tool pprof-symbolize --demangle full "$@" samples >named
	tool pprof-decode --records samples >records
	read -r id start offset <<<"$(awk -F '\t' -v as="$as" '$1 == "mapping" && $7 == as { print $3, $4, $6; exit }' records)"
	segment=($(readelf -lW "$file" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }'))
	awk -F '\t' -v id="$id" '$1 == "location" && $4 == id { print $5 }' records | while read -r at; do
		printf '%08x\n' $((at - start + offset - segment[0] + segment[1]))
	done >addresses
	frames "$file" <addresses | cut -f 2- >want
	resolved named "$id" | cut -f 2- >got
	diff want got | head -n 20
	cmp want got
	[ "$(wc -l <want)" -gt 10 ]
}

@test "C++, position-independent or not, optimised or not: names, files, lines and inlined calls of addr2line" {
	need g++
	for optimise in -O0 -O2; do
		g++ -g $optimise -fPIE -pie -Wl,--build-id -o independent shop.cpp
		agrees independent 5555
		g++ -g $optimise -fno-pie -no-pie -Wl,--build-id -o fixed shop.cpp
		agrees fixed 0000
	done
}

@test "C++ with DWARF 4, and with compressed sections" {
	need g++
	g++ -g -gdwarf-4 -O2 -o old shop.cpp
	agrees old 5555
	g++ -g -gz -O2 -o packed shop.cpp
	agrees packed 5555
}

@test "Rust, in both manglings" {
	need rustc
	cp "$BATS_TEST_DIRNAME/symbols/shop.rs" .
	rustc -g -O -C link-arg=-Wl,--build-id -o rust shop.rs
	agrees rust 5555 'shop.*cost|shop.*main|Show.*show'
	rustc -g -O -C symbol-mangling-version=v0 -C link-arg=-Wl,--build-id -o rust shop.rs
	agrees rust 5555 'shop.*cost|shop.*main|Show.*show'
}

@test "C++ and Rust, sampled while they run, stripped and not" {
	need gcc g++
	gcc -g -c -fPIC -o sampler.o "$BATS_TEST_DIRNAME/symbols/sampler.c"
	g++ -g -O2 -fPIE -pie -Wl,--build-id -o sampled shop.cpp sampler.o
	sampled sampled "$PWD/sampled"
	sampled_stripped
	command -v rustc >/dev/null || return 0
	rustc -g -O -C link-arg=sampler.o -C link-arg=-Wl,--build-id -o sampled "$BATS_TEST_DIRNAME/symbols/shop.rs"
	sampled sampled "$PWD/sampled"
	sampled_stripped
}
# The program without its symbols, which are in a file that it links to.
sampled_stripped() {
	mkdir -p run
	strip -o run/sampled sampled
	objcopy --only-keep-debug sampled sampled.debug
	objcopy --add-gnu-debuglink=sampled.debug run/sampled
	sampled sampled "$PWD/run/sampled" --debug-dir .
}

@test "stripped: files by build id, by link, or named" {
	need g++
	mkdir -p stripped/.debug links
	code shop >addresses
	frames shop <addresses >want
	objcopy --only-keep-debug shop shop.debug
	strip -o stripped/shop shop
	profile shop "$PWD/stripped/shop" 7f00 <addresses >records
	id=$(build_id shop)

	mkdir -p "symbols/.build-id/${id:0:2}"
	cp shop.debug "symbols/.build-id/${id:0:2}/${id:2}.debug"
	tool pprof-symbolize --demangle full --debug-dir symbols records >named
	resolved named | diff want -

	(cd links && cp ../shop.debug . && objcopy --add-gnu-debuglink=shop.debug ../stripped/shop linked)
	tool pprof-symbolize --demangle full --binary links/linked records >named
	resolved named | diff want -

	mv links/shop.debug stripped/.debug
	cp links/linked stripped/shop
	tool pprof-symbolize --demangle full records >named
	resolved named | diff want -

	mv stripped/shop "symbols/.build-id/${id:0:2}/${id:2}"
	rm -r stripped
	tool pprof-symbolize --demangle full --debug-dir symbols records >named
	resolved named | diff want -

	tool pprof-symbolize --demangle full --binary shop.debug records >named
	resolved named | diff want -
}

# addr2line does not read all of the two below, so what is wanted is what the same program has in one file.
@test "functions in .dwo files: as those in the program, or a warning" {
	need g++
	for version in 4 5; do
		g++ -g -gdwarf-$version -O2 -Wl,--build-id -o whole shop.cpp
		g++ -g -gdwarf-$version -gsplit-dwarf -O2 -Wl,--build-id -o split -dumpbase shop shop.cpp
		code whole >addresses
		code split | cmp addresses -
		frames whole <addresses >want
		profile split "$PWD/split" 5555 <addresses >records
		tool pprof-symbolize --demangle full records >named
		resolved named | diff want -

		rm ./*.dwo
		run --separate-stderr tool pprof-symbolize --demangle full --output named records
		status_is 0
		[[ $stderr == "pprof-symbolize: warning: '$PWD/split': debug information that was split off was not found ('"*".dwo'); inlined calls are missing" ]]
		[ "$(resolved named | wc -l)" = "$(wc -l <addresses)" ]
	done
}

@test "debug information that dwz put in a common file: beside, by build id, in a debug folder, or a warning" {
	need g++ dwz
	g++ -g -gdwarf-4 -O2 -Wl,--build-id -o one shop.cpp
	g++ -g -gdwarf-4 -O2 -Dshop=store -Wl,--build-id -o two shop.cpp
	code one >addresses
	frames one <addresses >want
	cp two two.debug
	cp one one.debug
	dwz -m common -M common one.debug two.debug
	profile one "$PWD/one.debug" 5555 <addresses >records
	tool pprof-symbolize --demangle full records >named
	resolved named | diff want -

	id=$(build_id common)
	mkdir -p "dwz/.build-id/${id:0:2}"
	mv common "dwz/.build-id/${id:0:2}/${id:2}.debug"
	tool pprof-symbolize --demangle full --debug-dir dwz records >named
	resolved named | diff want -
	run --separate-stderr tool pprof-symbolize --demangle full --output named records
	status_is 0
	[ "$stderr" = "pprof-symbolize: warning: '$PWD/one.debug': shares debug information with 'common', which was not found: names, folders and inlined calls are missing" ]

	# as distributions have it
	cp two two.debug
	cp one one.debug
	mkdir -p dwz/.dwz
	dwz -m dwz/.dwz/shop.debug -M /usr/lib/debug/.dwz/shop.debug one.debug two.debug
	tool pprof-symbolize --demangle full --debug-dir dwz records >named
	resolved named | diff want -
	mkdir -p root/usr/lib "root$PWD"
	cp one.debug "root$PWD"
	mv dwz root/usr/lib/debug
	tool pprof-symbolize --demangle full --sysroot root records >named
	resolved named | diff want -
}

@test "debug information compressed with zstd is read, or the warning says so" {
	need g++
	objcopy --compress-debug-sections=zstd shop zstd 2>/dev/null || skip "no zstd in objcopy"
	code shop | profile shop "$PWD/zstd" 5555 >records
	run --separate-stderr tool pprof-symbolize --demangle full --output named records
	status_is 0
	if [ -z "$stderr" ]; then
		resolved named | diff <(code shop | frames shop) -
	else
		[[ $stderr == *": it is compressed with zstd" ]]
	fi
}

@test "stripped without a debug file: exported names, a warning where there is none" {
	need g++
	mkdir -p bare
	g++ -O2 -rdynamic -fPIE -pie -s -Wl,--build-id -o bare/exported shop.cpp
	strip -o bare/shop shop
	entry=$(nm -D bare/exported | awk '$3 == "plain" { print substr($1, 9) }')
	echo "$entry" | profile bare/exported "$PWD/bare/exported" 5555 >records
	run --separate-stderr tool pprof-symbolize -v --output named records
	status_is 0
	[[ $stderr == *"1 of 1 locations; names alone, no debug file"* ]]
	[ "$(resolved named)" = "$entry${TAB}plain${TAB}??${TAB}0" ]
	[ "$(tool pprof-decode --records named | awk -F '\t' '$1 == "mapping" { print $9, $10, $11, $12 }')" = "1 0 0 0" ]

	code shop | profile shop "$PWD/bare/shop" 5555 >records
	run --separate-stderr tool pprof-symbolize --output named records
	status_is 0
	[[ $stderr == "pprof-symbolize: warning: '$PWD/bare/shop': the file has no symbols and no debug file was found; "*" locations stay without names" ]]
}

@test "another build is named and not used, but with --any-build" {
	need g++
	address=$(nm shop | awk '$3 == "plain" { print substr($1, 9) }')
	echo "$address" | profile shop "$PWD/shop" 5555 00ff >records
	run --separate-stderr tool pprof-symbolize --output named records
	status_is 0
	[ "$stderr" = "pprof-symbolize: warning: '$PWD/shop': '$PWD/shop' is another build: its build id is $(build_id shop), the profile's 00ff; 1 location stays without names" ]
	[ "$(resolved named)" = "$address${TAB}??${TAB}??${TAB}0" ]
	run --separate-stderr tool pprof-symbolize --any-build --output named records
	[ "$stderr" = "pprof-symbolize: warning: '$PWD/shop': is another build than the profile's" ]
	[[ $(resolved named) == "$address${TAB}plain${TAB}"*shop.cpp* ]]
}

@test "the file is looked for below --sysroot, and by the base name of --binary" {
	need g++
	mkdir -p root/opt
	cp shop root/opt
	address=$(nm shop | awk '$3 == "plain" { print substr($1, 9) }')
	echo "$address" | profile shop /opt/shop 5555 >records
	tool pprof-symbolize --sysroot root records >named
	[[ $(resolved named) == "$address${TAB}plain${TAB}"*shop.cpp* ]]
	echo "$address" | profile shop /nowhere/shop 5555 "" >records
	tool pprof-symbolize -b root/opt/shop records >named
	[[ $(resolved named) == "$address${TAB}plain${TAB}"*shop.cpp* ]]
}

@test "functions: linked name, name by --demangle, file, first line; what the mapping has" {
	need g++
	address=$(nm shop | awk '$3 ~ /sumIdLi3E/ { print substr($1, 9) }')
	echo "$address" | profile shop "$PWD/shop" 5555 >records
	for want in "simple shop::sum" "templates shop::sum<double, 3>" "full double shop::sum<double, 3>(double const*)" \
		"none _ZN4shop3sumIdLi3EEET_PKS1_"; do
		tool pprof-symbolize --demangle "${want%% *}" records >named
		[ "$(tool pprof-decode --records named | awk -F '\t' '$1 == "function" { print $4 }')" = "${want#* }" ]
	done
	line=$(grep -n 'T sum(const T' shop.cpp | cut -d : -f 1)
	[ "$(tool pprof-decode --records named | awk -F '\t' '$1 == "function" { print $5, $6, $7 }')" = \
		"_ZN4shop3sumIdLi3EEET_PKS1_ $PWD/shop.cpp $line" ]
	[ "$(tool pprof-decode --records named | awk -F '\t' '$1 == "mapping" { print $9, $10, $11, $12 }')" = "1 1 1 1" ]
}

@test "what has lines stays as it is, but with --again" {
	need g++
	tool pprof-merge "$DATA/cpu.pb.gz" >sum
	tool pprof-symbolize sum | cmp - sum
	address=$(nm shop | awk '$3 == "plain" { print substr($1, 9) }')
	echo "$address" | profile shop "$PWD/shop" 5555 >records
	printf '%s\t%s\n' '#function' 'index	id	name	system_name	filename	start_line' function '0	1	old	old	old.c	1' \
		'#line' 'location	index	function	line	column' line '1	0	1	5	0' >>records
	tool pprof-symbolize records >named
	[ "$(resolved named)" = "$address${TAB}old${TAB}old.c${TAB}5" ]
	tool pprof-symbolize --again records >named
	[[ $(resolved named) == "$address${TAB}plain${TAB}"*shop.cpp* ]]
}

# Two loads of one program beside a library that is gone: its code is told apart by offset, whatever was resolved.
@test "rows of what is not resolved are the same wherever the code was loaded" {
	need g++
	address=$(nm shop | awk '$3 == "plain" { print substr($1, 9) }')
	for high in 5555 5601; do
		echo "$address" | profile shop "$PWD/shop" $high >records
		printf '%s\t%s\n' mapping "1	2	0x${high}00000000000	0x${high}00000009000	0x2000	/gone/lib.so	ab	0	0	0	0" \
			location "1	2	2	0x${high}00000001234	0" location "2	3	2	0x${high}00000001238	0" \
			sample '1	2	3' sample '2	3,1	4' >>records
		tool pprof-symbolize records 2>said | tool pprof-top | cut -f 1,3,5 >rows.$high
		grep -q "'/gone/lib.so': No such file or directory; 2 locations stay without names" said
	done
	diff rows.5555 rows.5601
	run cat rows.5555
	is "flat${TAB}cum${TAB}name
4${TAB}4${TAB}lib.so+0x3238
3${TAB}3${TAB}lib.so+0x3234
1${TAB}5${TAB}plain"
}

@test "no file, no mapping: skipped and said" {
	printf '%s\t%s\n' '#pprof-records' 1 '#sample_type' 'index	type	unit' sample_type '0	samples	count' \
		'#mapping' 'index	id	start	limit	offset	filename	build_id	has_functions	has_filenames	has_line_numbers	has_inline_frames' \
		mapping '0	1	0x1000	0x2000	0x0	[vdso]		0	0	0	0' mapping '1	2	0x3000	0x4000	0x0			0	0	0	0' \
		'#location' 'index	id	mapping	address	is_folded' location '0	1	1	0x1100	0' location '1	2	0	0x9	0' \
		location '2	3	2	0x3100	0' '#sample' 'index	locations	values' sample '0	1,2,3	1' >records
	run --separate-stderr tool pprof-symbolize --verbose --output named records
	status_is 0
	[ "$stderr" = "pprof-symbolize: '[vdso]': no file; 1 locations skipped
pprof-symbolize: warning: '': the mapping has no file name; 1 location stays without names
pprof-symbolize: warning: 'records': 1 location has no mapping, and cannot be resolved
pprof-symbolize: 'records': 0 of 2 locations resolved" ]
	tool pprof-decode --records records >want
	tool pprof-decode --records named | diff want -
}

@test "files that are no programs: a reason, no crash, no waiting" {
	mkdir -p odd/folder
	printf 'text' >odd/text
	: >odd/empty
	mkfifo odd/pipe 2>/dev/null || true
	for want in "text not an ELF file" "empty not an ELF file" "folder not a regular file" "pipe not a regular file" \
		"gone No such file or directory"; do
		printf '%s\t%s\n' '#pprof-records' 1 '#sample_type' 'index	type	unit' sample_type '0	samples	count' \
			'#mapping' 'index	id	start	limit	offset	filename	build_id	has_functions	has_filenames	has_line_numbers	has_inline_frames' \
			mapping "0	1	0x1000	0x2000	0x0	$PWD/odd/${want%% *}		0	0	0	0" \
			'#location' 'index	id	mapping	address	is_folded' location '0	1	1	0x1100	0' >records
		run --separate-stderr tool pprof-symbolize --output named records
		status_is 0
		[ "$stderr" = "pprof-symbolize: warning: '$PWD/odd/${want%% *}': ${want#* }; 1 location stays without names" ]
		rm named
	done
	run tool pprof-symbolize --binary odd/text records
	status_is 3
	is "pprof-symbolize: 'odd/text': not an ELF file"
}

@test "broken programs: cut short, and with bytes overwritten" {
	need g++
	code shop | profile shop "$PWD/broken" 5555 "" >records
	size=$(wc -c <shop)
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		head -c $((size * i / 13)) shop >broken
		run tool pprof-symbolize --output named records
		status_is 0
	done
	for i in $(seq 1 40); do
		cp shop broken
		for k in 1 2 3 4; do # in the second half, where debug information is
			printf "\\$((i % 4))$((k * 2 % 8))7" | dd of=broken bs=1 conv=notrunc \
				seek=$((size / 4 + (i * 7919 + k * 104729) % (size * 3 / 4))) 2>/dev/null
		done
		run tool pprof-symbolize --output named records
		status_is 0
	done
}
