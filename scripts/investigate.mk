# From a question to a report: fetch what is missing, compare, report. Nothing is made again that is there.
#
#   make -f scripts/investigate.mk CASE=FOLDER [URL=http://pyroscope:4040] [FETCH='--keep-label endpoint']
#
# FOLDER holds case.tsv: question, service, lens, and the windows and selectors of both sides; load.tsv,
# symptoms.tsv and changed.txt may stand beside it (rca-report(1)). Made in it:
#
#   baseline/ incident/ control/   profiles, each with its provenance, and fetch.tsv; only with an address (URL,
#                                  PYROSCOPE_URL or GRAFANA_SERVER), else what is there is taken
#   diff.tsv                       what changed, row by row
#   report.txt report.md report.json
#   manifest.tsv                   SHA-256 of all of it; the same inputs give the same bytes
#
# What profiles are there is known by content (.profiles): whatever their names, and whenever they were touched.
#
# BIN= is the folder of the tools, else they are on PATH. Options of single steps: FETCH=, DIFF=, REPORT=.
CASE   ?= .
BIN    ?=
FETCH  ?=
DIFF   ?=
REPORT ?=

# Make has no names with blanks: the work is done within the folder, where all names that are known to it are our own.
ifneq ($(value CASE),.)
makefile := $(strip $(MAKEFILE_LIST))
all:
	@makefile='$(subst ','\'',$(makefile))' bin='$(subst ','\'',$(value BIN))'; \
	case $$makefile in /*) ;; *) makefile=$$PWD/$$makefile ;; esac; \
	case $$bin in "" | /*) ;; *) bin=$$PWD/$$bin ;; esac; \
	$(MAKE) --no-print-directory -C '$(subst ','\'',$(value CASE))' -f "$$makefile" CASE=. BIN="$$bin"
else

tool     = $(if $(value BIN),'$(subst ','\'',$(value BIN))'/)$(1)
asked   := $(wildcard case.tsv load.tsv symptoms.tsv changed.txt)
address := $(or $(URL),$(PYROSCOPE_URL),$(GRAFANA_SERVER))
fetched := $(if $(address),fetch.tsv)
inputs  := $(asked) $(fetched) .profiles
results := diff.tsv report.txt report.md report.json

all: manifest.tsv

# Nothing to look at (5) and no access (8) are answers, which the report has to give; fetch.tsv then says so, and is made
# old, so that the next run asks again.
fetch.tsv: case.tsv
	@set -x; $(call tool,pprof-fetch) case $(if $(URL),--url $(URL)) $(FETCH) .; status=$$?; set +x; \
	case $$status in \
	0) touch $@ ;; \
	5 | 8) touch -t 197001020000 $@ ;; \
	*) exit $$status ;; \
	esac

# What is in the folders, by content: as long as that stays, the file does, too.
.profiles: $(fetched) FORCE
	@for side in baseline incident control; do if [ -d $$side ]; then find $$side -type f ! -name '.*' -print0; fi; done | \
	    LC_ALL=C sort -z | xargs -0 -r sha256sum >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Without profiles on both sides there is nothing to compare; the table is then empty.
diff.tsv: $(inputs)
	@if awk '/\.tsv$$/ { next } / baseline\// { b = 1 } / incident\// { i = 1 } END { exit !(b && i) }' .profiles; then \
	    set -x; $(call tool,pprof-diff) --case . --format tsv $(DIFF) --output $@; \
	else : >$@; fi

report.txt: $(inputs)
	$(call tool,rca-report) $(REPORT) --format text --output $@ .
report.md: $(inputs)
	$(call tool,rca-report) $(REPORT) --format markdown --output $@ .
report.json: $(inputs)
	$(call tool,rca-report) $(REPORT) --format json --output $@ .

manifest.tsv: $(results)
	@find . -type f ! -name manifest.tsv ! -name '.*' -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum | \
	    awk '{ hash = $$1; sub(/^[^ ]+ [ *]\.\//, ""); print hash "\t" $$0 }' >.manifest.tsv && mv .manifest.tsv manifest.tsv
	@cat report.txt

FORCE:
.PHONY: FORCE
endif

.PHONY: all
.DELETE_ON_ERROR:
.SUFFIXES:
