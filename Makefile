# pprof-tools: one non-recursive makefile (GNU make). O= picks the output folder, so that flavours
# never mix. `make help` lists the targets.
VERSION  := 0.1.0
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
MANDIR   ?= $(PREFIX)/share/man
COMPDIR  ?= $(PREFIX)/share/bash-completion/completions
O        ?= build
CC       ?= cc
AR       ?= ar
PKG      ?= pkg-config
PROTOC_C ?= protoc-c
CFLAGS   ?= -O2 -g
V        ?= 0
Q        := $(if $(filter 0,$(V)),@)

WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
            -Wwrite-strings -Wcast-qual -Wpointer-arith -Wvla -Wformat=2 -Wundef -Wimplicit-fallthrough \
            -Wno-sign-conversion
WERROR   ?= -Werror
STD      := -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64
HARDEN   := -fstack-protector-strong -fPIE
REPRO    := -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(O)/gen=gen -fno-ident
DEPS     := zlib libprotobuf-c libxxhash libpcre2-8 jansson
DEP_C    := $(shell $(PKG) --cflags $(DEPS) libcgraph)
DEP_L    := $(shell $(PKG) --libs $(DEPS)) -pthread
CGRAPH_L := $(shell $(PKG) --libs libcgraph)
CURL_L   := $(shell $(PKG) --libs libcurl 2>/dev/null)
# libiberty has no .pc file.
DW_L     := $(shell $(PKG) --libs libdw libelf 2>/dev/null)
IBERTY_L := $(if $(shell printf '\043include <libiberty/demangle.h>' | $(CC) -E -x c - 2>/dev/null),-liberty)
SYMBOL_L := $(if $(DW_L),$(if $(IBERTY_L),$(DW_L) $(IBERTY_L)))
ALLC      = $(STD) $(WARN) $(WERROR) $(HARDEN) $(REPRO) -I. -I$(O)/gen $(DEP_C) -DVERSION='"$(VERSION)"' $(CPPFLAGS) $(CFLAGS)
ALLL      = -pie -Wl,-z,relro,-z,now -Wl,--as-needed -Wl,--build-id=none $(LDFLAGS)

