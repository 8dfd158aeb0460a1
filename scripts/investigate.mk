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
# BIN= is the folder of the tools, else they are on PATH. Options of single steps: FETCH=, DIFF=, REPORT=.
CASE   ?= .
BIN    ?=
FETCH  ?=
DIFF   ?=
REPORT ?=
tool    = $(if $(BIN),$(BIN)/)$(1)

case     := $(patsubst %/,%,$(CASE))
asked    := $(wildcard $(addprefix $(case)/,case.tsv load.tsv symptoms.tsv changed.txt))
profiles := $(wildcard $(addprefix $(case)/,baseline/*.gz incident/*.gz control/*.gz baseline/*.pb incident/*.pb control/*.pb))
address  := $(or $(URL),$(PYROSCOPE_URL),$(GRAFANA_SERVER))
fetched  := $(if $(address),$(case)/fetch.tsv)
inputs   := $(asked) $(profiles) $(fetched)
results  := $(addprefix $(case)/,diff.tsv report.txt report.md report.json)

all: $(case)/manifest.tsv

# Nothing to look at (5) and no access (8) are answers, which the report has to give; fetch.tsv then says so, and is made
# old, so that the next run asks again.
$(case)/fetch.tsv: $(case)/case.tsv
	@set -x; $(call tool,pprof-fetch) case $(if $(URL),--url $(URL)) $(FETCH) $(case); status=$$?; set +x; \
	case $$status in \
	0) touch $@ ;; \
	5 | 8) touch -t 197001020000 $@ ;; \
	*) exit $$status ;; \
	esac

# Without profiles on both sides there is nothing to compare; the table is then empty.
$(case)/diff.tsv: $(inputs)
	@if ls $(case)/baseline/*.gz $(case)/incident/*.gz >/dev/null 2>&1 || ls $(case)/baseline/*.pb $(case)/incident/*.pb >/dev/null 2>&1; then \
	    set -x; $(call tool,pprof-diff) --case $(case) --format tsv $(DIFF) --output $@; \
	else : >$@; fi

$(case)/report.txt: $(inputs)
	$(call tool,rca-report) $(REPORT) --format text --output $@ $(case)
$(case)/report.md: $(inputs)
	$(call tool,rca-report) $(REPORT) --format markdown --output $@ $(case)
$(case)/report.json: $(inputs)
	$(call tool,rca-report) $(REPORT) --format json --output $@ $(case)

$(case)/manifest.tsv: $(results)
	@cd $(case) && find . -type f ! -name manifest.tsv ! -name '.*' | LC_ALL=C sort | xargs -r sha256sum | \
	    awk '{ hash = $$1; sub(/^[^ ]+ [ *]\.\//, ""); print hash "\t" $$0 }' >.manifest.tsv && mv .manifest.tsv manifest.tsv
	@cat $(case)/report.txt

.PHONY: all
.DELETE_ON_ERROR:
.SUFFIXES:
