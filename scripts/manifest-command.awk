# A command line of the reference as ours, by the migration table of pprof-tools(7). Reads manifest.tsv, writes for
# each row: id, command, expected status, expected output, sources, base mode, base, normalize, sample type, tool,
# options, options of a filter before it, unit. Nothing is "-".
BEGIN { FS = OFS = "\t" }

function value(word) { sub(/^[^=]*=/, "", word); return word }
function add(text) { options = options " " text }

NR == 1 || $7 != "yes" { next }
{
	n = split($2, word, " ")
	command = by = sources = base = type = options = ""
	mode = normalize = "-"
	unit = "minimum"
	fraction = "0.005"; edge = "0.001"; count = ""; untrimmed = columns = 0; before = search = trim = ""
	for (i = 2; i <= n; i++) {
		w = word[i]; gsub(/^\047|\047$/, "", w); v = value(w)
		if (w !~ /^-/) { sources = sources (sources == "" ? "" : " ") w; continue }
		sub(/^--?/, "", w); name = w; sub(/=.*/, "", name)
		if (name ~ /^(top|tree|peek|traces|tags|comments|raw|proto|dot|callgrind|topproto|list)$/) {
			command = name
			if (name == "peek") add("--peek " v)
		}
		else if (name ~ /^(lines|addresses|files|filefunctions|functions)$/) by = name
		else if (name == "nodecount") count = v
		else if (name == "nodefraction") fraction = v
		else if (name == "edgefraction") edge = v
		else if (name == "trim") untrimmed = v == "false"
		else if (name ~ /^(base|diff_base)$/) { mode = name; base = v }
		else if (name == "normalize") normalize = "normalize"
		else if (name == "sample_index") type = v
		else if (name ~ /^(focus|ignore|hide|show|tagfocus|tagignore|tagshow|taghide|tagroot|tagleaf)$/) add("--" name " " v)
		else if (name == "show_from") add("--show-from " v)
		else if (name == "prune_from") add("--prune-from " v)
		else if (name == "trim_path") trim = v
		else if (name == "source_path") search = v
		else if (name == "add_comment") before = before " --add-comment " v
		else if (name == "divide_by") { if (v >= 0) add("--divide-by " v) }
		else if (name == "drop_negative") add("--drop-negative")
		else if (name == "relative_percentages") add("--relative-percentages")
		else if (name == "all_frames") add("--all-frames")
		else if (name ~ /^(cum|mean|noinlines)$/) add("--" name)
		else if (name ~ /^(alloc_space|alloc_objects|inuse_space|inuse_objects)$/) type = name
		else if (name == "unit") unit = v == "" ? "none" : v
		else if (name == "showcolumns") columns = 1
		else if (name !~ /^(symbolize|compact_labels|flat)$/) unknown = unknown " " name # those are of no consequence
	}
	if (columns && by == "lines") by = "columns"
	# Where sources are to be found is also what names are cut off at, unless that is said.
	if (trim == "" && search != "") {
		k = split(search, folder, ":")
		for (i = 1; i <= k; i++) { sub(/\/+$/, "", folder[i]); sub(/.*\//, "", folder[i]); trim = trim (i > 1 ? ":" : "") "*/" folder[i] }
	}
	if (trim != "") add("--trim-path " trim)
	# Commands that do not cut; the count counts for trees only.
	if (untrimmed || command == "peek") { count = fraction = edge = 0 }
	if (command ~ /^(top|topproto)$/ && count == "") count = 0
	if (command ~ /^(tree|dot)$/ && (count == "" || count < 0)) count = 80
	if (command ~ /^(top|topproto)$/) add("--nodecount " count " --nodefraction " fraction)
	if (command ~ /^(top|tree|peek|dot)$/ || command ~ /^(tags|traces)$/ && unit != "minimum") if (unit != "none") add("--unit " unit)
	if (command ~ /^(tree|dot)$/) add("--nodecount " count " --nodefraction " fraction " --edgefraction " edge)
	if (command ~ /^(top|tree|peek|traces|topproto|dot)$/) add("--by " (by == "" ? "functions" : by))
	if (command == "traces" && options ~ /--drop-negative/) sub(/ --drop-negative/, "", options)
	if (command ~ /^(traces|tags|comments)$/) add("--" command)
	tool = command ~ /^top/ ? "pprof-top" : command ~ /^(tree|peek|traces|tags|comments)$/ ? "pprof-tree" : command == "dot" ? "pprof-dot" : "pprof-filter"
	if (command == "dot") sub(/ --cum/, "", options) # it changes nothing there
	if (tool == "pprof-filter") gsub(/ --(mean|cum|drop-negative)/, "", options)
	if (options ~ /--cum/ && tool == "pprof-tree" && command !~ /^(tree|peek)$/) sub(/ --cum/, "", options)
	print $1, command, $5, $4, sources, mode, base == "" ? "-" : base, normalize, type == "" ? "-" : type, tool, \
		options == "" ? "-" : options, before == "" ? "-" : before, unit
}
END { if (unknown != "") print "manifest-command.awk: no counterpart:" unknown >"/dev/stderr" }
