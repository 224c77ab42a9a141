package node_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/devices"
	"voltbus/point"
)

// numbers are n samples of one point, a second apart, that begin at a value.
func numbers(path point.Path, from, n int) []point.Sample {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	samples := make([]point.Sample, n)
	for i := range samples {
		samples[i] = point.Sample{Point: path, Time: base.Add(time.Duration(from+i) * time.Second), Value: point.IntOf(int64(from + i))}
	}
	return samples
}

// stored returns how many samples of a point the history has.
func (r *running) stored(path string) int {
	r.t.Helper()
	a, err := r.Aggregate(context.Background(), client.Span{Points: []string{path}, From: "2025-01-01T00:00:00Z", To: "2027-01-01T00:00:00Z", Local: true}, client.Steps{Step: "1000d"})
	if fault.Is(err, fault.NotFound) {
		return 0 // nothing of it was stored yet
	}
	if err != nil {
		r.t.Fatal(err)
	}
	n := 0
	for _, b := range a.Series[0].Buckets {
		n += int(b.Count)
	}
	return n
}

func (r *running) record(samples []point.Sample) {
	r.t.Helper()
	if err := r.Record(context.Background(), samples); err != nil {
		r.t.Fatal(err)
	}
}

// smallDisk returns a folder whose folder "data" is a disk of 400 MB of its own.
func smallDisk(t *testing.T) (dir, data string) {
	t.Helper()
	dir = t.TempDir()
	data = filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=400m"); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, data
}

func TestAFullDiskPausesRecordingWhileReadingGoesOn(t *testing.T) {
	t.Parallel()
	dir, data := smallDisk(t)
	cfg := load(t, dir, listenAnywhere+"log: {min_free: 200MiB}\n"+zones)
	r := run(t, cfg)
	eventually(t, "recording works", func() bool { return r.ledger().Origins[0].Stored > 20 })
	for round := range 2 {
		pauseOnce(t, r, filepath.Join(data, "ballast"))
		r.record(numbers("p", 10*round, 10))
		eventually(t, "the new samples are stored", func() bool { return r.stored("p") == 10*(round+1) })
	}
	r.halt()
	r = run(t, cfg)
	r.record(numbers("p", 20, 10))
	eventually(t, "all samples are stored after a restart", func() bool { return r.stored("p") == 30 })
	if o := r.ledger().Origins[0]; o.Missing != 0 || o.Repeated != 0 || !o.Balanced || len(r.ledger().Gaps) > 0 {
		t.Errorf("the ledger: %+v", o)
	}
}

// pauseOnce fills the disk until nothing is recorded, and makes room again.
func pauseOnce(t *testing.T, r *running, ballast string) {
	t.Helper()
	ctx := context.Background()
	if err := os.WriteFile(ballast, make([]byte, 220<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ledger says that recording is paused", func() bool { return r.ledger().State == "paused" })
	if l := r.ledger(); !strings.Contains(l.Reason, "make room") {
		t.Errorf("the reason is %q", l.Reason)
	}
	if err := r.Record(ctx, numbers("p", 0, 1)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Record: %v, want unavailable", err)
	}
	h, err := r.Client.Health(ctx)
	if err != nil || h.Status != "degraded" {
		t.Errorf("health is %+v, %v", h, err)
	}
	before, _ := client.Do(ctx, r.Client, devices.List, struct{}{})
	eventually(t, "devices are read on", func() bool {
		d, err := client.Do(ctx, r.Client, devices.List, struct{}{})
		return err == nil && d.Devices[0].Reads > before.Devices[0].Reads+5
	})
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "recording goes on", func() bool { return r.ledger().State == "ok" })
	if o := r.ledger().Origins[0]; o.Missing != 0 || o.Repeated != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
}

func TestWhatTheLogsBoundDropsIsCountedToTheSample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere))
	r.record(numbers("p", 0, 100))
	eventually(t, "the first samples are stored", func() bool { return r.stored("p") == 100 })
	r.halt()

	// The same node without a store: its log overflows, as when the store is away for long.
	away := run(t, load(t, dir, listenAnywhere+"store: {engine: none}\nlog: {max_bytes: 16MiB}\n"))
	produced := 100
	for i := range 400 {
		s := numbers("p", 100+i, 1)
		s[0].Value = point.TextOf(noise(60_000))
		away.record(s)
		produced++
	}
	away.halt()

	back := run(t, load(t, dir, listenAnywhere))
	eventually(t, "the store has what is left of the log", func() bool {
		o := back.ledger().Origins[0]
		return o.BacklogSamples == 0 && o.Stored > 100
	})
	l := back.ledger()
	o := l.Origins[0]
	if o.Missing == 0 || o.Stored+o.Missing != uint64(produced) || o.Acknowledged != uint64(produced) || !o.Balanced {
		t.Errorf("of %d samples the ledger says %+v", produced, o)
	}
	if l.Log.DroppedSamples != o.Missing || len(l.Gaps) == 0 || l.Gaps[0].Reason != "dropped" || l.Gaps[0].Samples != o.Missing {
		t.Errorf("the gap is shown as %+v, %+v", l.Log, l.Gaps)
	}
}

