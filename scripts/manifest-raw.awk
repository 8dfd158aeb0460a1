# A profile as lines that do not depend on ids or on tables' order: header, then a line a sample (values, labels, frames
# with their binaries), then what locations and binaries there are. Reads what the reference's -raw prints, or with
# -v records=1 the records view of pprof-decode, and prints the same lines for the same profile. Times are left out:
# the reference prints them in words, and cuts them. -v relative=1: addresses are those within the binary.
BEGIN { FS = records ? "\t" : "\n" }

function unescape(s) { gsub(/\\t/, "\t", s); gsub(/\\n/, "\n", s); gsub(/\\r/, "\r", s); gsub(/\\\\/, "\\", s); return s }
function sort_list(list, n,    i, k, t) {
	for (i = 2; i <= n; i++)
		for (k = i; k > 1 && list[k - 1] > list[k]; k--) { t = list[k]; list[k] = list[k - 1]; list[k - 1] = t }
}

# ---- the reference's text ----
!records && section == "" {
	if ($0 == "Samples:") { section = "types"; next }
	if ($0 !~ /^(Time|Duration): /) print
	next
}
!records && section == "types" { print "types " $0; section = "samples"; next }
!records && $0 == "Locations" { section = "locations"; next }
!records && $0 == "Mappings" { section = "mappings"; next }
!records && section == "samples" {
	if (/^                /) { sub(/^ */, ""); labels[samples] = labels[samples] " " $0; next }
	samples++
	at = index($0, ": ")
	values[samples] = substr($0, 1, at - 1); gsub(/ +/, " ", values[samples])
	stack[samples] = substr($0, at + 2)
	next
}
!records && section == "locations" {
	if (match($0, /^ *[0-9]+: 0x/) && !/^             [^ ]/) {
		id = $0; sub(/:.*/, "", id); sub(/^ */, "", id)
		order[++locations] = id
		text = $0; sub(/^ *[0-9]+: /, "", text)
		mapping_of[id] = match(text, /^0x[0-9a-f]+ M=[0-9]+ /) ? text : ""
		if (mapping_of[id] != "") {
			mapping = text; sub(/^[^=]*=/, "", mapping); sub(/ .*/, "", mapping); mapping_of[id] = mapping
			sub(/ M=[0-9]+ /, " ", text)
		}
		location[id] = text
	} else { sub(/^ */, ""); location[id] = location[id] "; " $0 }
	next
}
!records && section == "mappings" && NF {
	id = $0; sub(/:.*/, "", id)
	sub(/^[0-9]+: /, "")
	binary[id] = $0; binaries[++binaries_n] = id
	next
}

# ---- ours ----
records && $1 == "profile" { period = "PeriodType: " $4 " " $5 "\nPeriod: " $6; default_type = $7; url = $10 }
records && $1 == "comment" { print "Comment: " unescape($3) }
records && $1 == "sample_type" { types = types (types == "" ? "" : " ") $3 "/" $4 ($3 == default_type ? "[dflt]" : "") }
records && $1 == "mapping" {
	bits = ($9 == 1 ? "[FN]" : "") ($10 == 1 ? "[FL]" : "") ($11 == 1 ? "[LN]" : "") ($12 == 1 ? "[IN]" : "")
	binary[$3] = $4 "/" $5 "/" $6 " " unescape($7) " " unescape($8) " " bits
	binaries[++binaries_n] = $3
}
records && $1 == "function" { name[$3] = unescape($4); system_name[$3] = unescape($5); file[$3] = unescape($6); first_line[$3] = $7 }
records && $1 == "location" {
	order[++locations] = $3
	mapping_of[$3] = $4 == 0 ? "" : $4
	location[$3] = $5 " " ($6 == 1 ? "[F] " : "")
}
records && $1 == "line" {
	f = $4
	text = f in name ? name[f] " " file[f] ":" $5 ":" $6 " s=" first_line[f] (name[f] == system_name[f] ? "" : "(" system_name[f] ")") : "??"
	location[$2] = location[$2] (($2 in lines) ? "; " : "") text
	lines[$2]
}
records && $1 == "sample" {
	samples++
	gsub(/,/, " ", $3); gsub(/,/, " ", $4)
	stack[samples] = $3; values[samples] = " " $4
}
records && $1 == "label" {
	s = $2 + 1; key = unescape($4)
	if ($5 == "" && $6 == 0 && $7 == "") next
	number = $5 == "" && ($6 != 0 || $7 != "")
	k = s SUBSEP number SUBSEP key
	if (!(k in list)) { keys_n[s, number]++; keys[s, number, keys_n[s, number]] = key }
	list[k] = list[k] (k in list && list_n[k] ? "\001" : "") (number ? $6 : unescape($5))
	unit[k] = unit[k] (list_n[k] ? "\001" : "") $7
	list_n[k]++
	if ($7 != "") has_unit[k]
}
function labels_of(s, number,    i, n, part, t, k, text, v, u, m) {
	n = keys_n[s, number]
	for (i = 1; i <= n; i++) {
		k = s SUBSEP number SUBSEP keys[s, number, i]
		text = ""
		m = split(list[k], v, "\001"); split(unit[k], u, "\001")
		for (t = 1; t <= m; t++) text = text (t > 1 ? " " : "") v[t] (k in has_unit ? " " u[t] : "")
		part[i] = keys[s, number, i] ":[" text "]"
	}
	sort_list(part, n)
	text = ""
	for (i = 1; i <= n; i++) text = text " " part[i]
	return text
}

function number_of(hex,    i, n) {
	n = 0
	for (i = 3; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return n
}
# The address of a location less the start of its binary; of the binary, its size.
function relocate(id,    start, part, rest) {
	split(binary[mapping_of[id]], part, /[\/ ]/)
	start = number_of(part[1])
	rest = location[id]; sub(/ .*/, "", rest)
	sub(/^[^ ]*/, sprintf("+%d", number_of(rest) - start), location[id])
	rest = binary[mapping_of[id]]; sub(/^[^\/]*\/[^\/]*/, "", rest)
	m = " in " sprintf("%d", number_of(part[2]) - start) rest
}

END {
	if (records) {
		if (url != "") print "Doc: " url
		print period
		print "types " types
		for (s = 1; s <= samples; s++) labels[s] = labels_of(s, 0) labels_of(s, 1)
	}
	# A binary without anything stands for none.
	for (i = 1; i <= binaries_n; i++) if (binary[binaries[i]] ~ /^0x0\/0x0\/0x0 +(\[[A-Z]+\])*$/) none[binaries[i]]
	for (i = 1; i <= locations; i++) {
		id = order[i]
		m = mapping_of[id] == "" || mapping_of[id] in none ? "" : " in " binary[mapping_of[id]]
		if (relative && m != "") relocate(id)
		frame[id] = location[id] m
		gsub(/ +/, " ", frame[id])
	}
	for (s = 1; s <= samples; s++) {
		line = "sample" values[s] ":" labels[s]
		n = split(stack[s], ids, " ")
		for (i = 1; i <= n; i++) line = line " < " frame[ids[i]]
		print line
	}
	for (i = 1; i <= locations; i++) print "location " frame[order[i]]
	for (i = 1; i <= binaries_n; i++) if (!(binaries[i] in none)) { sub(/ +$/, "", binary[binaries[i]]); print "binary " binary[binaries[i]] }
}
