#include "cmd/symbols/object.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_ID_BYTES 64 /* SHA-1 has 20 */
#define SEGMENTS_MAX 4096
#define COMPRESSED_BY_ZSTD 2 /* ELFCOMPRESS_ZSTD, which older headers lack */
#define PADDING_BYTES 64 /* functions begin at multiples of it, or less */

struct segment {
	uint64_t offset, address, file_bytes, memory_bytes;
	bool code;
};

struct symbol {
	uint64_t address, end; /* end == address: no size is given */
	const char *name;
	uint16_t section;
	unsigned char rank; /* lower is better among names of one address */
};

struct object {
	int fd;
	Elf *elf;
	char *path;
	char build_id[2 * BUILD_ID_BYTES + 1];
	const char *debug_link;
	uint32_t debug_link_crc;
	const char *alt_link;
	char alt_id[2 * BUILD_ID_BYTES + 1];
	bool has_dwarf, is_zstd, bytes_gone; /* bytes_gone: a debug file, whose code was cut out */
	struct segment *segments;
	size_t segments_n;
	struct symbol *symbols;
	size_t symbols_n;
	bool symbols_read;
};

static int no_memory(struct pp_error *err)
{
	return pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory for symbols");
}

/* Profiles name the files: opens no device, and waits for no writer of a pipe. */
static int open_regular(const char *path, struct pp_error *err)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return pp_fail(err, PP_EIO, PP_NO_OFFSET, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "not a regular file");
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd >= 0 ? fd : pp_fail(err, PP_EIO, PP_NO_OFFSET, "%s", strerror(errno));
}

/* hex has room for BUILD_ID_BYTES; a longer id is none. */
static void write_hex(const unsigned char *bytes, ssize_t n, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (ssize_t i = 0; n <= BUILD_ID_BYTES && i < n; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
}

static void read_build_id(struct object *object)
{
	const void *bytes;
	const ssize_t n = dwelf_elf_gnu_build_id(object->elf, &bytes);

	write_hex(bytes, n, object->build_id);
}

/* A name that ends with a NUL, and behind it the bytes of a build id. */
static void read_alt_link(struct object *object, Elf_Scn *section)
{
	const Elf_Data *data = elf_getdata(section, NULL);
	const unsigned char *bytes = data ? data->d_buf : NULL;
	const unsigned char *end = bytes ? memchr(bytes, '\0', data->d_size) : NULL;

	if (!end)
		return;
	object->alt_link = (const char *)bytes;
	write_hex(end + 1, bytes + data->d_size - (end + 1), object->alt_id);
}

static bool is_zstd(Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr compression;

	return (header->sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &compression) &&
	       compression.ch_type == COMPRESSED_BY_ZSTD;
}

static int read_segments(struct object *object, struct pp_error *err)
{
	size_t n;

	if (elf_getphdrnum(object->elf, &n) != 0)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "broken program headers: %s", elf_errmsg(-1));
	if (n > SEGMENTS_MAX)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "%zu program headers", n);
	object->segments = calloc(n + 1, sizeof *object->segments);
	if (!object->segments)
		return no_memory(err);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr header;
		if (gelf_getphdr(object->elf, (int)i, &header) && header.p_type == PT_LOAD)
			object->segments[object->segments_n++] = (struct segment){
				header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz,
				(header.p_flags & PF_X) != 0};
	}
	return 0;
}

