package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"voltbus/driver"
	"voltbus/driver/modbus"
	"voltbus/internal/folder"
	"voltbus/point"
)

// bulk is where a boiler of the farm has its block of registers that move.
const bulk = 300

// options say what to measure.
type options struct {
	address     string
	connections int
	period      time.Duration
	duration    time.Duration
	timeout     time.Duration
	registers   int
}

// result is what was measured.
type result struct {
	reads    int
	samples  int
	errors   int
	first    error           // of the errors
	took     []time.Duration // of each read without an error, ascending
	elapsed  time.Duration   // from the first read to the last
	connect  time.Duration   // until all connections stood
	heapSize uint64          // bytes, with all connections open
}

// poller is one connection.
type poller struct {
	line    driver.Line
	session driver.Session
	names   []string
	result  result
}

// measure opens the connections, polls them for the duration, each at its own moment of the
// period, and closes them.
func measure(ctx context.Context, o options) (result, error) {
	began := time.Now()
	pollers := make([]*poller, 0, o.connections)
	defer func() {
		for _, p := range pollers {
			_ = p.line.Close()
		}
	}()
	for range o.connections {
		p, err := dial(ctx, o)
		if err != nil {
			return result{}, fmt.Errorf("open connection %d of %d: %w", len(pollers)+1, o.connections, err)
		}
		pollers = append(pollers, p)
	}
	total := result{connect: time.Since(began)}

	began = time.Now()
	var running sync.WaitGroup
	for i, p := range pollers {
		offset := o.period * time.Duration(i) / time.Duration(o.connections)
		running.Go(func() { p.run(ctx, began.Add(offset), began.Add(o.duration), o.period) })
	}
	running.Wait()
	total.elapsed = time.Since(began)
	total.heapSize = heapSize()
	for _, p := range pollers {
		total.add(p.result)
	}
	slices.Sort(total.took)
	return total, ctx.Err()
}

func heapSize() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// dial opens a line and its device.
func dial(ctx context.Context, o options) (*poller, error) {
	c := modbus.NewConfig()
	c.Address, c.Timeout = o.address, o.timeout
	p := &poller{}
	for i := range o.registers {
		name := "r" + strconv.Itoa(i)
		p.names = append(p.names, name)
		c.Registry.Entries = append(c.Registry.Entries, modbus.Entry{
			Name: name, Table: "input", Address: strconv.Itoa(bulk + i), Type: "uint16",
		})
	}
	if problems := append(c.Load(folder.Any(".")), c.Validate()...); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	var err error
	if p.line, err = modbus.Kind().Dial(ctx, c); err != nil {
		return nil, err
	}
	p.session, err = p.line.Open(ctx, c)
	return p, err
}

// run reads at start and each period after it, until the end.
func (p *poller) run(ctx context.Context, start, end time.Time, period time.Duration) {
	for next := start; next.Before(end); next = next.Add(period) {
		timer := time.NewTimer(time.Until(next))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		p.read(ctx)
	}
}

func (p *poller) read(ctx context.Context) {
	began := time.Now()
	samples, err := p.session.Read(ctx, p.names)
	p.result.reads++
	if err == nil {
		p.result.took = append(p.result.took, time.Since(began))
		p.result.samples += len(samples)
		bad := slices.IndexFunc(samples, func(s point.Sample) bool { return !s.Quality.IsGood() })
		if bad < 0 {
			return
		}
		err = fmt.Errorf("%s is %v", samples[bad].Point, samples[bad].Quality)
	}
	p.result.errors++
	if p.result.first == nil {
		p.result.first = err
	}
}

func (r *result) add(other result) {
	r.reads += other.reads
	r.samples += other.samples
	r.errors += other.errors
	r.took = append(r.took, other.took...)
	if r.first == nil {
		r.first = other.first
	}
}

// quantile returns the time that the share of the reads did not exceed.
func (r *result) quantile(share float64) time.Duration {
	if len(r.took) == 0 {
		return 0
	}
	return r.took[min(len(r.took)-1, int(share*float64(len(r.took))))]
}

// print writes the result as a row of the README's table.
func (r *result) print(out io.Writer, o options) {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
	fmt.Fprintln(out, "| connections | period | reads/s | samples/s | errors | median | p99 | max | connected in | heap |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	fmt.Fprintf(out, "| %d | %v | %.0f | %.0f | %d | %s | %s | %s | %.1f s | %.0f MB |\n",
		o.connections, o.period, float64(r.reads)/r.elapsed.Seconds(), float64(r.samples)/r.elapsed.Seconds(), r.errors,
		ms(r.quantile(0.5)), ms(r.quantile(0.99)), ms(r.quantile(1)), r.connect.Seconds(), float64(r.heapSize)/1e6)
}
