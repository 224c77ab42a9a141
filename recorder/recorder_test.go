package recorder_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDisk = errors.New("no space left")

// memoryLog is a log in memory that fails when its script says so: it may refuse a block at once,
// fail it later, or store it and lose the answer.
type memoryLog struct {
	mu       sync.Mutex
	entries  [][]byte
	broken   bool // as the real log: after one failed write all fail until Recover
	script   func() outcome
	latency  time.Duration
	recovers int
}

type outcome int

const (
	stored outcome = iota
	refusedAtOnce
	failedLater
	answerLost
	answerLate // as answerLost, and the log goes on
)

func (l *memoryLog) Append(data []byte, after uint64) (func(context.Context) error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := stored
	if l.script != nil {
		what = l.script()
	}
	if what == refusedAtOnce {
		return nil, errDisk
	}
	if l.broken || uint64(len(l.entries)) != after {
		what = failedLater
	}
	switch what {
	case failedLater:
		l.broken = true
	case answerLost, answerLate, stored:
		l.entries = append(l.entries, append([]byte(nil), data...))
		l.broken = what == answerLost
	case refusedAtOnce:
	}
	return func(ctx context.Context) error {
		select {
		case <-time.After(l.latency):
		case <-ctx.Done():
			return ctx.Err()
		}
		if what != stored {
			return errDisk
		}
		return nil
	}, nil
}

func (l *memoryLog) Last(context.Context) ([]byte, uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == 0 {
		return nil, 0, nil
	}
	return l.entries[len(l.entries)-1], uint64(len(l.entries)), nil
}

func (l *memoryLog) Recover(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = false
	l.recovers++
	return nil
}

func (l *memoryLog) Scan(_ context.Context, from uint64, deliver func(uint64, []byte) error) error {
	l.mu.Lock()
	entries := l.entries
	l.mu.Unlock()
	for i := max(from, 1); i <= uint64(len(entries)); i++ {
		if entries[i-1] == nil {
			continue // dropped by the bound
		}
		if err := deliver(i, entries[i-1]); err != nil {
			return err
		}
	}
	return nil
}

// blocks decodes everything of the node's origin in the log; see blocksOf.
func (l *memoryLog) blocks(t rapid.TB) []point.Block {
	t.Helper()
	return l.blocksOf(t)["node"]
}

// blocksOf decodes everything in the log, and checks that the numbers of each origin have no gap and
// no overlap, and that no block stands twice.
func (l *memoryLog) blocksOf(t rapid.TB) map[string][]point.Block {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var d wire.Decoder
	all := map[string][]point.Block{}
	for i, data := range l.entries {
		var b point.Block
		if err := d.DecodeBlock(data, &b); err != nil {
			t.Fatal(err)
		}
		sequence, samples := uint64(0), uint64(0)
		if before := all[b.Origin]; len(before) > 0 {
			last := &before[len(before)-1]
			sequence, samples = last.Sequence, last.End()
		}
		if b.FirstSequence() != sequence+1 || b.Before != samples {
			t.Fatalf("entry %d: block %d of %q with %d samples before follows block %d with %d", i+1, b.FirstSequence(), b.Origin, b.Before, sequence, samples)
		}
		all[b.Origin] = append(all[b.Origin], b)
	}
	return all
}

func sampleOf(name string, v float64) point.Sample {
	return point.Sample{Point: point.Path(name), Time: time.Unix(1_700_000_000, 0).UTC(), Value: point.FloatOf(v)}
}

// start runs a recorder and returns a function that stops it and waits.
func start(t rapid.TB, cfg recorder.Config, log recorder.Log) (*recorder.Recorder, func()) {
	t.Helper()
	cfg.Origin = "node"
	return run(t, recorder.New(cfg, log, recorder.Start{}))
}

func run(t rapid.TB, r *recorder.Recorder) (*recorder.Recorder, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return r, func() {
		cancel()
		if err := <-done; err != nil {
			t.Fatalf("Run: %v", err)
		}
	}
}

func TestRecordReturnsWhenTheSamplesAreInTheLog(t *testing.T) {
	log := &memoryLog{}
	r, stop := start(t, recorder.Config{}, log)
	defer stop()
	for i := range 3 {
		if err := r.Record(t.Context(), []point.Sample{sampleOf("a/b", float64(i))}); err != nil {
			t.Fatal(err)
		}
		if got := len(log.blocks(t)); got != i+1 {
			t.Fatalf("after the answer %d the log holds %d blocks", i+1, got)
		}
	}
}

func TestWritersWithinMaxAgeShareOneBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memoryLog{}
		r, stop := start(t, recorder.Config{MaxAge: 5 * time.Millisecond}, log)
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				time.Sleep(time.Duration(i%4) * time.Millisecond) //nolint:forbidigo // virtual time: spreads the writers
				if err := r.Record(t.Context(), []point.Sample{sampleOf(fmt.Sprint("p", i), 1)}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		stop()
		if blocks := log.blocks(t); len(blocks) != 1 || blocks[0].Len() != 50 {
			t.Errorf("%d blocks, want 1 with 50 samples", len(blocks))
		}
	})
}

func TestBlocksStayWithinTheirSize(t *testing.T) {
	log := &memoryLog{}
	r, stop := start(t, recorder.Config{MaxSamples: 100}, log)
	samples := make([]point.Sample, 1050)
	for i := range samples {
		samples[i] = sampleOf(fmt.Sprint("p", i%7), float64(i))
	}
	if err := r.Record(t.Context(), samples); err != nil {
		t.Fatal(err)
	}
	long := point.Sample{Point: "t", Value: point.TextOf(string(make([]byte, 60_000)))}
	if err := r.Record(t.Context(), []point.Sample{long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long}); err != nil {
		t.Fatal(err)
	}
	stop()
	n := 0
	for _, b := range log.blocks(t) {
		if b.Len() > 100 {
			t.Errorf("a block holds %d samples, want at most 100", b.Len())
		}
		n += b.Len()
	}
	if n != 1070 {
		t.Errorf("the log holds %d samples, want 1070", n)
	}
}

func TestRecordRefusesWhatCannotBeStored(t *testing.T) {
	log := &memoryLog{}
	r, stop := start(t, recorder.Config{}, log)
	defer stop()
	for name, s := range map[string]point.Sample{
		"an empty path":      {},
		"a control char":     sampleOf("a\nb", 1),
		"a path too long":    sampleOf(string(make([]byte, 600)), 1),
		"a text of 100 kiB":  {Point: "p", Value: point.TextOf(string(make([]byte, 100<<10)))},
		"a text in Latin 1":  {Point: "p", Value: point.TextOf("\xe9")},
		"a year of 5 digits": {Point: "p", Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if err := r.Record(t.Context(), []point.Sample{s}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: error is %v, want invalid", name, err)
		}
	}
}

func TestAFullDiskPausesRecordingAndItGoesOnWhenThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		full := true
		log := &memoryLog{}
		room := func() error {
			mu.Lock()
			defer mu.Unlock()
			if full {
				return fault.E("disk", fault.Unavailable, "data", errDisk)
			}
			return nil
		}
		r, stop := start(t, recorder.Config{Room: room, Queue: 2, MaxSamples: 10}, log)
		for i := range 10 {
			r.Offer([]point.Sample{sampleOf("p", float64(i))})
		}
		synctest.Wait()
		time.Sleep(time.Second) //nolint:forbidigo // virtual time
		if err := r.Record(t.Context(), []point.Sample{sampleOf("p", 99)}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("Record with a full disk: %v, want unavailable", err)
		}
		if r.Stats().Paused == nil {
			t.Error("the pause is not shown")
		}
		accepted := 0
		for i := range 100 { // devices go on; the queue holds some, the rest is counted
			if r.Offer([]point.Sample{sampleOf("p", float64(100+i))}) {
				accepted++
			}
		}
		mu.Lock()
		full = false
		mu.Unlock()
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		if err := r.Record(t.Context(), []point.Sample{sampleOf("p", 1000)}); err != nil {
			t.Errorf("Record with room again: %v", err)
		}
		stop()
		s := r.Stats()
		n := 0
		for _, b := range log.blocks(t) {
			n += b.Len()
		}
		if want := 10 + accepted + 1; n != want || s.Acknowledged != uint64(want) {
			t.Errorf("the log holds %d samples, %d acknowledged, want %d", n, s.Acknowledged, want)
		}
		if s.Produced != s.Acknowledged+s.Refused || s.Pending != 0 || s.Refused != uint64(100-accepted) {
			t.Errorf("the account does not balance: %+v", s)
		}
		if s.Paused != nil {
			t.Errorf("still paused: %v", s.Paused)
		}
	})
}

// Whatever the log does (refuse, fail, store without an answer), every acknowledged sample stands
// in the log once, blocks are numbered without gaps, and the account balances.
func TestNothingAcknowledgedIsLostWhateverTheLogDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		outcomes := rapid.SliceOfN(rapid.SampledFrom([]outcome{stored, stored, stored, stored, refusedAtOnce, failedLater, answerLost}), 0, 40).Draw(rt, "outcomes")
		cfg := recorder.Config{
			MaxAge: time.Millisecond, MaxSamples: rapid.IntRange(1, 20).Draw(rt, "block"),
			InFlight: rapid.IntRange(1, 5).Draw(rt, "flight"), Queue: rapid.IntRange(1, 4).Draw(rt, "queue"),
			Retry: 3 * time.Millisecond,
		}
		writers := rapid.IntRange(1, 6).Draw(rt, "writers")
		each := rapid.IntRange(1, 30).Draw(rt, "each")
		synctest.Test(t, func(t *testing.T) {
			i := 0
			log := &memoryLog{latency: 2 * time.Millisecond}
			log.script = func() outcome {
				if i++; i <= len(outcomes) {
					return outcomes[i-1]
				}
				return stored
			}
			r, stop := start(t, cfg, log)
			acknowledged := writeAll(t, r, writers, each)
			stop()
			checkAccount(t, r, log, acknowledged)
		})
	})
}

