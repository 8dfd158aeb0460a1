/* drop_frames and keep_frames of legacy profiles, which carry none: the frames of allocators, locks and
 * profilers, by the same names as the reference knows, so that reports agree. */
#include <string.h>

#include "libpprof/legacy.h"

struct rule {
	const char *before, *after;
	const char *const *names;
	size_t n;
};
#define RULE(before, names, after) {(before), (after), (names), PP_COUNT(names)}

static const char *const allocator[] = {
	"calloc", "cfree", "free", "malloc", "memalign", "pvalloc", "realloc", "valloc", "do_memalign",
	"(__)?posix_memalign", "__libc_malloc", "__malloc_alloc_template::allocate", "_M_allocate", "allocate", "cpp_alloc",
	"__builtin_(vec_)?(delete|new)", "__gnu_cxx::new_allocator::allocate", "operator new(\\[\\])?",
	"simple_alloc::allocate", "BaseArena::.*", "DoSampledAllocation", "MallocedMemBlock::MallocedMemBlock",
	"tcmalloc::.*", "runtime\\..*",
};
static const char *const tcmalloc[] = {
	"calloc", "cfree", "delete", "deletearray", "free", "malloc", "memalign", "new", "new_nothrow", "newarray",
	"newarray_nothrow", "posix_memalign", "pvalloc", "realloc", "valloc",
};
static const char *const do_malloc[] = {"", "_no_errno", "_pages"};
static const char *const zone[] = {"calloc", "free", "malloc", "memalign", "realloc", "valloc"}; /* macOS */
/* jemalloc samples within itself, so its own frames are in all its stacks, and in Rust those between it and the
 * collections. The reference does not read its profiles. */
static const char *const jemalloc[] = {
	"(_rjem_|je_).*", "prof_(alloc_prep|backtrace|tctx_create).*", "i(m|c|r)alloc.*", "do_rallocx", "aligned_alloc",
	"(new|fallbackNew)Impl", "<.* as core::alloc::(global::)?GlobalAlloc>::.*", "(__rustc::)?__(rust|rdl|rg)_(re)?alloc.*",
	"alloc::alloc::.*", "<alloc::alloc::Global.*",
};
#define ALLOCATORS \
	RULE("", allocator, ""), RULE("tc_", tcmalloc, ""), RULE("(::)?do_malloc", do_malloc, ""), RULE("malloc_zone_", zone, "")
static const struct rule allocators[] = {ALLOCATORS};
static const struct rule jemalloc_allocators[] = {ALLOCATORS, RULE("", jemalloc, "")};
/* Frames of the Go runtime that stand among those of the program. */
static const char *const go_calls[] = {"panic", "reflectcall", "call[0-9]*"};
static const struct rule not_allocators[] = {RULE("runtime\\.", go_calls, "")};

static const char *const base_lock[] = {"RecordLock", "SubmitMutex", "SubmitSpinLock"};
static const char *const mutex[] = {"AwaitCommon", "ReaderUnlock", "Unlock", "UnlockSlow"};
static const char *const spinlock[] = {"(SpinLock::)?SlowUnlock", "(SpinLock::)?Unlock",
                                       "(SpinLockHolder::)?~SpinLockHolder", "((base::)?MutexLock::)?~MutexLock"};
static const struct rule locks[] = {
	RULE("(base::)?", base_lock, "ProfileData.*"), RULE("((base::)?Mutex::)?", mutex, ".*"), RULE("", spinlock, ".*"),
};

static const char *const handler[] = {"CpuProfiler::prof_handler", "ProfileData::Add", "ProfileData::prof_handler",
                                      "__pthread_sighandler", "__restore"};
static const struct rule handlers[] = {RULE("", handler, "")};

/* Joins the names of all rules by '|'. */
static uint32_t expression(struct pp_build *build, const struct rule *rules, size_t rules_n)
{
	char text[2048];
	size_t at = 0;
	for (size_t r = 0; r < rules_n; r++)
		for (size_t i = 0; i < rules[r].n; i++) {
			const char *const pieces[] = {at ? "|" : "", rules[r].before, rules[r].names[i], rules[r].after};
			for (size_t k = 0; k < PP_COUNT(pieces); k++) {
				size_t n = strlen(pieces[k]);
				if (at + n > sizeof(text)) /* a mistake in the lists above */
					return 0;
				memcpy(text + at, pieces[k], n);
				at += n;
			}
		}
	return pp_build_string(build, (struct pp_str){text, at});
}

static bool has_types(const struct pp_profile *p, const char *first, const char *second)
{
	return p->sample_types_n >= 2 && pp_str_eq(pp_string(p, p->sample_types[0].type), pp_str_of(first)) &&
	       pp_str_eq(pp_string(p, p->sample_types[1].type), pp_str_of(second));
}

int pp_legacy_frame_rules(struct pp_legacy *l)
{
	struct pp_profile *p = pp_build_profile(l->build);
	if (has_types(p, "objects", "space") || has_types(p, "inuse_objects", "inuse_space") ||
	    has_types(p, "alloc_objects", "alloc_space")) {
		p->drop_frames = l->is_jemalloc ? expression(l->build, jemalloc_allocators, PP_COUNT(jemalloc_allocators))
		                                : expression(l->build, allocators, PP_COUNT(allocators));
		p->keep_frames = expression(l->build, not_allocators, PP_COUNT(not_allocators));
	} else if (has_types(p, "contentions", "delay")) {
		p->drop_frames = expression(l->build, locks, PP_COUNT(locks));
	} else {
		p->drop_frames = expression(l->build, handlers, PP_COUNT(handlers));
	}
	return 0;
}
