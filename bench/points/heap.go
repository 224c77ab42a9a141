package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
)

// heap is what the Go part of a node's memory is, in bytes.
type heap struct {
	Alive uint64 // objects in use, after a collection
	Held  uint64 // what the runtime had of the system before, without what it gave back
}

// askHeap asks the node's process, which collects first: what was resident is to be read before.
func (p *process) askHeap() (h heap, err error) {
	if _, err := io.WriteString(p.stdin, "heap\n"); err != nil {
		return h, err
	}
	return h, p.out.Decode(&h)
}

// atRest prints and returns what is resident, and prints what of it the Go heap is.
func (p *process) atRest(when string) (resident int64, err error) {
	resident = p.memory("VmRSS:")
	h, err := p.askHeap()
	fmt.Printf("  %s %.1f MB; the heap had %.1f MB of it, %.1f MB alive\n", when, mb(resident), mb(h.Held), mb(h.Alive))
	return resident, err
}

func mb[N int64 | uint64](octets N) float64 { return float64(octets) / (1 << 20) }

// tellMemory answers each line of the input with the state of the heap, until the input ends.
func tellMemory(profile string) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		runtime.GC()
		runtime.GC() // what pools let go
		runtime.ReadMemStats(&after)
		if err := json.NewEncoder(os.Stdout).Encode(heap{after.HeapAlloc, before.Sys - before.HeapReleased}); err != nil {
			return err
		}
		if err := heapTo(profile); err != nil {
			return err
		}
	}
	return lines.Err()
}

// heapTo writes what is alive in the heap, by where it was allocated.
func heapTo(profile string) error {
	if profile == "" {
		return nil
	}
	f, err := os.Create(profile + ".heap")
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}
