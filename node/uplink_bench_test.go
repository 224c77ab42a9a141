package node_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/testing/link"
)

// telemetry returns scans of devices × 18 points as buildings report them, a minute apart.
func telemetry(devices, scans int) []point.Sample {
	base := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Second)
	out := make([]point.Sample, 0, devices*18*scans)
	for s := range scans {
		for d := range devices {
			at := base.Add(time.Duration(s)*time.Minute + time.Duration(d)*3*time.Millisecond)
			for p := range 18 {
				v := point.FloatOf(math.Round(200+50*math.Sin(float64(s)/40+float64(d+p)))/10 + float64(p))
				if p > 11 {
					v = point.BoolOf((s/30+d+p)%3 == 0)
				}
				out = append(out, point.Sample{Point: point.Path(fmt.Sprintf("floor%d/device%d/point%d", d%10, d, p)), Time: at, Value: v})
			}
		}
	}
	return out
}

// BenchmarkCatchUp measures how fast a parent gets what its child recorded while it was away.
func BenchmarkCatchUp(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		way := link.New(b)
		parent := run(b, nodeOf(b, b.TempDir(), "campus", listenAnywhere+"store: {engine: none}\n"))
		way.Lead(parent.BusAddr())
		child := run(b, nodeOf(b, b.TempDir(), "plant", listenAnywhere+"store: {engine: none}\n"))
		below(b, parent, child, way.Addr(), "campus/plant")
		way.Lead("")
		way.Cut()
		samples := telemetry(500, 300)
		for i := 0; i < len(samples); i += 9000 {
			if err := child.Record(wait(b), samples[i:min(i+9000, len(samples))]); err != nil {
				b.Fatal(err)
			}
		}
		direct := parent.BusAddr()
		way.Lead(direct)
		b.StartTimer()
		began := time.Now()
		var first time.Time
		got := uint64(0)
		for got < uint64(len(samples)) {
			got = 0
			for _, c := range parent.Below() {
				got += c.Samples
				if got > 0 && first.IsZero() {
					first = time.Now()
				}
				b.ReportMetric(float64(c.Bytes)/float64(max(c.Samples, 1)), "octets/sample")
			}
			if time.Since(began) > time.Minute {
				b.Fatal("too slow")
			}
			time.Sleep(5 * time.Millisecond) //nolint:forbidigo // measures
		}
		b.ReportMetric(float64(len(samples))/time.Since(first).Seconds(), "samples/s")
		b.StopTimer()
		child.halt()
		parent.halt()
		b.StartTimer()
	}
}
