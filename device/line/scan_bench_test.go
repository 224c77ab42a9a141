package line

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/clock"
	"voltbus/driver"
	"voltbus/point"
)

// The size of the scan that the project's budget is about.
const (
	benchLines = 10_000
	scanPoints = 18
)

// instant is a driver that costs nothing: every session answers from its own memory.
type instant struct {
	wired

	samples [scanPoints]point.Sample
}

func (*instant) Points() []point.Info {
	infos := make([]point.Info, scanPoints)
	for i := range infos {
		infos[i].Path = point.Path(fmt.Sprintf("point_%02d", i))
	}
	return infos
}

func (*instant) Open(context.Context, driver.Config) (driver.Session, error) { return &instant{}, nil }
func (*instant) Close() error                                                { return nil }

func (s *instant) Read(context.Context, []string) ([]point.Sample, error) {
	for i := range s.samples {
		s.samples[i].Time = time.Time{}
		s.samples[i].Value = point.IntOf(int64(i))
	}
	return s.samples[:], nil
}

// taken is an outlet that drops what it gets.
type taken struct{}

func (taken) Hear(*point.Scan)                    {}
func (taken) Live(*point.Scan, acquisition.Forms) {}
func (taken) Record([]point.Sample) bool          { return true }
func (taken) Settle(kept func())                  { kept() }

// BenchmarkScan is what lines do for one scan of all devices, one after the other.
func BenchmarkScan(b *testing.B) {
	limits := acquisition.Limits{}.WithDefaults()
	own := Owner{
		Limits: limits, Clock: clock.New(limits.Jump), Out: NewEmitter(taken{}), Log: slog.New(slog.DiscardHandler),
		Leave: func(*Line) bool { return false },
	}
	kind := driver.Kind{Name: "instant", Dial: func(context.Context, driver.Config) (driver.Line, error) { return &instant{}, nil }}
	ctx := b.Context()
	lines := make([]*Line, benchLines)
	for i := range lines {
		l := New(Key{"instant", fmt.Sprint("line ", i)}, own)
		c := acquisition.Config{
			Path: point.Path(fmt.Sprintf("campus/building/device_%05d", i)), Kind: kind, Driver: &instant{},
			Interval: time.Minute, Timeout: time.Second, Publish: acquisition.FormScan, Record: true,
		}
		l.Want([]*Device{NewDevice(c, i, 0, nil, l)})
		l.adopt(ctx)
		lines[i] = l
	}
	scan := func() {
		for _, l := range lines {
			l.visit(ctx, l.units[0], own.Clock.Now())
		}
	}
	scan()
	b.ReportAllocs()
	for b.Loop() {
		scan()
	}
	b.ReportMetric(float64(b.N)*benchLines*scanPoints/b.Elapsed().Seconds(), "samples/s")
}
