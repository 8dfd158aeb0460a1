# Compares what the reference printed with a table of ours: rows, their order, numbers as far as the reference prints
# them. -v command=top|tree|peek|traces|tags|comments -v unit=… of the sample type -v out_unit=… of -unit.
#   awk -f manifest-compare.awk REFERENCE OURS      prints the first difference, and nothing when there is none

function unit_find(name,    n) {
	n = tolower(name)
	if (length(n) > 2) sub(/s$/, "", n)
	return n in alias ? alias[n] : ""
}
function define(list, family,    part, i, n, m, names, k) {
	n = split(list, part, ";")
	for (i = 1; i <= n; i++) {
		m = split(part[i], names, " ")
		factor[names[1]] = names[2] + 0; family_of[names[1]] = family
		units[family, i] = names[1]; units_n[family] = i
		for (k = 3; k <= m; k++) alias[names[k]] = names[1]
	}
}
BEGIN {
	FS = "\t"
	define("B 1 b byte;kB 1024 kb kbyte kilobyte;MB 1048576 mb mbyte megabyte;GB 1073741824 gb gbyte gigabyte;TB 1099511627776 tb;PB 1125899906842624 pb", "B")
	define("ns 1 ns nanosecond;us 1e3 us microsecond;ms 1e6 ms millisecond;s 1e9 s sec second;hrs 3.6e12 hour hr", "s")
	define("n*GCU 1e-9 nanogcu;u*GCU 1e-6 microgcu;m*GCU 1e-3 milligcu;GCU 1 gcu;k*GCU 1e3 kilogcu", "GCU")
	fallback["B"] = "B"; fallback["s"] = "s"; fallback["GCU"] = "GCU"
}

function number(x,    t) {
	t = sprintf("%.2f", x)
	sub(/\.00$/, "", t)
	return t == "-0" ? "0" : t
}
# v in unit from, as a label in unit to, as the reference writes it.
function label(v, from, to,    f, t, base, i, u, best, text) {
	f = unit_find(from)
	if (f == "") {
		text = number(v)
		if (to ~ /^(count|sample|unit|minimum|auto|none)$/ || text == "0") return text
		return text to
	}
	base = v * factor[f]
	best = ""
	if (to ~ /^(minimum|auto)$/) {
		for (i = 1; i <= units_n[family_of[f]]; i++) {
			u = units[family_of[f], i]
			if ((base < 0 ? -base : base) / factor[u] >= 1) best = u
		}
	} else {
		t = unit_find(to)
		if (t != "" && family_of[t] == family_of[f]) best = t
	}
	if (best == "") best = fallback[family_of[f]]
	text = number(base / factor[best])
	return text == "0" ? text : text best
}
# Whether our value, in unit, is what the reference printed: equal once rounded as it rounds.
function same(printed, value,    n, u, f) {
	n = printed; sub(/[^-0-9.].*$/, "", n)
	u = substr(printed, length(n) + 1)
	# Shown in one unit, it is that of the reference, which gives 0 none.
	if (shown in factor && u != shown && printed != "0") return 0
	if (u == "" && printed == "0" && report_unit == "" && unit_find(out_unit) != "") report_unit = unit_find(out_unit)
	if (u == "" && printed == "0" && report_unit != "") u = report_unit
	if (u != "") report_unit = u
	f = unit_find(unit)
	if (f != "" && u in factor) value = value * factor[f] / factor[u]
	return number(value) == n
}
function same_share(printed, share,    p) {
	p = printed; sub(/%/, "", p)
	p += 0; share *= 100
	if (share < 0) share = -share
	if (printed == "100%") return share >= 99.94 && share <= 100.06
	return p - share <= 0.0051 + (p < 1 ? p / 15 : 0) && share - p <= 0.0051 + (p < 1 ? p / 15 : 0)
}
function fail(text) { if (!failed) print text; failed = 1; exit 1 }
function unescape(s) { gsub(/\\t/, "\t", s); gsub(/\\\\/, "\\", s); return s }

# ---- the reference, in lines ----

