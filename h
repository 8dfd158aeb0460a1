--- symbol
binary=/srv/shop
0x000000000000100f shop::hold--alloc::vec::Vec::with_capacity--alloc::alloc::alloc
0x000000000000200f <tikv_jemallocator::Jemalloc as core::alloc::global::GlobalAlloc>::alloc
0x000000000000201f _rjem_je_malloc_default--imalloc--imalloc_body
0x000000000000202f prof_alloc_prep
0x000000000000203f prof_backtrace_impl
0x000000000000300f shop::main
0x000000000000301f shop::alloc_cart
---
--- heap
heap_v2/1
  t*: 3: 700 [0: 0]
  t0: 3: 700 [0: 0]
@ 0x2040 0x2030 0x2020 0x2010 0x1010 0x3010
  t*: 1: 400 [0: 0]
  t0: 1: 400 [0: 0]
@ 0x2040 0x2030 0x2020 0x3020 0x3010
  t*: 2: 300 [0: 0]
  t0: 2: 300 [0: 0]

MAPPED_LIBRARIES:
00001000-00004000 r-xp 00000000 08:02 1 /srv/shop
