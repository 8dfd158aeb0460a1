#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "libdiff/appframe.h"

static const struct {
	const char *name, *file, *mapping;
	enum pd_frame_class class_;
} frames[] = {
	/* Go */
	{"main.(*Shop).priceOrder", "/src/shop/shop.go", "/src/shop/shop", PD_FRAME_APP},
	{"example.com/acme/billing.Total", "/home/ci/billing/total.go", "", PD_FRAME_APP},
	{"example.com/acme/billing.Total", "example.com/acme/billing/total.go", "", PD_FRAME_APP},
	{"main.handler", "", "", PD_FRAME_APP},
	{"runtime.mallocgc", "/usr/lib/go-1.19/src/runtime/malloc.go", "", PD_FRAME_RUNTIME},
	{"encoding/json.Marshal", "/usr/local/go/src/encoding/json/encode.go", "", PD_FRAME_RUNTIME},
	{"encoding/json.Marshal", "encoding/json/encode.go", "", PD_FRAME_RUNTIME},
	{"strings.ToLower", "/opt/go1.22.3/src/strings/strings.go", "", PD_FRAME_RUNTIME},
	{"indexbody", "/usr/lib/go-1.19/src/internal/bytealg/index_amd64.s", "", PD_FRAME_RUNTIME},
	{"runtime.gcBgMarkWorker", "/usr/local/go/src/runtime/mgc.go", "", PD_FRAME_COLLECTOR},
	{"runtime.gcAssistAlloc1", "", "", PD_FRAME_COLLECTOR},
	{"github.com/lib/pq.(*conn).Query", "/root/go/pkg/mod/github.com/lib/pq@v1.10.9/conn.go", "", PD_FRAME_LIBRARY},
	{"github.com/lib/pq.(*conn).Query", "github.com/lib/pq@v1.10.9/conn.go", "", PD_FRAME_LIBRARY},
	{"github.com/lib/pq.(*conn).Query", "/src/shop/vendor/github.com/lib/pq/conn.go", "", PD_FRAME_LIBRARY},
	/* Java and .NET */
	{"com.acme.shop.Pricing.total", "Pricing.java", "", PD_FRAME_APP},
	{"java.util.HashMap.get", "HashMap.java", "", PD_FRAME_RUNTIME},
	{"java/util/HashMap.get", "", "", PD_FRAME_RUNTIME},
	{"org.springframework.web.servlet.FrameworkServlet.service", "FrameworkServlet.java", "", PD_FRAME_LIBRARY},
	{"G1ParScanThreadState::trim_queue", "", "/usr/lib/jvm/lib/server/libjvm.so", PD_FRAME_COLLECTOR},
	{"System.String.Concat", "", "System.Private.CoreLib", PD_FRAME_RUNTIME},
	{"Newtonsoft.Json.JsonConvert.SerializeObject", "", "", PD_FRAME_LIBRARY},
	{"Acme.Shop.Pricing.Total", "/src/Shop/Pricing.cs", "", PD_FRAME_APP},
	{"System.Threading!ThreadPoolWorkQueue.Dispatch", "System.Private.CoreLib", "", PD_FRAME_RUNTIME},
	{"Shop.Controllers!CartController.Get", "Shop", "", PD_FRAME_APP},
	{"org/xerial/snappy/SnappyInputStream.read", "", "", PD_FRAME_LIBRARY},
	{"libjvm.so.thread_native_entry", "", "", PD_FRAME_RUNTIME},
	/* Node.js */
	{"renderCart", "/app/src/cart.js", "", PD_FRAME_APP},
	{"renderCart", "file:///app/src/cart.mjs", "", PD_FRAME_APP},
	{"next", "/app/node_modules/express/lib/router/index.js", "", PD_FRAME_LIBRARY},
	{"processTicksAndRejections", "node:internal/process/task_queues", "", PD_FRAME_RUNTIME},
	{"(garbage collector)", "", "", PD_FRAME_COLLECTOR},
	{"(program)", "", "", PD_FRAME_RUNTIME},
	{":(garbage collector):0", "", "", PD_FRAME_COLLECTOR},
	{"Garbage Collection", "", "", PD_FRAME_COLLECTOR},
	{":(idle):0", "", "", PD_FRAME_RUNTIME},
	{"./src/cart.js:render:44", "/app/src/cart.js", "", PD_FRAME_APP},
	/* Python */
	{"__enter__", "contextlib.py", "", PD_FRAME_RUNTIME},
	{"work", "main.py", "", PD_FRAME_APP},
	{"render", "/srv/app/views.py", "", PD_FRAME_APP},
	{"get", "/usr/lib/python3/dist-packages/requests/api.py", "", PD_FRAME_LIBRARY},
	{"loads", "/usr/lib/python3.11/json/__init__.py", "", PD_FRAME_RUNTIME},
	{"_find_and_load", "<frozen importlib._bootstrap>", "", PD_FRAME_RUNTIME},
	/* Rust */
	{"shop::pricing::total", "/build/src/pricing.rs", "", PD_FRAME_APP},
	{"<shop::Orders as core::iter::traits::iterator::Iterator>::next", "/build/src/orders.rs", "", PD_FRAME_APP},
	{"<shop::Line as core::clone::Clone>::clone", "/build/src/order.rs", "", PD_FRAME_LIBRARY},
	{"core::slice::sort::merge_sort", "/rustc/9fc6b431/library/core/src/slice/sort.rs", "", PD_FRAME_RUNTIME},
	{"regex::exec::Exec::new", "/usr/local/cargo/registry/src/index-6f17d22bba15001f/regex-1.9.1/src/exec.rs", "",
     PD_FRAME_LIBRARY},
	{"tokio::runtime::task::raw::poll", "", "", PD_FRAME_LIBRARY},
	{"shop::pricing::total", "", "", PD_FRAME_APP},
	/* C and C++ */
	{"parse_order", "/src/order.c", "/opt/shop/bin/shopd", PD_FRAME_APP},
	{"std::vector<int>::push_back", "/usr/include/c++/12/bits/stl_vector.h", "", PD_FRAME_LIBRARY},
	{"deflate_slow", "", "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13", PD_FRAME_LIBRARY},
	{"malloc", "", "/usr/lib/x86_64-linux-gnu/libc.so.6", PD_FRAME_RUNTIME},
	{"", "", "[vdso]", PD_FRAME_RUNTIME},
	{"", "", "/usr/lib/libfoo.so.1", PD_FRAME_LIBRARY},
	{"", "", "/opt/shop/bin/shopd", PD_FRAME_UNKNOWN},
};

static void frames_are_classified(void **state)
{
	(void)state;
	for (size_t i = 0; i < PP_COUNT(frames); i++) {
		enum pd_frame_class got =
			pd_frame_classify(pp_str_of(frames[i].name), pp_str_of(frames[i].file), pp_str_of(frames[i].mapping));
		if (got != frames[i].class_)
			fail_msg("'%s' in '%s' of '%s' is of class %d, not %d", frames[i].name, frames[i].file, frames[i].mapping,
			         (int)got, (int)frames[i].class_);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_classified),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
