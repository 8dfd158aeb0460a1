// Shop is a small service that profiles itself while it serves a fixed load of requests. It makes
// the profiles of testdata/: run it once as it is and once with a fault, and compare. Nothing goes
// over the network; the load calls the handlers.
package main

import (
	"flag"
	"fmt"
	"log"
	"runtime"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("shop: ")
	fault := flag.String("fault", "none", "what is wrong: "+strings.Join(faults, ", "))
	pod := flag.String("pod", "shop-1", "label `pod` of the CPU profile; seeds the load")
	version := flag.String("version", "v1", "label `version` of the CPU profile")
	seconds := flag.Float64("seconds", 10, "how long to serve")
	rate := flag.Float64("rate", 800, "requests per second, all workers together")
	workers := flag.Int("workers", 4, "goroutines that serve")
	hz := flag.Int("hz", 100, "CPU samples per second")
	at := flag.String("at", "", "RFC 3339 time that the profiles bear (default: the real one)")
	out := flag.String("out", ".", "folder for POD.cpu.pb.gz, POD.heap.pb.gz, …")
	flag.Parse()

	shop, err := newShop(*fault)
	if err != nil {
		log.Fatal(err)
	}
	recorder, err := startRecorder(*hz)
	if err != nil {
		log.Fatal(err)
	}
	load := newLoad(*pod, *version, *rate, *workers)
	start := time.Now()
	load.run(shop, time.Duration(*seconds*float64(time.Second)))
	window := time.Since(start)
	if err := recorder.write(*out, *pod, *at); err != nil {
		log.Fatal(err)
	}
	runtime.KeepAlive(shop) // what it holds is in use until the profiles are taken
	// Pod, version, seconds; requests in all and by endpoint; nanoseconds spent by endpoint.
	fmt.Printf("%s\t%s\t%.3f\t%s\t%s\n", *pod, *version, window.Seconds(), load.served(), load.spent())
}