{ file = FILENAME == ARGV[1] ? 1 : 2 }
file == 1 && command == "top" {
	if ($0 ~ /^ +flat +flat% +sum% +cum +cum%$/) { started = 1; next }
	if (!started) next
	line = $0; w++
	for (i = 1; i <= 5; i++) { sub(/^ */, "", line); want[w, i] = line; sub(/ .*/, "", want[w, i]); line = substr(line, length(want[w, i]) + 1) }
	sub(/^  /, "", line); sub(/ \((partial-)?inline\)$/, "", line)
	want[w, "name"] = line
	next
}
file == 1 && command ~ /^(tree|peek)$/ {
	if ($0 ~ /^-+\+-+$/) { started = 1; self = 0; next }
	if (!started || $0 ~ /^ +flat +flat% +sum%/) next
	w++; line = $0
	at = index(line, " | ")
	numbers = substr(line, 1, at); line = substr(line, at + 3)
	n = split(numbers, field, " ")
	for (i = 1; i <= n; i++) want[w, i] = field[i]
	# A node has five numbers and stands between its callers and callees.
	if (n == 5) { want[w, "kind"] = "self"; self = 1 } else { want[w, "kind"] = self ? "callee" : "caller"; sub(/^  /, "", line) }
	want[w, "inline"] = n == 2 && sub(/ \(inline\)$/, "", line)
	want[w, "name"] = line
	next
}
file == 1 && command == "traces" {
	if ($0 ~ /^-+\+-+$/) started = 1
	if (started) want[++w] = $0
	next
}
file == 1 && command == "tags" {
	if (match($0, /: Total .* of [^ ]+( \( *[0-9.e+-]+%\))?$/)) {
		key = substr($0, 1, RSTART - 1); sub(/^ */, "", key)
		split(substr($0, RSTART + 8), field, " ")
		want["key", key] = field[1]; w++
	} else if (match($0, /^ *[^ ]+( \( *[0-9.e+-]+%\))?: /)) {
		split($0, field, " ")
		sub(/:$/, "", field[1])
		want[key, substr($0, RLENGTH + 1)] = field[1]; w++
	}
	next
}
file == 1 && command == "topproto" {
	if (FNR == 1) { out_unit = $1; sub(/^[^:]*:/, "", out_unit); next }
	want[++w] = $3 "\t" $2 "\t" $1
	next
}
file == 1 { want[++w] = $0; next }

# ---- ours ----