static void read_sections(struct object *object)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(object->elf, &names) != 0)
		return;
	while ((section = elf_nextscn(object->elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name;
		if (!gelf_getshdr(section, &header) || !(name = elf_strptr(object->elf, names, header.sh_name)))
			continue;
		if (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0) {
			object->has_dwarf = header.sh_type != SHT_NOBITS;
			object->is_zstd = is_zstd(section, &header);
		}
		if (strcmp(name, ".gnu_debugaltlink") == 0)
			read_alt_link(object, section);
		if ((header.sh_flags & SHF_EXECINSTR) && header.sh_type == SHT_NOBITS)
			object->bytes_gone = true;
	}
}

static int read_headers(struct object *object, bool is_part, struct pp_error *err)
{
	GElf_Ehdr header;
	GElf_Word crc;

	elf_version(EV_CURRENT);
	object->elf = elf_begin(object->fd, ELF_C_READ_MMAP, NULL);
	if (!object->elf || elf_kind(object->elf) != ELF_K_ELF || !gelf_getehdr(object->elf, &header))
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "not an ELF file");
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN && !is_part)
		return pp_fail(err, PP_EFORMAT, PP_NO_OFFSET, "neither a program nor a library");
	if (read_segments(object, err) != 0)
		return -1;
	read_build_id(object);
	read_sections(object);
	object->debug_link = dwelf_elf_gnu_debuglink(object->elf, &crc);
	object->debug_link_crc = crc;
	return 0;
}

static struct object *open_object(const char *path, bool is_part, struct pp_error *err)
{
	struct object *object = calloc(1, sizeof *object);

	if (!object || !(object->path = strdup(path))) {
		free(object);
		no_memory(err);
		return NULL;
	}
	object->fd = open_regular(path, err);
	if (object->fd < 0 || read_headers(object, is_part, err) != 0) {
		object_free(object);
		return NULL;
	}
	return object;
}

struct object *object_open(const char *path, struct pp_error *err)
{
	return open_object(path, false, err);
}

struct object *object_open_part(const char *path, struct pp_error *err)
{
	return open_object(path, true, err);
}

void object_free(struct object *object)
{
	if (!object)
		return;
	elf_end(object->elf);
	if (object->fd >= 0)
		close(object->fd);
	free(object->path);
	free(object->segments);
	free(object->symbols);
	free(object);
}

const char *object_path(const struct object *object)
{
	return object->path;
}

const char *object_build_id(const struct object *object)
{
	return object->build_id;
}

const char *object_debug_link(const struct object *object, uint32_t *crc)
{
	*crc = object->debug_link_crc;
	return object->debug_link;
}

const char *object_alt_link(const struct object *object, const char **build_id)
{
	*build_id = object->alt_id;
	return object->alt_link;
}

bool object_is_zstd(const struct object *object)
{
	return object->is_zstd;
}

bool object_has_dwarf(const struct object *object)
{
	return object->has_dwarf;
}

struct Elf *object_elf(const struct object *object)
{
	return object->elf;
}

int object_crc(const struct object *object, uint32_t *crc, struct pp_error *err)
{
	unsigned char bytes[16384];
	uint32_t sum = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(object->fd, bytes, sizeof bytes, at)) > 0) {
		sum = pp_crc32(sum, bytes, (size_t)n);
		at += n;
	}
	if (n < 0)
		return pp_fail(err, PP_EIO, PP_NO_OFFSET, "%s", strerror(errno));
	*crc = sum;
	return 0;
}

/* The segment of code that holds the byte at an offset of the file. */
static const struct segment *segment_at(const struct object *object, uint64_t offset)
{
	for (size_t i = 0; i < object->segments_n; i++) {
		const struct segment *s = &object->segments[i];
		if (s->code && offset >= s->offset && offset - s->offset < s->file_bytes)
			return s;
	}
	return NULL;
}

/* In a debug file offsets are of no use, but its only segment of code is what the mapping shows, from the
 * beginning of a page on. */
static bool address_in_debug_file(const struct object *object, uint64_t distance, uint64_t *own)
{
	const struct segment *code = NULL;

	for (size_t i = 0; i < object->segments_n; i++)
		if (object->segments[i].code) {
			if (code)
				return false;
			code = &object->segments[i];
		}
	if (!code)
		return false;
	*own = (code->address & ~UINT64_C(0xfff)) + distance;
	return *own - code->address < code->memory_bytes;
}

