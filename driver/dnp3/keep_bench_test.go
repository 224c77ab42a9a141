package dnp3

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"voltbus/point"
)

// BenchmarkReportOf100Events measures a device that reports 100 events at a time, and begins the next report when the one
// before is confirmed: at once, when its owner says that it is kept, or when it is on disk.
func BenchmarkReportOf100Events(b *testing.B) {
	b.Run("confirmed=at-once", func(b *testing.B) { reports(b, nil) })
	b.Run("confirmed=when-kept", func(b *testing.B) { reports(b, func([]byte) {}) })
	b.Run("confirmed=on-disk", func(b *testing.B) {
		log, err := os.Create(filepath.Join(b.TempDir(), "log"))
		if err != nil {
			b.Fatal(err)
		}
		defer log.Close()
		reports(b, func(block []byte) {
			if _, err := log.Write(block); err != nil {
				b.Fatal(err)
			}
			if err := log.Sync(); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// reports has a device report to a session that keeps what it hears; nil for one that confirms at once.
func reports(b *testing.B, keep func(block []byte)) {
	const events = 100
	d := newDevice(b)
	s := connect(b, config(b, d.listen(b, nil, 10), `[{name: voltage, type: analog_input, index: 2}]`))
	news := make(chan struct{}, 1)
	if keep != nil {
		s.Careful(func() {})
	}
	if err := s.Subscribe(b.Context(), []string{"voltage"}, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}); err != nil {
		b.Fatal(err)
	}
	value := 0.0
	hear := func(last float64) {
		for seen := false; !seen; {
			<-news
			if err := s.Take(b.Context(), func(p point.Sample) { seen = seen || p.Value == point.FloatOf(last) }); err != nil {
				b.Fatal(err)
			}
			if kept := s.Keep(); kept != nil {
				keep(make([]byte, 10*events))
				kept()
			}
		}
	}
	values := make([]float64, events)
	report := func() {
		for i := range values {
			value++
			values[i] = value
		}
		voltages(d.Outstation, time.Now(), values...)
		hear(value)
	}
	report()
	for b.Loop() {
		report()
	}
	b.ReportMetric(float64(events*b.N)/b.Elapsed().Seconds(), "events/s")
}
