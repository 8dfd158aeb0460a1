package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A load is a fixed schedule of requests: each worker starts one every interval, whether or not the
// one before was late, until the time is up. The mix of endpoints is the same for every seed.
type load struct {
	pod, version string
	interval     time.Duration // of one worker
	workers      int
	counts       []int64 // by endpoint, as in endpoints
	spentNs      []int64 // likewise: the time that its requests took, waiting included
}

func newLoad(pod, version string, rate float64, workers int) *load {
	return &load{
		pod: pod, version: version, workers: workers,
		interval: time.Duration(float64(workers) / rate * float64(time.Second)),
		counts:   make([]int64, len(endpoints)),
		spentNs:  make([]int64, len(endpoints)),
	}
}

func (l *load) run(s *shop, length time.Duration) {
	seed := fnv.New64()
	seed.Write([]byte(l.pod + l.version))
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for w := 0; w < l.workers; w++ {
		all.Add(1)
		random := rand.New(rand.NewSource(int64(seed.Sum64()) + int64(w)))
		go func() {
			defer all.Done()
			l.work(s, random, end)
		}()
	}
	all.Wait()
}

func (l *load) work(s *shop, random *rand.Rand, end time.Time) {
	for due := time.Now(); due.Before(end); due = due.Add(l.interval) {
		time.Sleep(time.Until(due))
		if !time.Now().Before(end) {
			return
		}
		which := pick(random)
		labels := pprof.Labels("endpoint", endpoints[which].path, "pod", l.pod, "version", l.version)
		start := time.Now()
		pprof.Do(context.Background(), labels, func(context.Context) {
			endpoints[which].serve(s, request{user: random.Intn(5000), item: random.Intn(catalogueSize)})
		})
		atomic.AddInt64(&l.spentNs[which], int64(time.Since(start)))
		atomic.AddInt64(&l.counts[which], 1)
	}
}

// pick draws an endpoint by its weight.
func pick(random *rand.Rand) int {
	n := random.Intn(100)
	for i, e := range endpoints {
		if n -= e.weight; n < 0 {
			return i
		}
	}
	panic("the weights of the endpoints do not add up to 100")
}

// served is a row of load.tsv: all requests, then those of each endpoint.
func (l *load) served() string {
	var total int64
	var each strings.Builder
	for _, n := range l.counts {
		total += n
		fmt.Fprintf(&each, "\t%d", n)
	}
	return fmt.Sprintf("%d%s", total, each.String())
}

// spent is the time that all requests of each endpoint took, in nanoseconds.
func (l *load) spent() string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(l.spentNs), "[]")), "\t")
}
