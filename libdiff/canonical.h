/* What a rebuild renames: rules that bring a function's name to a form that every build shares.
 *
 * The canonical form is a key by which two builds are joined, not a name for people: what is printed
 * is a name that a profile has. Closures numbered by the compiler, instances of generic functions,
 * clones, hashes, addresses and run-time generated classes lose what tells builds apart. */
#ifndef PD_CANONICAL_H
#define PD_CANONICAL_H

#include "libpprof/pprof.h"

enum pd_rule {
	PD_RULE_FILE,           /* the same name in another folder or file: libdiff/identify.c */
	PD_RULE_FRAME_KIND,     /* "f_[j]" "f_[k]": f */
	PD_RULE_ELF,            /* "f@plt" "f@@GLIBC_2.17": f */
	PD_RULE_KERNEL,         /* "__x64_sys_read" "__arm64_sys_read": sys_read */
	PD_RULE_LIBC_IFUNC,     /* "__memmove_avx_unaligned_erms" "__memmove_evex": memmove */
	PD_RULE_V8,             /* "LazyCompile:*f a.js:1:2" "~f" "*f": f; hashes in names of bundles */
	PD_RULE_JAVA_LAMBDA,    /* "A$$Lambda$12/0x08.run": A$$Lambda.run */
	PD_RULE_JAVA_GENERATED, /* accessors, proxies, method handle forms, CGLIB classes: no numbers */
	PD_RULE_JAVA_CLOSURE,   /* "A.lambda$f$3" "A$12.run": A.lambda$f$ A$.run */
	PD_RULE_HEX,            /* "0x7f12": 0x* */
	PD_RULE_CPP_CLONES,     /* ".isra.0" ".part.1" ".cold" ".llvm.123" "[abi:cxx11]": gone */
	PD_RULE_CPP_ARGS,       /* "ns::f(int) const": ns::f */
	PD_RULE_RUST_HASH,      /* "a::f::h0123456789abcdef" "a[0123]::f": a::f */
	PD_RULE_RUST_CLOSURE,   /* "a::f::{closure#0}" "a::f::{{closure}}": a::f::{closure} */
	PD_RULE_GO_MODULE,      /* "a/b/v2.f": a/b.f; what stands before "/vendor/" */
	PD_RULE_GO_TYPEARGS,    /* "f[go.shape.int]": f[...] */
	PD_RULE_GO_WRAPPERS,    /* "f.gowrap1": f.{closure}; "f-fm" "f-range1": f; "init.0" "glob.": init */
	PD_RULE_GO_CLOSURE,     /* "f.func1" "f.func1.2" "f.func1.func2": f.{closure} */
	PD_RULE_GO_INLINE,      /* "p.g.f.{closure}", f inlined into g: p.f.{closure} */
	PD_RULE_PACKAGE,        /* all of one package in another: libdiff/rename_package.c */
	PD_RULES_N
};

/* Sets of rules: bit (1u << rule). */
#define PD_RULES_ALL ((1u << PD_RULES_N) - 1)

const char *pd_rule_name(enum pd_rule rule); /* "go-closure", … */

/* Reads "none", "all", "go-closure,hex" (those alone) or "-hex,-file" (all but those). -1 at a word that
 * is none of these, and *unknown is that word. */
int pd_rules_parse(const char *list, unsigned *rules, struct pp_str *unknown) PP_MUSTUSE;

/* Whether names that the rule brings together are one function of the source (instances, clones, what
 * is generated anew in every run), so that they may be added up. Others only take each other's place. */
bool pd_rule_folds(enum pd_rule rule);

/* Whether the rule takes away what tells functions of one program apart, such as numbers of closures:
 * that two names meet by it is not enough to call them one. */
bool pd_rule_needs_evidence(enum pd_rule rule);

/* Room that the canonical form of a name of n bytes may take. */
#define PD_CANONICAL_MAX(n) (2 * (n) + 16)

/* Writes the canonical form of a function's name, without a NUL, and returns its length; *applied are
 * the rules that changed something. file may be "". Pure: bytes in, bytes out. */
size_t pd_canonical(struct pp_str name, struct pp_str file, unsigned rules, char *out, unsigned *applied);

/* The last part of a file's path, without the hash of a bundle ("main.3f2a1b9c.js": "main.js"), into
 * out of file.len bytes. */
size_t pd_canonical_file(struct pp_str file, unsigned rules, char *out, unsigned *applied);

#endif