FNR == 1 {
	if (match($0, /(flat|sum):[^\t]*/)) { shown = substr($0, RSTART, RLENGTH); sub(/^[^:]*:/, "", shown); unit = shown }
	next
}
command == "top" {
	if ($5 == "(no stack)") { no_stack += $2; next }
	g++
	name = unescape($5)
	if (name != want[g, "name"]) fail("row " g ": " name " and not " want[g, "name"])
	if (!same(want[g, 1], $1)) fail(name ": flat " $1 " and not " want[g, 1])
	if (!same(want[g, 4], $3)) fail(name ": cum " $3 " and not " want[g, 4])
	if (!same_share(want[g, 2], $2)) fail(name ": flat_share " $2 " and not " want[g, 2])
	if (!same_share(want[g, 5], $4)) fail(name ": cum_share " $4 " and not " want[g, 5])
	if (!same_share(want[g, 3], $13 - no_stack)) fail(name ": sum_share " $13 " and not " want[g, 3])
}
# In the unit of the reference's profile, without fractions.
function whole(value,    f) {
	if (reads_unit != "") out_unit = reads_unit
	f = unit_find(unit)
	return sprintf("%d", f != "" && out_unit in factor ? value * factor[f] / factor[out_unit] : value)
}
command == "topproto" {
	if ($5 == "(no stack)") next
	# Code without symbols has no function to be called by.
	row = ($5 ~ /^([[].*[]]|<unknown>)$/ ? "??" : $5) "\t" whole($1) "\t" whole($3)
	if (row != want[++g]) fail("row " g ": " row " and not " want[g])
}
command ~ /^(tree|peek)$/ {
	g++
	if (only == "self" && $2 != "self" || only == "calls" && $2 == "self") next
	name = unescape($2 == "self" ? $1 : $3)
	if ($2 != want[g, "kind"] || name != want[g, "name"])
		fail("row " g ": " $2 " " name " and not " want[g, "kind"] " " want[g, "name"])
	if ($2 != "self") {
		if (!same(want[g, 1], $7)) fail($1 " " $2 " " name ": " $7 " and not " want[g, 1])
		if (only == "" && !same_share(want[g, 2], $8)) fail($1 " " $2 " " name ": share " $8 " and not " want[g, 2])
		if ($9 != want[g, "inline"]) fail($1 " " $2 " " name ": inlined " $9)
	} else {
		if (!same(want[g, 1], $4)) fail(name ": flat " $4 " and not " want[g, 1])
		if (!same(want[g, 4], $7)) fail(name ": cum " $7 " and not " want[g, 4])
		if (!same_share(want[g, 2], $5)) fail(name ": flat_share " $5 " and not " want[g, 2])
		if (!same_share(want[g, 5], $8)) fail(name ": cum_share " $8 " and not " want[g, 5])
		if (!same_share(want[g, 3], $6)) fail(name ": sum_share " $6 " and not " want[g, 3])
	}
}
# The samples as the reference writes them; those without a stack it leaves out.
function flush_sample(    i, n, keys, k, lines) {
	if (frames_n > 0) {
		got[++g] = "-----------+-------------------------------------------------------"
		for (k = 0; k < 2; k++) {
			n = 0
			for (i in text) if (substr(i, 1, 1) == k) lines[++n] = sprintf("%10s:  %s", substr(i, 2), text[i])
			sort_lines(lines, n)
			for (i = 1; i <= n; i++) got[++g] = lines[i]
		}
		for (i = 1; i <= frames_n; i++) got[++g] = sprintf("%10s   %s", i == 1 ? sample_value : "", frame[i])
	}
	frames_n = 0
	split("", text)
}
function sort_lines(lines, n,    i, k, t) {
	for (i = 2; i <= n; i++)
		for (k = i; k > 1 && lines[k - 1] > lines[k]; k--) { t = lines[k]; lines[k] = lines[k - 1]; lines[k - 1] = t }
}
# Lines become one a sample, in the order of their bytes.
function sort_samples(lines, n,    i, k) {
	k = 0
	for (i = 1; i <= n; i++)
		if (lines[i] ~ /^-+\+-+$/) lines[++k] = ""; else lines[k] = lines[k] lines[i] "\n"
	for (i = k + 1; i <= n; i++) delete lines[i]
	sort_lines(lines, k)
	return k
}
function add_text(key, value) { if (key in text) text[key] = text[key] " " value; else text[key] = value }
command == "traces" {
	if ($2 == "sample") { flush_sample(); sample_value = label($4, $5, out_unit) }
	else if ($2 == "label") add_text(0 unescape($3), unescape($6))
	else if ($2 == "number") add_text(1 unescape($3), label($4, $5, "auto"))
	else frame[++frames_n] = unescape($3) ($6 == "inline" ? " (inline)" : "")
}
command == "tags" {
	key = unescape($1)
	value = $3 == "" ? unescape($2) : label($2, $3, out_unit)
	sum[key, value] += $4
	key_sum[key] = $6
}
command == "comments" { got[++g] = unescape($0) }

END {
	if (failed) exit 1
	if (command == "traces") { flush_sample(); got[++g] = "-----------+-------------------------------------------------------" }
	if (command == "tags") {
		g = 0
		for (k in sum) { g++; if (!(k in want)) fail("no tag " k); if (label(sum[k], unit, out_unit) != want[k]) fail("tag " k ": " sum[k] " and not " want[k]) }
		for (k in key_sum) { g++; if (label(key_sum[k], unit, out_unit) != want["key", k]) fail("key " k ": " key_sum[k] " and not " want["key", k]) }
	}
	if (command == "comments" && unordered) { sort_lines(want, w); sort_lines(got, g) }
	if (command == "traces" && unordered) { w = sort_samples(want, w); g = sort_samples(got, g) }
	if (command ~ /^(traces|comments)$/)
		for (i = 1; i <= g || i <= w; i++) if (got[i] != want[i]) fail("line " i ": " got[i] " and not " want[i])
	if (g + 0 != w + 0) fail(g + 0 " rows and not " w + 0)
}
