# Compares a call graph of the reference with one of pprof-dot: functions with their values, calls with theirs, what is
# dotted or inlined, labels. Both print values rounded to two decimals of a unit, and small ones as 0: they are equal
# when they can be.     awk -f manifest-dot.awk [-v tree=1] REFERENCE OURS      prints what differs
# In a tree, elements are known by the path to them. -v exact=1: values are alike as text; -v direct=1: only direct
# calls.
BEGIN {
	n = split("ns 1 us 1e3 ms 1e6 s 1e9 hrs 3.6e12 B 1 kB 1024 MB 1048576 GB 1073741824 TB 1099511627776 n*GCU 1 u*GCU 1e3 m*GCU 1e6 GCU 1e9", list, " ")
	for (i = 1; i < n; i += 2) factor[list[i]] = list[i + 1]
}
function scale(cost) { sub(/^-?[0-9.]+/, "", cost); return cost in factor ? factor[cost] : 1 }
function size(x) { return x < 0 ? -x : x }
# Each side of a comparison may print 0 for what it rounds to 0 in its unit.
function equal(a, b,    d) {
	if (a == b || exact) return a == b
	if (a == "0") return report_unit != "" && size(b * scale(b)) < 0.0051 * scale("1" report_unit) || size(b * scale(b)) == 0
	if (b == "0") return size(a * scale(a)) < 0.0051 * scale(a)
	d = size(a * scale(a) - b * scale(b))
	return d <= 0.0051 * (scale(a) + scale(b)) * 1.000001
}
function attribute(name,    at, rest) {
	at = index($0, name "=\"")
	if (at == 0) { # cgraph does not quote plain words
		at = match($0, name "=[^ ,\\]]+")
		return at == 0 ? "" : substr($0, at + length(name) + 1, RLENGTH - length(name) - 1)
	}
	rest = substr($0, at + length(name) + 2)
	match(rest, /^([^"\\]|\\.)*/)
	return substr(rest, 1, RLENGTH)
}
function put(kind, key, a, b) {
	if ((kind, key) in seen) { seen[kind, key]++; key = key " #" seen[kind, key] } else seen[kind, key] = 1
	first[side, kind, key] = a; second[side, kind, key] = b
	keys[side, kind, key] = kind " " key
	count[side]++
	sub(/^-?[0-9.]+/, "", a)
	if (side == 1 && a != "" && report_unit == "") report_unit = a
}
function plain(name) { gsub(/&amp;/, "\\&", name); gsub(/\\\\/, "\\", name); gsub(/\\n.*/, "", name); return name }
function put_call(from, to, residual, cost,    mark, inlined) {
	if (direct && residual) return
	mark = (residual ? " ... " : " -> "); inlined = /\(inline\)/ ? " inline" : ""
	if (tree) { caller[to] = from; called[to] = inlined mark; weight[to] = cost }
	else put("call", plain(name_of[from]) mark plain(name_of[to]) inlined, cost, "")
}
function put_label(from, to, dotted, cost) {
	if (tree) { labels_n++; label_from[labels_n] = from; label_to[labels_n] = name_of[to] dotted; label_cost[labels_n] = cost }
	else put("label", plain(name_of[from]) " -> " name_of[to] dotted, cost, "")
}
function path(id) { return (id in caller ? path(caller[id]) called[id] : "") plain(name_of[id]) }
function value(cost) { return size(cost * scale(cost)) }
function heavier(a, b) { return value(node_cum[a]) != value(node_cum[b]) ? value(node_cum[a]) > value(node_cum[b]) : value(node_flat[a]) > value(node_flat[b]) }
# The elements of a tree, when all of a file have been read.
function end_file(    i, k, id, sorted) {
	for (i = 1; i <= nodes_n; i++) { # the heaviest first: paths with gaps may be alike
		for (k = i; k > 1 && heavier(i, sorted[k - 1]); k--) sorted[k] = sorted[k - 1]
		sorted[k] = i
	}
	for (k = 1; k <= nodes_n; k++) {
		i = sorted[k]; id = node_id[i]
		put("node", path(id), node_flat[i], node_cum[i])
		if (id in caller) put("call", path(id), weight[id], "")
	}
	for (i = 1; i <= labels_n; i++) put("label", path(label_from[i]) " -> " label_to[i], label_cost[i], "")
	nodes_n = labels_n = 0
	split("", caller); split("", name_of)
}
# "…\n5ms (1%)\nof 9ms (2%)", or "…\n0 of 9ms (2%)", or "…\n9ms (2%)".
function node(name, label,    flat, cum, part, n) {
	n = split(label, part, /\\n/)
	if (part[n] ~ /^(0 )?of [^ ]+ \([^(]*\)$/) {
		cum = part[n]; sub(/^(0 )?of /, "", cum); sub(/ .*/, "", cum)
		flat = "0"
		if (part[n] !~ /^0 of/) { flat = part[n - 1]; sub(/ .*/, "", flat) }
	} else { flat = part[n]; sub(/ .*/, "", flat); cum = flat }
	if (tree) { node_id[++nodes_n] = id; node_flat[nodes_n] = flat; node_cum[nodes_n] = cum }
	else put("node", plain(name), flat, cum)
}
FNR == 1 { end_file(); side++; split("", seen); split("", name_of) }

side == 1 && /^N[0-9]+ \[label=.* shape=box / {
	id = $1
	name = attribute("tooltip"); sub(/ \([^(]*\)$/, "", name); name_of[id] = name
	node(name, attribute("label"))
}
side == 1 && /^N[0-9_]+ \[label = |^NN[0-9_]+ \[label = / {
	id = $1; sub(/ = "/, "=\"")
	name_of[id] = attribute("label")
}
side == 1 && /^N+[0-9_]+ -> N+[0-9_]+ \[/ {
	if ($1 ~ /^N[0-9]+$/ && $3 ~ /^N[0-9]+$/) {
		if (!($3 in name_of)) next # a function that came to nothing, which is not drawn
		cost = attribute("tooltip"); sub(/.* \(/, "", cost); sub(/\)$/, "", cost)
		put_call($1, $3, /style="dotted"/, cost)
	} else
		put_label($1, $3, /style="dotted"/ ? " dotted" : "", attribute("tooltip"))
}
# Ours: an element is several lines.
side == 2 && /^\t[^\t]/ { element = ""; id = $1 }
side == 2 { element = element " " $0 }
side == 2 && /\];$/ {
	$0 = element; gsub(/[\t ]+/, " ")
	if (match($0, /^ n[0-9_]+ -> n[0-9_]+ /)) {
		from = $1; to = $3
		if (from ~ /^n[0-9]+$/ && to ~ /^n[0-9]+$/) {
			cost = attribute("labeltooltip"); sub(/.*\\n/, "", cost)
			put_call(from, to, attribute("style") == "dashed", cost)
		} else
			put_label(from, to, attribute("style") == "dotted" ? " dotted" : "", attribute("labeltooltip"))
	} else if ($1 ~ /^n[0-9]+$/) {
		name = attribute("tooltip")
		id = $1; name_of[id] = name
		if (name != "(no stack)") node(name, attribute("label"))
	} else if ($1 ~ /^n[0-9_]+$/)
		name_of[$1] = attribute("label")
	element = ""
}
END {
	end_file()
	for (k in keys) {
		split(k, part, SUBSEP)
		other = (3 - part[1]) SUBSEP part[2] SUBSEP part[3]
		if (!(other in keys)) { print (part[1] == 1 ? "missing: " : "not there: ") keys[k]; bad = 1; exit 1 }
		if (part[1] == 1 && !(equal(first[k], first[other]) && equal(second[k], second[other]))) {
			print keys[k] ": " first[other] " " second[other] " and not " first[k] " " second[k]; exit 1
		}
	}
	if (count[1] + 0 != count[2] + 0) { print count[2] + 0 " elements and not " count[1] + 0; exit 1 }
}