bool object_address(const struct object *object, const struct mapped *mapped, uint64_t address,
                       uint64_t *own)
{
	const uint64_t distance = address - mapped->start;
	const struct segment *segment;

	if (mapped->start == 0 && mapped->offset == 0 && (mapped->limit == 0 || mapped->limit == UINT64_MAX)) {
		*own = address;
		return true;
	}
	if (address < mapped->start || (mapped->limit > mapped->start && address >= mapped->limit))
		return false;
	if (object->bytes_gone)
		return address_in_debug_file(object, distance, own);
	segment = segment_at(object, distance + mapped->offset);
	if (!segment)
		return false;
	*own = distance + mapped->offset - segment->offset + segment->address;
	return true;
}

uint64_t object_bias(const struct object *object, const struct object *debug)
{
	if (object->segments_n == 0 || debug->segments_n == 0)
		return 0;
	return debug->segments[0].address - object->segments[0].address;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	const size_t a_n = strlen(a->name), b_n = strlen(b->name);
	return a_n != b_n ? (a_n < b_n ? -1 : 1) : strcmp(a->name, b->name);
}

/* Functions, and labels of hand-written code, which have no type. */
static bool take_symbol(const GElf_Sym *from, const char *name, struct symbol *symbol)
{
	const int type = GELF_ST_TYPE(from->st_info), binding = GELF_ST_BIND(from->st_info);

	if (from->st_shndx == SHN_UNDEF || from->st_shndx >= SHN_LORESERVE || !name || name[0] == '\0' ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return false;
	symbol->address = from->st_value;
	symbol->end = from->st_size < UINT64_MAX - from->st_value ? from->st_value + from->st_size : UINT64_MAX;
	symbol->name = name;
	symbol->section = from->st_shndx;
	symbol->rank = (unsigned char)(2 * (type == STT_NOTYPE) + (binding == STB_LOCAL));
	return true;
}

static int read_table(struct object *object, Elf_Scn *section, const GElf_Shdr *header, struct pp_error *err)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const size_t n = data && header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;

	object->symbols = malloc((n + 1) * sizeof *object->symbols);
	if (!object->symbols)
		return no_memory(err);
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		object->symbols_n += take_symbol(&symbol, elf_strptr(object->elf, header->sh_link, symbol.st_name),
		                                 &object->symbols[object->symbols_n]);
	}
	qsort(object->symbols, object->symbols_n, sizeof *object->symbols, compare_symbols);
	return 0;
}

/* .symtab, or .dynsym in a stripped file. */
static int read_symbols(struct object *object, struct pp_error *err)
{
	Elf_Scn *section = NULL, *best = NULL;
	GElf_Shdr header, best_header = {0};

	object->symbols_read = true;
	while ((section = elf_nextscn(object->elf, section)) != NULL)
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || (header.sh_type == SHT_DYNSYM && !best))) {
			best = section;
			best_header = header;
		}
	return best ? read_table(object, best, &best_header, err) : 0;
}

/* The best symbol of the highest address up to own; NULL without one. */
static const struct symbol *nearest(const struct object *object, uint64_t own)
{
	size_t low = 0, high = object->symbols_n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (object->symbols[middle].address <= own)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	for (low--; low > 0 && object->symbols[low - 1].address == object->symbols[low].address;)
		low--;
	return &object->symbols[low];
}

/* Whether a symbol goes as far as own: in its section up to its size and the padding to the next function, where
 * a call that does not return seems to come from. Without a size to the end of the section. */
static bool holds(const struct object *object, const struct symbol *symbol, uint64_t own)
{
	Elf_Scn *section = elf_getscn(object->elf, symbol->section);
	GElf_Shdr header;

	if (symbol->end > symbol->address && own >= symbol->end &&
	    own - symbol->end >= PADDING_BYTES)
		return false;
	return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
	       own - header.sh_addr < header.sh_size;
}

int object_symbol(struct object *object, uint64_t own, bool begins, const char **name, struct pp_error *err)
{
	const struct symbol *symbol;

	if (!object->symbols_read && read_symbols(object, err) != 0)
		return -1;
	symbol = nearest(object, own);
	*name = "";
	if (symbol && (begins ? own == symbol->address : holds(object, symbol, own)))
		*name = symbol->name;
	return 0;
}
