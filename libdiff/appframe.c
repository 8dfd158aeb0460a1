#include "libdiff/appframe.h"

#include <string.h>

static bool starts(struct pp_str text, const char *prefix)
{
	size_t n = strlen(prefix);

	return text.len >= n && memcmp(text.ptr, prefix, n) == 0;
}

static bool ends(struct pp_str text, const char *suffix)
{
	size_t n = strlen(suffix);

	return text.len >= n && memcmp(text.ptr + text.len - n, suffix, n) == 0;
}

static bool holds(struct pp_str text, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= text.len; i++) {
		const char *first = memchr(text.ptr + i, part[0], text.len - n + 1 - i);
		if (!first)
			return false;
		i = (size_t)(first - text.ptr);
		if (memcmp(first, part, n) == 0)
			return true;
	}
	return false;
}

/* A package prefix: '.' in it also matches '/', as the JVM writes names inside. */
static bool in_package(struct pp_str text, const char *prefix)
{
	size_t n = strlen(prefix);

	for (size_t i = 0; i < n; i++)
		if (i >= text.len || (text.ptr[i] != prefix[i] && !(prefix[i] == '.' && text.ptr[i] == '/')))
			return false;
	return true;
}

static bool any(struct pp_str text, bool (*test)(struct pp_str, const char *), const char *const *list)
{
	for (; *list; list++)
		if (test(text, *list))
			return true;
	return false;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

bool pd_file_is_script(struct pp_str file)
{
	static const char *const script_ends[] = {".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", NULL};

	return any(file, ends, script_ends) || starts(file, "node:");
}

struct pp_str pd_script_function(struct pp_str name)
{
	size_t end = name.len;

	while (end > 0 && digit(name.ptr[end - 1]))
		end--;
	if (end == name.len || end < 2 || name.ptr[end - 1] != ':')
		return name;
	size_t from = --end;
	while (from > 0 && name.ptr[from - 1] != ':')
		from--;
	struct pp_str file = {name.ptr, from ? from - 1 : 0};
	return (from == 1 || pd_file_is_script(file)) && end > from ? (struct pp_str){name.ptr + from, end - from} : name;
}

/* ---- what a path says ---- */

static const char *const library_paths[] = {
	"/pkg/mod/", "/vendor/", "/node_modules/", "/site-packages/", "/dist-packages/", "/.cargo/registry/",
	"/cargo/registry/src/", "/.cargo/git/", "/cargo/git/checkouts/", "/bazel-out/", "/external/", "/third_party/",
	"/.nuget/packages/", "/.m2/repository/", "/usr/include/", "/usr/local/include/", "/.conan/", "/vcpkg/", NULL};

static const char *const runtime_paths[] = {
	"/go/src/", "/rustc/", "/library/std/src/", "/library/core/src/", "/library/alloc/src/", "/lib/rustlib/",
	"/lib/python2.", "/lib/python3.", "/lib64/python3.", "/include/c++/", "/lib/gcc/", "/glibc", "/sysdeps/", "/libio/",
	"/nptl/", "/deps/v8/", "/node/src/", NULL};

static const char *const runtime_file_starts[] = {
	"node:", "internal/", "<frozen ", "<built-in", "<string>", "rustc/", "library/std/", "library/core/", "library/alloc/",
	"native ", "[native", "./nptl/", "./malloc/", "./string/", "../sysdeps/", "./elf/", "../csu/", "./csu/",
	"vendor/golang.org/", NULL};

/* "/usr/lib/go-1.19/src/x.go" (also assembly and C), "/usr/local/go1.22.3/src/x.go", "go/toolchain@v0.0.1-go1.24/src/x.go" */
static bool goroot(struct pp_str file)
{
	for (size_t i = 0; i + 5 < file.len; i++) {
		if (memcmp(file.ptr + i, "/src/", 5) != 0)
			continue;
		size_t from = i;
		while (from > 0 && file.ptr[from - 1] != '/')
			from--;
		struct pp_str folder = {file.ptr + from, i - from};
		if (pp_str_eq(folder, PP_LIT("go")) || starts(folder, "toolchain@"))
			return true;
		if (starts(folder, "go") && folder.len > 2) {
			char c = folder.ptr[2] == '-' && folder.len > 3 ? folder.ptr[3] : folder.ptr[2];
			if (c >= '0' && c <= '9')
				return true;
		}
	}
	return false;
}

/* A module at a version: "github.com/a/b@v1.2.3/c.go", as -trimpath writes it. */
static bool at_version(struct pp_str file)
{
	for (size_t i = 0; i + 2 < file.len; i++)
		if (file.ptr[i] == '@' && file.ptr[i + 1] == 'v' && file.ptr[i + 2] >= '0' && file.ptr[i + 2] <= '9')
			return true;
	return false;
}

/* ---- Go ---- */

static const char *const go_std[] = {
	"archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed",
	"encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter", "log",
	"maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv",
	"strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "weak", NULL};

static bool go_std_package(struct pp_str name)
{
	size_t n = 0;

	while (n < name.len && name.ptr[n] != '/' && name.ptr[n] != '.')
		n++;
	if (n == name.len)
		return false;
	for (const char *const *std = go_std; *std; std++)
		if (strlen(*std) == n && memcmp(*std, name.ptr, n) == 0)
			return true;
	return false;
}

static const char *const go_collector[] = {
	"runtime.gcAssist", "runtime.gcBgMark", "runtime.gcDrain", "runtime.gcMark", "runtime.gcStart", "runtime.gcSweep",
	"runtime.gcFlush", "runtime.gcParkAssist", "runtime.bgsweep", "runtime.bgscavenge", "runtime.sweepone",
	"runtime.scanobject", "runtime.scanblock", "runtime.scanstack", "runtime.greyobject", "runtime.markroot",
	"runtime.(*gcWork)", "runtime.(*gcControllerState)", "runtime.wbBufFlush", "runtime.(*sweepLocked)",
	"runtime.(*mspan).sweep", "runtime.deductSweepCredit", "runtime.forEachP", NULL};

static const char *const other_collectors[] = {
	"(garbage collector)", "Garbage Collection", "v8::internal::Heap::CollectGarbage", "v8::internal::Scavenger", "v8::internal::MarkCompact",
	"v8::internal::ConcurrentMarking", "v8::internal::MajorGC", "v8::internal::MinorGC", "v8::internal::Sweeper",
	"G1CollectedHeap", "G1ParScanThreadState", "G1ConcurrentMark", "G1YoungCollector", "ParallelScavengeHeap", "PSPromotion",
	"PSScavenge", "PSParallelCompact", "ShenandoahConcurrent", "ZMark", "ZRelocate", "ZDriver", "GCTaskThread",
	"WKS::gc_heap", "SVR::gc_heap", "WKS::GCHeap", "SVR::GCHeap", "gc_collect_main", "gc_collect_generations",
	"deduce_unreachable", NULL};

static bool is_go(struct pp_str name, struct pp_str file)
{
	return ends(file, ".go") || goroot(file) || (ends(file, ".s") && holds(name, ".")) ||
	       (!file.len && starts(name, "main."));
}

static enum pd_frame_class classify_go(struct pp_str name, struct pp_str file)
{
	if (goroot(file) || (name.len && go_std_package(name)))
		return PD_FRAME_RUNTIME;
	if (starts(name, "type:.") || starts(name, "type..") || starts(name, "golang.org/x/"))
		return PD_FRAME_LIBRARY;
	if (at_version(file) || any(file, holds, library_paths))
		return PD_FRAME_LIBRARY;
	return PD_FRAME_APP;
}

/* ---- the JVM and .NET: names say it ---- */

static const char *const jvm_runtime[] = {
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "groovy.", "clojure.", NULL};
static const char *const jvm_library[] = {
	"io.netty.", "org.springframework.", "org.apache.", "org.eclipse.", "com.fasterxml.", "org.hibernate.",
	"com.google.", "io.grpc.", "reactor.", "rx.", "okhttp3.", "okio.", "akka.", "org.slf4j.", "ch.qos.logback.",
	"com.zaxxer.", "org.postgresql.", "com.mysql.", "io.micrometer.", "io.undertow.", "jakarta.", "org.jboss.",
	"io.vertx.", "org.glassfish.", "io.opentelemetry.", "io.prometheus.", "org.xerial.", "net.jpountz.", "io.pyroscope.",
	"one.profiler.", "com.yammer.metrics.", "com.codahale.", NULL};
static const char *const jvm_native[] = {"JVM_", "Unsafe_", "jni_", "libjvm.so.", "libc.so.", "libpthread.so.", NULL};
static const char *const dotnet_runtime[] = {"System.", "System!", "Interop.", "Internal.", "Microsoft.Win32.",
                                             "Microsoft.CodeAnalysis.", "System.Private.CoreLib", NULL};
static const char *const dotnet_library[] = {"Microsoft.", "Newtonsoft.", "Serilog.", "Npgsql.", "Dapper.", "Grpc.",
                                             "StackExchange.", "Pyroscope.", "Datadog.", "OpenTelemetry.", NULL};
static const char *const managed_files[] = {".java", ".kt", ".scala", ".groovy", ".clj", ".cs", ".fs", ".vb", NULL};

/* ---- Rust ---- */

static const char *const rust_std[] = {"std::", "core::", "alloc::", "<std::", "<core::", "<alloc::", "<&mut ",
                                       "__rust_", "rust_begin_unwind", "__rdl_", "__rg_", "rust_panic", "hashbrown::", "<hashbrown::", NULL};
/* Traits that are derived: the code on the stack was not written by anyone. */
static const char *const rust_glue[] = {
	" as core::", " as std::", " as alloc::", " as serde::", " as serde_core::", " as Clone>", " as Debug>", " as PartialEq",
	" as PartialOrd", " as Eq>", " as Ord>", " as Hash>", " as Default>", " as Serialize>", " as Deserialize",
	"_serde::", "::_::<impl ", "drop_in_place", "__Visitor", "__FieldVisitor", NULL};
/* Of those, traits that people write by hand, with work in them. */
static const char *const rust_written[] = {
	" as core::iter::", " as std::iter::", " as core::future::", " as core::ops::drop::Drop", " as core::ops::function::",
	" as core::convert::", " as core::str::traits::FromStr", " as core::fmt::Display", " as std::io::", " as core::ops::arith",
	" as core::ops::index", NULL};

/* Crates that a frame without a file is known by. */
static const char *const rust_crates[] = {
	"actix", "aho_corasick::", "axum::", "bytes::", "chrono::", "crossbeam", "flate2::", "futures", "h2::", "http::", "hyper",
	"itoa::", "memchr::", "miniz_oxide::", "mio::", "openssl::", "parking_lot", "rand::", "rand_core::", "rayon", "regex::",
	"regex_automata::", "regex_syntax::", "reqwest::", "ring::", "rustls::", "ryu::", "serde::", "serde_json::", "sha2::", "tokio",
	"tower", "tracing", "<serde", "<tokio", "<hyper", "<regex", "<futures", "<rayon", "<axum", "<tower", NULL};

static bool is_rust(struct pp_str name, struct pp_str file)
{
	return ends(file, ".rs") || (!file.len && (any(name, starts, rust_std) || any(name, starts, rust_crates) ||
	                                           holds(name, "::{{closure}}") || (starts(name, "<") && holds(name, " as ")) || holds(name, "::{closure")));
}

static enum pd_frame_class classify_rust(struct pp_str name, struct pp_str file)
{
	if (any(file, holds, runtime_paths) || any(file, starts, runtime_file_starts) || any(name, starts, rust_std))
		return PD_FRAME_RUNTIME;
	if (any(file, holds, library_paths) || (!file.len && any(name, starts, rust_crates)))
		return PD_FRAME_LIBRARY;
	if (any(name, holds, rust_glue) && !any(name, holds, rust_written))
		return PD_FRAME_LIBRARY;
	return PD_FRAME_APP;
}

/* ---- native code, scripts, and what is left ---- */

static const char *const cpp_names[] = {"std::", "__gnu_cxx::", "__cxxabiv1::", "void std::", "bool std::", "boost::",
                                        "absl::", "google::protobuf::", "grpc::", "grpc_core::", "fmt::v", "tcmalloc::",
                                        "folly::", "Eigen::", "operator new", "operator delete", NULL};
static const char *const native_names[] = {
	"__libc_", "_start", "start_thread", "clone", "__clone", "malloc", "free", "calloc", "realloc", "memcpy", "memmove",
	"memset", "memcmp", "__mem", "__str", "_int_malloc", "_int_free", "__GI_", "pthread_", "__pthread_", "_dl_",
	"__tls_get_addr", "je_", "mi_", "tc_malloc", "syscall", "epoll_", "futex", "entry_SYSCALL", "do_syscall", "[", "v8::",
	"node::", "uv_", "uv__", "Builtins_", "Py", "_Py", "(idle)", "(program)", "(root)", "(native)", NULL};
static const char *const mapping_runtime[] = {
	"/libc.so", "/libc-", "/libpthread", "/ld-linux", "/ld-musl", "/ld-", "/libm.so", "/libm-", "/libstdc++", "/libgcc_s",
	"/libdl", "/librt", "/libjvm.so", "/libcoreclr.so", "/libclrjit.so", "/libpython", "/libruby", "[vdso]", "[vsyscall]",
	"[kernel", "/libjemalloc", "/libtcmalloc", "/libnode.so", NULL};
static const char *const mapping_library[] = {"/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/", "/usr/local/lib/", NULL};

/* A whole C name, or one that goes on after its prefix where the prefix is one by its last sign. */
static bool native(struct pp_str name, const char *entry)
{
	size_t n = strlen(entry);
	char last = entry[n - 1];

	if (!starts(name, entry))
		return false;
	return name.len == n || last == '_' || last == ':' || last == '[' || name.ptr[n] == '@' || name.ptr[n] == '.' ||
	       strcmp(entry, "Py") == 0 || strcmp(entry, "_Py") == 0 || strcmp(entry, "__mem") == 0 || strcmp(entry, "__str") == 0;
}

/* "libz.so.1.2.13" */
static bool shared_library(struct pp_str mapping)
{
	return ends(mapping, ".so") || holds(mapping, ".so.");
}

static bool is_managed_name(struct pp_str name)
{
	return holds(name, "!") || any(name, in_package, jvm_runtime) || any(name, in_package, jvm_library) ||
	       any(name, starts, jvm_native) || any(name, starts, dotnet_runtime) || any(name, starts, dotnet_library);
}

static enum pd_frame_class classify_managed(struct pp_str name, struct pp_str file)
{
	if (any(name, in_package, jvm_runtime) || any(name, starts, jvm_native) || any(name, starts, dotnet_runtime))
		return PD_FRAME_RUNTIME;
	if (any(name, in_package, jvm_library) || any(name, starts, dotnet_library) || any(file, holds, library_paths))
		return PD_FRAME_LIBRARY;
	return PD_FRAME_APP;
}

/* ---- Python, where collectors cut paths short ---- */

static const char *const python_std[] = {
	"abc.py", "argparse.py", "ast.py", "asyncio/", "base64.py", "bisect.py", "codecs.py", "collections/", "concurrent/",
	"contextlib.py", "copy.py", "csv.py", "ctypes/", "dataclasses.py", "datetime.py", "decimal.py", "_pydecimal.py",
	"email/", "encodings/", "enum.py", "fractions.py", "functools.py", "gzip.py", "hashlib.py", "heapq.py", "hmac.py",
	"html/", "http/", "importlib/", "inspect.py", "io.py", "json/", "locale.py", "logging/", "multiprocessing/", "pickle.py",
	"queue.py", "random.py", "re.py", "re/", "selectors.py", "shutil.py", "socket.py", "socketserver.py", "sqlite3/",
	"sre_compile.py", "sre_parse.py", "ssl.py", "statistics.py", "string.py", "subprocess.py", "tempfile.py", "textwrap.py",
	"threading.py", "tokenize.py", "traceback.py", "types.py", "typing.py", "unittest/", "urllib/", "uuid.py", "warnings.py",
	"weakref.py", "xml/", "zipfile.py", "zlib.py", NULL};
static const char *const python_library[] = {
	"aiohttp/", "boto3/", "botocore/", "celery/", "django/", "fastapi/", "flask/", "grpc/", "gunicorn/", "jinja2/", "numpy/",
	"pandas/", "psycopg2/", "pydantic/", "pyroscope/", "requests/", "sqlalchemy/", "starlette/", "urllib3/", "uvicorn/",
	"werkzeug/", NULL};

static enum pd_frame_class classify_python(struct pp_str file)
{
	if (any(file, holds, library_paths) || any(file, starts, python_library))
		return PD_FRAME_LIBRARY;
	if (any(file, holds, runtime_paths) || any(file, starts, runtime_file_starts) || any(file, starts, python_std))
		return PD_FRAME_RUNTIME;
	return PD_FRAME_APP;
}

enum pd_frame_class pd_frame_classify(struct pp_str name, struct pp_str file, struct pp_str mapping)
{
	if (pp_str_eq(file, PP_LIT("?")) || pp_str_eq(file, PP_LIT("<unknown>")))
		file.len = 0;
	name = pd_script_function(name);
	if (any(name, starts, go_collector) || any(name, starts, other_collectors))
		return PD_FRAME_COLLECTOR;
	if (!name.len && !file.len) {
		if (any(mapping, holds, mapping_runtime))
			return PD_FRAME_RUNTIME;
		return shared_library(mapping) ? PD_FRAME_LIBRARY : PD_FRAME_UNKNOWN;
	}
	if (is_go(name, file))
		return classify_go(name, file);
	if (is_rust(name, file))
		return classify_rust(name, file);
	if (any(file, ends, managed_files) || holds(name, "!") || (!file.len && is_managed_name(name)))
		return classify_managed(name, file);
	if (ends(file, ".py"))
		return classify_python(file);
	if (any(file, holds, library_paths) || at_version(file))
		return PD_FRAME_LIBRARY;
	if (any(file, holds, runtime_paths) || any(file, starts, runtime_file_starts) || any(mapping, holds, mapping_runtime) ||
	    any(name, native, native_names))
		return PD_FRAME_RUNTIME;
	if (any(name, starts, cpp_names))
		return PD_FRAME_LIBRARY;
	if (shared_library(mapping) && any(mapping, starts, mapping_library))
		return PD_FRAME_LIBRARY;
	if (!file.len && go_std_package(name))
		return PD_FRAME_RUNTIME;
	return PD_FRAME_APP;
}
