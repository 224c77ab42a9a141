package device

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/point"
)

// The size of the scan that the project's budget is about.
const (
	benchDevices = 10_000
	benchPoints  = 18
)

// trivial is a driver that costs nothing: every session answers from its own memory.
type trivial struct{ line string }

func (*trivial) Validate() []error         { return nil }
func (*trivial) Load(driver.Files) []error { return nil }
func (t *trivial) LineName() string        { return t.line }
func (*trivial) Points() []point.Info      { return trivialPoints() }
func trivialKind() driver.Kind             { return driver.Kind{Name: "trivial", Dial: dialTrivial} }
func (t *trivial) Close() error            { return nil }

func dialTrivial(context.Context, driver.Config) (driver.Line, error) { return &trivial{}, nil }

func trivialPoints() []point.Info {
	infos := make([]point.Info, benchPoints)
	for i := range infos {
		infos[i].Path = point.Path(fmt.Sprintf("point_%02d", i))
	}
	return infos
}

func (*trivial) Open(context.Context, driver.Config) (driver.Session, error) {
	return &trivialSession{}, nil
}

type trivialSession struct{ samples [benchPoints]point.Sample }

func (s *trivialSession) Read(context.Context, []string) ([]point.Sample, error) {
	for i := range s.samples {
		s.samples[i].Time = time.Time{}
		s.samples[i].Value = point.IntOf(int64(i))
	}
	return s.samples[:], nil
}

func (*trivialSession) Close() error { return nil }

// counter is an outlet that only counts.
type counter struct{ scans, samples atomic.Int64 }

func (c *counter) Hear(*point.Scan)        {}
func (c *counter) Live(*point.Scan, Forms) { c.scans.Add(1) }
func (c *counter) Record(samples []point.Sample) bool {
	c.samples.Add(int64(len(samples)))
	return true
}

func (*counter) Settle(kept func()) { kept() }

func benchFleet(b *testing.B, out Outlet, interval time.Duration) *Fleet {
	b.Helper()
	f := New(out, slog.New(slog.DiscardHandler), Limits{})
	devices := make([]Config, benchDevices)
	for i := range devices {
		devices[i] = Config{
			Path: point.Path(fmt.Sprintf("campus/building/device_%05d", i)), Kind: trivialKind(),
			Driver:   &trivial{line: fmt.Sprintf("10.0.%d.%d:502", i/250, i%250)},
			Interval: interval, Publish: FormScan, Record: true,
		}
	}
	if err := f.Apply(devices); err != nil {
		b.Fatal(err)
	}
	return f
}

// BenchmarkFleet has one line for each of 10,000 devices, all on goroutines that wait for their slot: CPU time of the whole
// process for each scan of all devices, and memory for each line.
func BenchmarkFleet(b *testing.B) {
	const interval = 500 * time.Millisecond
	before := heapAndStacks()
	out := &counter{}
	f := benchFleet(b, out, interval)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	awaitScans(out, benchDevices)
	memory := heapAndStacks() - before
	begin, scans := cpuTime(b), out.scans.Load()
	for b.Loop() {
		awaitScans(out, out.scans.Load()+benchDevices)
	}
	cpu, scans := cpuTime(b)-begin, out.scans.Load()-scans
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
	b.ReportMetric(cpu.Seconds()*1000/(float64(scans)/benchDevices), "cpu-ms/scan")
	b.ReportMetric(float64(memory)/benchDevices, "B/line")
}

func awaitScans(out *counter, n int64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for out.scans.Load() < n {
		<-tick.C
	}
}

func heapAndStacks() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
