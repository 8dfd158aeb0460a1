/* An ELF file: its build id, where its bytes are when it runs, its symbols. With debuginfo.c the only file that
 * knows elfutils. Of elfutils libelf and libdw are used, and never libdwfl, which asks debuginfod servers. */
#ifndef OBJECT_H
#define OBJECT_H

#include "libpprof/pprof.h"

struct Elf; /* of libelf */
struct object;

/* Opens a regular file. PP_EIO with the system's reason; PP_EFORMAT for what is no ELF program or library. */
struct object *object_open(const char *path, struct pp_error *err) PP_MUSTUSE;
/* The same of what dwz made of the common parts of several debug files, which is neither program nor library. */
struct object *object_open_part(const char *path, struct pp_error *err) PP_MUSTUSE;
void object_free(struct object *object); /* NULL is fine */

const char *object_path(const struct object *object);
/* The build id as lower case hex; "" without one. */
const char *object_build_id(const struct object *object);
/* What .gnu_debuglink says: the name of a debug file, without folders, and its CRC. NULL without one. */
const char *object_debug_link(const struct object *object, uint32_t *crc);
/* The CRC of the whole file, as .gnu_debuglink wants it. */
int object_crc(const struct object *object, uint32_t *crc, struct pp_error *err) PP_MUSTUSE;
/* What .gnu_debugaltlink says: the name of a file by dwz, from the folder of this one on, and its build id. NULL
 * without one. */
const char *object_alt_link(const struct object *object, const char **build_id);
bool object_has_dwarf(const struct object *object);
bool object_is_zstd(const struct object *object); /* the DWARF is compressed with zstd */
struct Elf *object_elf(const struct object *object); /* for debuginfo.c */

/* A mapping of a process: bytes of a file from offset on are at start … limit. */
struct mapped {
	uint64_t start, limit, offset;
};
/* The address that the file's own tables have for an address of the process. A mapping without a start and an
 * offset that spans everything means that addresses are the file's already, as in the reference. False where no
 * part of the file with code is loaded to it. */
bool object_address(const struct object *object, const struct mapped *mapped, uint64_t address,
                       uint64_t *own);
/* What to add to an address of object for one of its debug file: not 0 where one of them was prelinked. */
uint64_t object_bias(const struct object *object, const struct object *debug);

/* The name of the function at one of the file's own addresses, as linked, "" when not known; with begins only
 * what begins there. Of several one that is not local, then the shortest, then the first bytewise. Borrowed from
 * the object. PP_ENOMEM. */
int object_symbol(struct object *object, uint64_t own, bool begins, const char **name,
                  struct pp_error *err) PP_MUSTUSE;

#endif