// noise is text that does not pack well.
func noise(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(' ' + rand.IntN(94))
	}
	return string(text)
}

func TestACorruptBlockOfTheLogIsReportedAndTheRestServed(t *testing.T) {
	dir := t.TempDir()
	away := run(t, load(t, dir, listenAnywhere+"store: {engine: none}\n"))
	for i := range 50 {
		away.record(numbers("p", i*100, 100))
	}
	away.halt()
	blocks, err := filepath.Glob(filepath.Join(dir, "data", "log", "jetstream", "*", "streams", "LOG", "msgs", "*.blk"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("the log's files: %v, %v", blocks, err)
	}
	flip(t, blocks[0], 0.5)
	back := run(t, load(t, dir, listenAnywhere))
	back.record(numbers("p", 5000, 100))
	eventually(t, "the store has what is left of the log", func() bool {
		o := back.ledger().Origins[0]
		return o.BacklogSamples == 0 && o.Stored > 100
	})
	l := back.ledger()
	o := l.Origins[0]
	if o.Missing == 0 || o.Missing%100 != 0 || o.Stored+o.Missing != 5100 || len(l.Gaps) == 0 || l.Gaps[0].Reason != "corrupt" {
		t.Errorf("the ledger shows %+v, gaps %+v", o, l.Gaps)
	}
	h, err := back.Client.Health(context.Background())
	if err != nil || len(h.Concerns) != 1 || h.Concerns[0].Part != "history" || !strings.HasSuffix(h.Concerns[0].Sentence, "are lost: corrupt") {
		t.Errorf("health of what works on, on the day of a loss: %+v, %v", h, err)
	}
	if got := back.stored("p"); uint64(got) != o.Stored {
		t.Errorf("%d samples are served, %d stored", got, o.Stored)
	}
}

// flip changes one byte at a place between 0 and 1 of a file.
func flip(t *testing.T, file string, place float64) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[int(float64(len(data))*place)] ^= 0x55
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestACorruptStoreIsSetAsideAndFilledAgainFromTheLog(t *testing.T) {
	dir := t.TempDir()
	first := run(t, load(t, dir, listenAnywhere))
	first.record(numbers("p", 0, 1000))
	eventually(t, "the samples are stored", func() bool { return first.stored("p") == 1000 })
	first.halt()
	file := filepath.Join(dir, "data", "store", "history.duckdb")
	if err := os.WriteFile(file, []byte("this is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := run(t, load(t, dir, listenAnywhere))
	again.settled(1000)
	if n := again.stored("p"); n != 1000 {
		t.Errorf("%d samples are there again, want 1000", n)
	}
	l := again.ledger()
	if len(l.Damaged) == 0 || !strings.Contains(l.Damaged[0].File, "damaged") {
		t.Errorf("the damage is not shown: %+v", l.Damaged)
	}
	if h, err := again.Client.Health(context.Background()); err != nil || h.Status != "degraded" {
		t.Errorf("health is %+v, %v", h, err)
	}
	if o := l.Origins[0]; o.Stored != 1000 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
	again.record(numbers("p", 1000, 10))
	eventually(t, "new samples are stored too", func() bool { return again.stored("p") == 1010 })
}

// When a clock jumps back, times come a second time. None of the samples may be lost or repeated.
func TestSamplesOfAClockThatJumpedBackAreAllKept(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	r.record(numbers("p", 1000, 500))
	shifted := numbers("p", 900, 300) // overlaps in time, half a second off
	for i := range shifted {
		shifted[i].Time = shifted[i].Time.Add(500 * time.Millisecond)
	}
	r.record(shifted)
	if o := r.settled(800); o.Missing+o.Repeated != 0 || !o.Balanced {
		t.Errorf("the ledger: %+v", o)
	}
	if n := r.stored("p"); n != 800 {
		t.Errorf("the history has %d samples, want 800", n)
	}
}
