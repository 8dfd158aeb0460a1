#include <string.h>

#include "libpprof/load_private.h"
#include "libpprof/records.h"
#include "libpprof/samples_private.h"

static bool starts_with(struct pp_str text, struct pp_str prefix)
{
	return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

static bool holds(struct pp_str text, struct pp_str part)
{
	for (size_t i = 0; i + part.len <= text.len; i++)
		if (memcmp(text.ptr + i, part.ptr, part.len) == 0)
			return true;
	return false;
}

static int unsupported(struct pp_error *err, const char *name, const char *advice)
{
	return pp_fail(err, PP_EUNSUPPORTED, 0, "%s: not read%s%s", name, advice[0] ? "; " : "", advice);
}

/* ---- formats with a magic number ---- */

static const struct {
	struct pp_str magic;
	const char *name, *advice;
} magics[] = {
	{{"FLR\0", 4}, "Java Flight Recorder (JFR) recording", "convert it to pprof or folded stacks first"},
	{{"PERFILE2", 8}, "perf.data of Linux perf", "pipe perf script through stackcollapse-perf and give the folded stacks"},
	{{"2ELIFREP", 8}, "perf.data of Linux perf, of the other byte order", ""},
	{{"PK\x03\x04", 4}, "zip archive", "unpack it first"},
	{{"\x28\xb5\x2f\xfd", 4}, "zstd data", "unpack it first"},
	{{"\xfd" "7zXZ\0", 6}, "xz data", "unpack it first"},
	{{"BZh91AY&SY", 10}, "bzip2 data", "unpack it first"},
	{{"\x04\x22\x4d\x18", 4}, "lz4 data", "unpack it first"},
	{{"\x7f" "ELF", 4}, "ELF binary", "give the profile, not the program"},
	{{"\xff\xfe", 2}, "UTF-16 text", "convert it to UTF-8"},
	{{"\xfe\xff", 2}, "UTF-16 text", "convert it to UTF-8"},
};

static uint64_t word(const unsigned char *bytes, size_t size, bool big)
{
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value = value << 8 | bytes[big ? i : size - 1 - i];
	return value;
}

bool pp_cpu_head(const unsigned char *bytes, size_t size, bool big_endian, uint64_t head[5])
{
	for (size_t i = 0; i < 5; i++)
		head[i] = word(bytes + i * size, size, big_endian);
	return head[0] == 0 && head[1] == 3 && head[2] <= 1 && head[4] == 0;
}

static bool is_cpu(const unsigned char *bytes, size_t n)
{
	uint64_t head[5];
	for (unsigned shape = 0; shape < 4; shape++) {
		size_t size = shape < 2 ? 4 : 8;
		if (n >= 5 * size && pp_cpu_head(bytes, size, shape % 2, head) && head[3] > 0)
			return true;
	}
	return false;
}

static int sniff_magic(const unsigned char *bytes, size_t n, struct pp_error *err)
{
	struct pp_str text = {(const char *)bytes, n};
	if (n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return pp_fail(err, PP_EFORMAT, 0, "gzip inside gzip");
	for (size_t i = 0; i < PP_COUNT(magics); i++)
		if (starts_with(text, magics[i].magic))
			return unsupported(err, magics[i].name, magics[i].advice);
	return 0;
}

/* ---- protobuf ---- */

/* Whether a byte can be the first of a profile: the tag of one of its fields (1 … 15), of its wire type. */
static bool is_profile_tag(unsigned char byte)
{
	unsigned field = byte >> 3, wire = byte & 7;
	if (byte & 0x80 || field == 0)
		return false;
	if (field <= 6 || field == 11)
		return wire == 2;
	return field == 13 ? wire == 0 || wire == 2 : wire == 0;
}

/* Steps into the length-delimited field with this tag at the start of *in: *in becomes its payload as far
 * as it is in sight, *after what follows. */
static bool enter(struct pp_str *in, unsigned char tag, struct pp_str *after)
{
	uint64_t length = 0;
	size_t at = 1;
	if (in->len < 2 || (unsigned char)in->ptr[0] != tag)
		return false;
	for (unsigned shift = 0; at < in->len && shift < 63; shift += 7) {
		unsigned char c = (unsigned char)in->ptr[at++];
		length |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			break;
	}
	size_t rest = in->len - at, n = length < rest ? (size_t)length : rest;
	*after = (struct pp_str){in->ptr + at + n, rest - n};
	*in = (struct pp_str){in->ptr + at, n};
	return true;
}

/* In a profile, field 1 is a ValueType: two varints. In OTLP (ProfilesData, ExportProfilesServiceRequest)
 * it is ResourceProfiles: field 1 a Resource of attributes, whose first field is a key; field 2
 * ScopeProfiles. */
static bool is_otlp(const unsigned char *bytes, size_t n)
{
	struct pp_str in = {(const char *)bytes, n}, after;
	if (!enter(&in, 0x0a, &after))
		return false;
	if (in.len > 0 && in.ptr[0] == 0x12)
		return true;
	if (!enter(&in, 0x0a, &after))
		return false;
	if (in.len == 0)
		return after.len > 0 && (after.ptr[0] == 0x12 || after.ptr[0] == 0x1a);
	return enter(&in, 0x0a, &after) && in.len > 0 && in.ptr[0] == 0x0a;
}

/* ---- text ---- */

/* Text as far as it can be seen: no control bytes. Not only UTF-8: some tools write Latin letters. */
static bool is_text(struct pp_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
			return false;
	}
	return true;
}

/* The first line that is not blank; *cut when its end is not in sight. */
static struct pp_str first_line(struct pp_str text, bool whole, bool *cut)
{
	while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t' || *text.ptr == '\n' || *text.ptr == '\r'))
		text = (struct pp_str){text.ptr + 1, text.len - 1};
	const char *newline = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
	*cut = !newline && !whole;
	if (newline)
		text.len = (size_t)(newline - text.ptr);
	while (text.len > 0 && (text.ptr[text.len - 1] == '\r' || text.ptr[text.len - 1] == ' '))
		text.len--;
	return text;
}

/* The first line that is not a comment. */
static struct pp_str first_text(struct pp_str text, bool whole)
{
	bool cut;
	struct pp_str line = first_line(text, whole, &cut);
	while (line.len > 0 && line.ptr[0] == '#' && !cut) {
		const char *next = line.ptr + line.len;
		line = first_line((struct pp_str){next, text.len - (size_t)(next - text.ptr)}, whole, &cut);
	}
	return line;
}

/* "NAME profile: total N" */
static bool is_count(struct pp_str line)
{
	static const struct pp_str mark = {" profile: total ", 16};
	size_t name = 0, digits = 0;
	while (name < line.len && line.ptr[name] != ' ')
		name++;
	while (digits < line.len && line.ptr[line.len - 1 - digits] >= '0' && line.ptr[line.len - 1 - digits] <= '9')
		digits++;
	return name > 0 && digits > 0 && line.len == name + mark.len + digits && memcmp(line.ptr + name, mark.ptr, mark.len) == 0;
}

static bool is_java_contention(struct pp_str text)
{
	return holds(text, PP_LIT("format = java")) || holds(text, PP_LIT("format=java"));
}

/* The texts that legacy.h reads. */
static bool sniff_legacy(struct pp_str text, bool whole, enum pp_format *format)
{
	static const struct {
		struct pp_str prefix;
		enum pp_format format;
	} prefixes[] = {
		{{"--- threadz ", 12}, PP_FORMAT_THREADS},       {{"--- Thread ", 11}, PP_FORMAT_THREADS},
		{{"--- heapz ", 10}, PP_FORMAT_JAVA},            {{"--- mutex:", 10}, PP_FORMAT_CONTENTION},
		{{"--- contention:", 15}, PP_FORMAT_CONTENTION}, {{"--- contentionz ", 16}, PP_FORMAT_CONTENTION},
		{{"heap_v2/", 8}, PP_FORMAT_JEMALLOC},           {{"heap profile:", 13}, PP_FORMAT_HEAP},
	};
	struct pp_str line = first_text(text, whole);
	for (size_t i = 0; i < PP_COUNT(prefixes); i++) {
		if (!starts_with(line, prefixes[i].prefix))
			continue;
		*format = prefixes[i].format;
		if (*format == PP_FORMAT_CONTENTION && is_java_contention(text))
			*format = PP_FORMAT_JAVA;
		return true;
	}
	*format = PP_FORMAT_COUNT;
	return is_count(line);
}

static bool ends_in_count(struct pp_str line)
{
	size_t digits = 0;
	while (digits < line.len && line.ptr[line.len - 1 - digits] >= '0' && line.ptr[line.len - 1 - digits] <= '9')
		digits++;
	size_t rest = line.len - digits;
	if (rest > 0 && line.ptr[rest - 1] == '-')
		rest--;
	return digits > 0 && rest > 0 && (line.ptr[rest - 1] == ' ' || line.ptr[rest - 1] == '\t');
}

static bool is_samples_header(struct pp_str line, bool cut)
{
	static const struct pp_str stack = {"\t" PP_SAMPLES_STACK, sizeof("\t" PP_SAMPLES_STACK) - 1};
	const char *tab = memchr(line.ptr, '\t', line.len);
	if (cut) /* many columns: the first is TYPE:UNIT or a label */
		return tab && memchr(line.ptr, ':', (size_t)(tab - line.ptr));
	return pp_str_eq(line, PP_LIT(PP_SAMPLES_STACK)) ||
	       (line.len > stack.len && memcmp(line.ptr + line.len - stack.len, stack.ptr, stack.len) == 0);
}

/* A frame may begin with '[' or '<' too, so what follows decides. */
static int sniff_markup(struct pp_str line, struct pp_error *err)
{
	static const struct pp_str markup[] = {{"<!", 2}, {"<?", 2}, {"<html", 5}, {"<HTML", 5}, {"<svg", 4}};
	size_t at = 1;
	while (at < line.len && (line.ptr[at] == ' ' || line.ptr[at] == '\t'))
		at++;
	if ((line.ptr[0] == '{' || line.ptr[0] == '[') && (at == line.len || strchr("{[\"]}", line.ptr[at])))
		return unsupported(err, "JSON", "");
	for (size_t i = 0; i < PP_COUNT(markup); i++)
		if (starts_with(line, markup[i]))
			return unsupported(err, holds(line, PP_LIT("html")) || holds(line, PP_LIT("HTML"))
			                                ? "HTML" : "XML or SVG", "");
	return 0;
}

static int sniff_text(struct pp_str text, bool whole, enum pp_format *format, struct pp_error *err)
{
	bool cut;
	struct pp_str line = first_line(text, whole, &cut);
	if (line.len == 0 && whole)
		return pp_fail(err, PP_EFORMAT, 0, "empty input: nothing but blanks");
	if (starts_with(text, PP_LIT(PP_RECORDS_MAGIC "\t")))
		*format = PP_FORMAT_RECORDS;
	else if (is_samples_header(line, cut))
		*format = PP_FORMAT_SAMPLES;
	else if (sniff_legacy(text, whole, format))
		return 0;
	else if (ends_in_count(line) && !cut)
		*format = PP_FORMAT_FOLDED;
	else if (line.len > 0 && sniff_markup(line, err) < 0)
		return -1;
	else if (cut) /* a first stack longer than what is in sight: its reader will say what is wrong */
		*format = PP_FORMAT_FOLDED;
	else
		return pp_fail(err, PP_EFORMAT, 0, "is not a profile: text that is neither records, samples nor folded stacks");
	return 0;
}

int pp_sniff(const unsigned char *bytes, size_t n, bool whole, enum pp_format *format, struct pp_error *err)
{
	struct pp_str text = {(const char *)bytes, n};
	if (sniff_magic(bytes, n, err) < 0)
		return -1;
	*format = starts_with(text, PP_LIT("--- symbol")) ? PP_FORMAT_SYMBOLIZED : PP_FORMAT_CPU;
	if (*format == PP_FORMAT_SYMBOLIZED || is_cpu(bytes, n))
		return 0;
	if (is_text(text))
		return sniff_text(text, whole, format, err);
	if (!is_profile_tag(bytes[0]))
		return pp_fail(err, PP_EFORMAT, 0, "is not a profile: its first byte is 0x%02x", bytes[0]);
	if (is_otlp(bytes, n))
		return unsupported(err, "OTLP profile (OpenTelemetry)", "export pprof instead");
	*format = PP_FORMAT_PPROF;
	return 0;
}
