package dnp3_test

import (
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// drop is a handler that only counts.
type drop struct{ points int }

func (d *drop) Begin(master.Info) {}
func (d *drop) End(master.Info)   {}
func (d *drop) Header(h app.Header) {
	for range h.Points() {
		d.points++
	}
}

// bench is a started pair without a line: octets go from one end to the other at once.
type bench struct {
	*pair

	drop   *drop
	update func(tx *outstation.Tx)
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	c := outstation.Config{}
	for i := range uint32(11) {
		for _, kind := range []object.Kind{object.KindBinaryInput, object.KindCounter, object.KindAnalogInput} {
			c.Points = append(c.Points, outstation.PointConfig{Kind: kind, Index: i, Class: app.Class1})
		}
	}
	b := &bench{pair: newPair(tb, master.Config{Enable: app.EventClasses}, c, outstation.SessionConfig{Unsolicited: true}), drop: &drop{}}
	a, err := master.New(master.Config{Enable: app.EventClasses}, b.drop)
	if err != nil {
		tb.Fatal(err)
	}
	b.ends[0] = b.end(station.Config{Local: masterAddress, Remote: outstationAddress, Master: true}, a)
	b.open()
	b.run(time.Second)
	events := exchangeEvents()
	b.update = func(tx *outstation.Tx) {
		for i := range events {
			tx.Set(events[i].variation.Kind(), events[i].point, outstation.Force)
		}
	}
	return b
}

// message exchanges a report of 100 values and its confirmation.
func (b *bench) message() {
	b.outstation.Update(b.update)
	there, here := b.ends[1], b.ends[0]
	there.mux.Tick(b.now, there.out)
	here.mux.Receive(b.now, there.out.Wire(), here.out)
	there.out.Reset()
	there.mux.Receive(b.now, here.out.Wire(), there.out)
	here.out.Reset()
}

func TestAMessageOf100ValuesAllocatesNothingPerValue(t *testing.T) {
	b := newBench(t)
	// The race detector makes pools forget some of what they are given.
	if n := testing.AllocsPerRun(100, b.message); n > 2 {
		t.Errorf("%g allocations", n)
	}
	if b.drop.points != 101*100 {
		t.Errorf("%d points arrived, want %d", b.drop.points, 101*100)
	}
}

func BenchmarkMessageOf100ValuesBetweenSessions(b *testing.B) {
	bench := newBench(b)
	b.ReportAllocs()
	for b.Loop() {
		bench.message()
	}
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "values/s")
}