// writeAll lets writers record numbered samples, again after an error, and returns what was acknowledged.
func writeAll(t *testing.T, r *recorder.Recorder, writers, each int) map[float64]bool {
	var mu sync.Mutex
	acknowledged := map[float64]bool{}
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				v := float64(w*1000 + i)
				for attempt := 0; r.Record(t.Context(), []point.Sample{sampleOf(fmt.Sprint("w", w), v)}) != nil; attempt++ {
					if attempt > 1000 {
						t.Error("recording never goes on")
						return
					}
					time.Sleep(time.Millisecond) //nolint:forbidigo // virtual time
				}
				mu.Lock()
				acknowledged[v] = true
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return acknowledged
}

func checkAccount(t *testing.T, r *recorder.Recorder, log *memoryLog, acknowledged map[float64]bool) {
	t.Helper()
	inLog := map[float64]int{}
	n := uint64(0)
	for _, b := range log.blocks(t) {
		n += uint64(b.Len())
		for i := range b.Len() {
			v, _ := b.Value(i).Number()
			inLog[v]++
		}
	}
	for v := range acknowledged {
		if inLog[v] != 1 {
			t.Errorf("acknowledged sample %v stands in the log %d times", v, inLog[v])
		}
	}
	s := r.Stats()
	if s.Acknowledged != n || s.Pending != 0 || s.Produced != s.Acknowledged+s.Refused {
		t.Errorf("the account does not balance with %d samples in the log: %+v", n, s)
	}
}

func TestRunWritesWhatIsQueuedBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memoryLog{}
		r, stop := start(t, recorder.Config{MaxAge: time.Hour}, log)
		r.Offer([]point.Sample{sampleOf("a", 1)})
		stop()
		if got := len(log.blocks(t)); got != 1 {
			t.Errorf("the log holds %d blocks, want 1", got)
		}
		if err := r.Record(t.Context(), []point.Sample{sampleOf("a", 2)}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("Record after the end: %v, want unavailable", err)
		}
	})
}

func TestAWriterThatGivesUpLearnsThatTheOutcomeIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memoryLog{latency: time.Minute}
		r, stop := start(t, recorder.Config{}, log)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Record(ctx, []point.Sample{sampleOf("a", 1)}); !fault.Is(err, fault.Timeout) {
			t.Errorf("Record: %v, want a timeout", err)
		}
		time.Sleep(2 * time.Minute) //nolint:forbidigo // virtual time
		if s := r.Stats(); s.Acknowledged != 1 || s.Pending != 0 {
			t.Errorf("the sample went on without its writer: %+v", s)
		}
		stop()
	})
}

func BenchmarkRecord(b *testing.B) {
	log := &discardLog{}
	ctx, cancel := context.WithCancel(b.Context())
	r := recorder.New(recorder.Config{Origin: "node"}, log, recorder.Start{})
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	samples := make([]point.Sample, 10_000)
	for i := range samples {
		samples[i] = sampleOf(fmt.Sprintf("campus/building/device%d/point%d", i/18, i%18), float64(i%97)/10)
	}
	b.ReportAllocs()
	for b.Loop() {
		for !r.Offer(samples) {
			if err := r.Record(ctx, samples); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(samples))/b.Elapsed().Seconds()/1e6, "Msamples/s")
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// discardLog acknowledges at once: it measures the recorder alone.
type discardLog struct{ n uint64 }

func (l *discardLog) Append([]byte, uint64) (func(context.Context) error, error) {
	l.n++
	return func(context.Context) error { return nil }, nil
}
func (l *discardLog) Last(context.Context) ([]byte, uint64, error) { return nil, l.n, nil }

func (l *discardLog) Scan(context.Context, uint64, func(uint64, []byte) error) error { return nil }

func (l *discardLog) Recover(context.Context) error { return nil }

func TestAnInvalidPathLeavesTheOpenBlockAsItWas(t *testing.T) {
	log := &memoryLog{}
	r, stop := startAt(t, recorder.Config{MaxAge: time.Hour}, log)
	good := []point.Sample{sampleOf("a", 1), sampleOf("b", 2)}
	bad := []point.Sample{sampleOf("c", 3), sampleOf("a", 4), sampleOf("x\n", 5)}
	if r.Offer(bad) || !r.Offer(good) || r.Offer(bad) || !r.Offer(good[1:]) {
		t.Error("Offer took what it may not, or refused what it may")
	}
	stop()
	var got []string
	for _, blocks := range log.blocksOf(t) {
		for _, b := range blocks {
			got = append(got, fmt.Sprint(b.Points, b.Point))
		}
	}
	if diff := cmp.Diff([]string{"[a b] [0 1 1]"}, got); diff != "" {
		t.Error(diff)
	}
}
