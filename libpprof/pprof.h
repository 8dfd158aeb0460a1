/* The whole of libpprof, for those outside it. */
#ifndef PP_PPROF_H
#define PP_PPROF_H

#include "libpprof/base.h"
#include "libpprof/build.h"
#include "libpprof/callgraph.h"
#include "libpprof/error.h"
#include "libpprof/folded.h"
#include "libpprof/frame.h"
#include "libpprof/gz.h"
#include "libpprof/hash.h"
#include "libpprof/json.h"
#include "libpprof/limits.h"
#include "libpprof/load.h"
#include "libpprof/merge.h"
#include "libpprof/profile.h"
#include "libpprof/prune.h"
#include "libpprof/read.h"
#include "libpprof/records.h"
#include "libpprof/regex.h"
#include "libpprof/rollup.h"
#include "libpprof/samplecount.h"
#include "libpprof/samples.h"
#include "libpprof/sampletype.h"
#include "libpprof/sink.h"
#include "libpprof/source.h"
#include "libpprof/tsv.h"
#include "libpprof/unit.h"
#include "libpprof/utf8.h"
#include "libpprof/write.h"

#endif