GEN      := $(O)/gen/libpprof/profile.pb-c
FETCHGEN := $(O)/gen/cmd/fetch/querier.pb-c
MAINS    := $(sort $(wildcard cmd/pprof-*.c cmd/rca-report.c))
ifeq ($(CURL_L),)
$(warning libcurl is missing: pprof-fetch is not built (Debian: libcurl4-openssl-dev))
MAINS    := $(filter-out cmd/pprof-fetch.c,$(MAINS))
endif
ifeq ($(SYMBOL_L),)
$(if $(DW_L),,$(warning elfutils is missing: pprof-symbolize is not built (Debian: libdw-dev)))
$(if $(IBERTY_L),,$(warning libiberty is missing: pprof-symbolize is not built (Debian: libiberty-dev)))
MAINS    := $(filter-out cmd/pprof-symbolize.c,$(MAINS))
endif
TOOLS    := $(MAINS:cmd/%.c=%)
BINS     := $(TOOLS:%=$(O)/%)
PP_OBJ   := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard libpprof/*.c))) $(GEN).o
PD_OBJ   := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard libdiff/*.c)))
CMD_OBJ  := $(patsubst %.c,$(O)/%.o,$(sort $(filter-out cmd/pprof-%.c cmd/rca-report.c,$(wildcard cmd/*.c))))
FETCHOBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard cmd/fetch/*.c))) $(FETCHGEN).o
SYMBOLOBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard cmd/symbols/*.c)))
STANDOBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard cmd/test/standin/*.c)))
LIBS     := $(O)/libcmd.a $(O)/libdiff.a $(O)/libpprof.a
FETCHLIB := $(O)/libfetch.a
SYMBOLLIB := $(O)/libsymbols.a
STANDIN  := $(if $(STANDOBJ),$(if $(CURL_L),$(O)/cmd/test/standin/standin))
UNIT     := $(patsubst %.c,$(O)/%,$(sort $(wildcard libpprof/test/test_*.c libdiff/test/test_*.c cmd/test/test_*.c \
                $(if $(CURL_L),cmd/fetch/test/test_*.c) $(if $(SYMBOL_L),cmd/symbols/test/test_*.c))))
FUZZ     := $(patsubst %.c,$(O)/%,$(sort $(wildcard libpprof/fuzz/fuzz_*.c libdiff/fuzz/fuzz_*.c)))
HDRS     := $(wildcard libpprof/*.h libdiff/*.h cmd/*.h cmd/fetch/*.h cmd/symbols/*.h)
GENH     := $(GEN).h $(FETCHGEN).h
MANS     := $(wildcard man/*.[1357])

all: $(BINS)

# Rebuild when the flags change.
$(O)/flags: FORCE
	@mkdir -p $(@D); echo '$(CC) $(ALLC) $(ALLL)' | cmp -s - $@ || echo '$(CC) $(ALLC) $(ALLL)' >$@

$(O)/gen/%.pb-c.c: %.proto
	@mkdir -p $(@D)
	$(Q)$(PROTOC_C) --c_out=$(O)/gen $<
$(O)/gen/%.pb-c.h: $(O)/gen/%.pb-c.c ;

$(O)/gen/%.o: $(O)/gen/%.c $(O)/flags
	$(Q)$(CC) $(ALLC) -w -MMD -MP -c -o $@ $<
$(O)/%.o: %.c $(O)/flags | $(GENH)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLC) -MMD -MP -c -o $@ $<

$(O)/libpprof.a: $(PP_OBJ)
$(O)/libdiff.a: $(PD_OBJ)
$(O)/libcmd.a: $(CMD_OBJ)
$(FETCHLIB): $(FETCHOBJ)
$(SYMBOLLIB): $(SYMBOLOBJ)
$(O)/%.a:
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

# Only pprof-dot and pprof-fetch pull cmd/dotfile.o out of libcmd.a, so only they link cgraph. libcurl and what
# calls it (libfetch.a) goes into pprof-fetch alone; libdw, libelf and libiberty (libsymbols.a) into pprof-symbolize.
$(BINS): $(O)/%: $(O)/cmd/%.o $(LIBS)
	$(Q)$(CC) $(CFLAGS) $(ALLL) -o $@ $(filter %.o,$^) $(filter $(FETCHLIB) $(SYMBOLLIB),$^) $(LIBS) $(DEP_L) \
	    $(if $(filter %-dot %-fetch,$*),$(CGRAPH_L)) $(if $(filter %-fetch,$*),$(CURL_L)) \
	    $(if $(filter %-symbolize,$*),$(SYMBOL_L)) -lm
$(O)/pprof-fetch: $(FETCHLIB)
$(O)/pprof-symbolize: $(SYMBOLLIB)
$(STANDIN): $(STANDOBJ) $(FETCHLIB) $(LIBS)
	$(Q)$(CC) $(CFLAGS) $(ALLL) -o $@ $(filter %.o,$^) $(FETCHLIB) $(LIBS) $(DEP_L) -lm
$(UNIT): $(O)/%: $(O)/%.o $(LIBS)
	$(Q)$(CC) $(CFLAGS) $(ALLL) -o $@ $(filter %.o,$^) $(filter $(FETCHLIB) $(SYMBOLLIB),$^) $(LIBS) $(DEP_L) \
	    $(if $(filter $(FETCHLIB),$^),$(CURL_L)) $(if $(filter $(SYMBOLLIB),$^),$(SYMBOL_L)) -lcmocka -lm
$(filter $(O)/cmd/fetch/test/%,$(UNIT)): $(FETCHLIB)
$(filter $(O)/cmd/symbols/test/%,$(UNIT)): $(SYMBOLLIB)
$(FUZZ): $(O)/%: $(O)/%.o $(O)/libpprof/fuzz/driver.o $(O)/libpprof/fuzz/seeds.o $(LIBS)
	$(Q)$(CC) $(CFLAGS) $(ALLL) $(FUZZER) -o $@ $(filter %.o,$^) $(LIBS) $(DEP_L) -lm

tests: $(BINS) $(UNIT) $(FUZZ) $(STANDIN) $(O)/scripts/resample

# Every suite prints TAP; run-tests adds the results up and ends with "N passed, N failed, N skipped".
check: tests check-headers
	scripts/run-tests $(O)

ASAN := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
check-asan:
	$(MAKE) O=$(O)/asan CFLAGS='$(ASAN)' tests
	ASAN_OPTIONS=detect_leaks=1 scripts/run-tests $(O)/asan
# What uses threads; a race is an exit status that no test expects.
check-tsan:
	$(MAKE) O=$(O)/tsan CFLAGS='-O1 -g -fsanitize=thread' all
	PP_BUILD=$(abspath $(O)/tsan) PP_RUN= LC_ALL=C TZ=UTC TSAN_OPTIONS=exitcode=99 \
	    bats -f 'no number of threads' cmd/test
check-valgrind:
	$(MAKE) O=$(O)/valgrind CFLAGS='-O1 -g' tests
	PP_VALGRIND=1 scripts/run-tests $(O)/valgrind

# The fuzz targets for libFuzzer (clang). The others write its first inputs: build/…/fuzz_read -write=DIR
fuzz:
	$(MAKE) O=$(O)/libfuzzer CC=clang FUZZER=-fsanitize=fuzzer fuzzers \
	    CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -DPP_LIBFUZZER'
fuzzers: $(FUZZ)

# Every header compiles alone.
check-headers: $(HDRS:%=$(O)/%.ok)
$(O)/%.h.ok: %.h $(O)/flags | $(GENH)
	@mkdir -p $(@D); printf '#include "%s"\ntypedef int iso_c_wants_a_declaration;\n' '$<' | \
	$(CC) $(ALLC) -fsyntax-only -xc - && touch $@

install: all
	install -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(COMPDIR)"
	install -m 755 $(BINS) "$(DESTDIR)$(BINDIR)"
	for page in $(MANS); do \
	    section=$${page##*.}; install -d "$(DESTDIR)$(MANDIR)/man$$section" && \
	    install -m 644 $$page "$(DESTDIR)$(MANDIR)/man$$section" || exit 1; done
	for tool in $(TOOLS); do \
	    scripts/bash-completion $$tool $(O)/$$tool >"$(DESTDIR)$(COMPDIR)/$$tool" || exit 1; done

BENCH    := $(O)/scripts/make-big $(O)/scripts/measure
$(BENCH): $(O)/%: $(O)/%.o
	$(Q)$(CC) $(CFLAGS) $(ALLL) -o $@ $<
# A test program that needs the libraries.
RESAMPLE := $(O)/scripts/resample
$(RESAMPLE): $(O)/scripts/resample.o $(LIBS)
	$(Q)$(CC) $(CFLAGS) $(ALLL) -o $@ $< $(LIBS) $(DEP_L) -lm

rcabench: all
	scripts/rcabench $(CASES) $(O)
rcabench-ablate: all $(RESAMPLE)
	scripts/rcabench-ablate $(CASES) $(O)

# How often pprof-diff is wrong, on profiles whose truth is known; the table of pprof-diff(1). Minutes.
calibrate: all $(RESAMPLE)
	scripts/calibrate $(O) $(SEEDS)

bench: all $(BENCH)
	scripts/bench $(O)

demo: all
	scripts/demo $(O)

clean:
	rm -rf $(O)

help:
	@echo 'make [O=build] [CC=gcc|clang] [V=1]   build all tools into O'
	@echo 'make check | check-asan | check-tsan | check-valgrind   the tests'
	@echo 'make demo      print the report of the shipped incident'
	@echo 'make rcabench CASES=FOLDER   score rca-report on cases whose causes are known'
	@echo 'make rcabench-ablate CASES=FOLDER   the same with less and less to go on'
	@echo 'make calibrate [SEEDS=200]   false alarms and coverage of intervals of pprof-diff'
	@echo 'make bench     speed and memory, against the reference where it is installed'
	@echo 'make install [DESTDIR=] [PREFIX=/usr/local]'

FORCE:
.PHONY: all tests fuzz fuzzers check check-asan check-tsan check-valgrind check-headers install bench rcabench rcabench-ablate calibrate demo clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
-include $(shell [ -d $(O) ] && find $(O) -name '*.d')
