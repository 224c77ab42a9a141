package sink_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/sink"
	"voltbus/store"
	"voltbus/store/memory"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errAway = errors.New("away")

// memoryLog is a log in memory. A nil entry was dropped by the bound.
type memoryLog struct {
	id      string
	mu      sync.Mutex
	entries [][]byte
	grown   chan struct{}
}

func newLog(id string) *memoryLog { return &memoryLog{id: id, grown: make(chan struct{})} }

func (l *memoryLog) ID() string { return l.id }

func (l *memoryLog) Bounds(context.Context) (first, last uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first = 1
	for first <= uint64(len(l.entries)) && l.entries[first-1] == nil {
		first++
	}
	return first, uint64(len(l.entries)), nil
}

func (l *memoryLog) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for {
		l.mu.Lock()
		entries, grown := l.entries, l.grown
		l.mu.Unlock()
		for ; from <= uint64(len(entries)); from++ {
			if entries[from-1] == nil {
				continue
			}
			if err := deliver(from, entries[from-1]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}

// add appends blocks of an origin, of n samples each, with its next numbers.
func (l *memoryLog) add(t rapid.TB, origin string, first, count, n int) {
	t.Helper()
	var e wire.Encoder
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range count {
		sequence := first + i
		b := &point.Block{
			Origin: origin, Sequence: uint64(sequence), Before: uint64((sequence - 1) * n),
			Created: time.Unix(int64(sequence), 0), Points: []point.Path{point.Path(origin + "/p")},
		}
		for j := range n {
			v := (sequence-1)*n + j
			b.Append(0, &point.Sample{Time: time.Unix(int64(v), 0), Value: point.IntOf(int64(v))})
		}
		data, err := e.AppendBlock(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		l.entries = append(l.entries, data)
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

// moody is a store that is away for some of its calls.
type moody struct {
	*memory.Store
	mu   sync.Mutex
	away []bool
}

func (m *moody) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	m.mu.Lock()
	away := len(m.away) > 0 && m.away[0]
	if len(m.away) > 0 {
		m.away = m.away[1:]
	}
	m.mu.Unlock()
	if away {
		return store.Result{}, errAway
	}
	return m.Store.Append(ctx, blocks)
}

// running starts a sink; the function that it returns stops it and waits.
func running(t rapid.TB, log sink.Log, st sink.Store) (*sink.Sink, func()) {
	t.Helper()
	s := sink.New(sink.Config{Samples: 50}, log, st)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return s, func() {
		cancel()
		if err := <-done; err != nil {
			t.Fatalf("Run: %v", err)
		}
	}
}

// values reads the history of an origin's point.
func values(t rapid.TB, st store.Store, origin string) []int64 {
	t.Helper()
	var out []int64
	err := st.Read(context.Background(), store.Range{
		Points: []point.Path{point.Path(origin + "/p")}, From: time.Unix(0, 0), To: time.Unix(1<<40, 0),
	}, func(samples []point.Sample) error {
		for _, s := range samples {
			v, _ := s.Value.Int()
			out = append(out, v)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func checkRun(t rapid.TB, got []int64, n int) {
	t.Helper()
	if len(got) != n {
		t.Fatalf("%d samples are stored, want %d", len(got), n)
	}
	for i, v := range got {
		if v != int64(i) {
			t.Fatalf("sample %d is %d", i, v)
		}
	}
}

// However often the store is away and the sink stops, every sample is stored once.
func TestEveryBlockIsStoredOnceWhateverFails(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rounds := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 6).Draw(rt, "rounds")
		away := rapid.SliceOfN(rapid.Bool(), 0, 12).Draw(rt, "away")
		synctest.Test(t, func(t *testing.T) {
			log, st := newLog("log"), &moody{Store: memory.New(memory.Options{}), away: away}
			a, b := 0, 0
			for _, count := range rounds {
				s, stop := running(t, log, st)
				log.add(t, "a", a+1, count, 7)
				log.add(t, "b", b+1, 2*count, 3)
				a, b = a+count, b+2*count
				time.Sleep(20 * time.Second) //nolint:forbidigo // virtual time
				if got := s.Stats(); count > 0 && len(st.away) == 0 && got.Sequence != uint64(a+b) {
					t.Errorf("stored up to %d, want %d: %v", got.Sequence, a+b, got.Err)
				}
				stop()
			}
			st.away = nil
			_, stop := running(t, log, st)
			time.Sleep(20 * time.Second) //nolint:forbidigo // virtual time
			stop()
			checkRun(t, values(t, st, "a"), 7*a)
			checkRun(t, values(t, st, "b"), 3*b)
		})
	})
}

func TestWhoAsksIsToldOfBlocksWhenTheStoreHasThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, st := newLog("log"), &moody{Store: memory.New(memory.Options{}), away: []bool{true, true}}
		told := 0
		s := sink.New(sink.Config{Samples: 50, Stored: func(blocks []*point.Block) {
			for _, b := range blocks {
				told += b.Len()
			}
			checkRun(t, values(t, st, "a"), told)
		}}, log, st)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		log.add(t, "a", 1, 30, 5)
		time.Sleep(20 * time.Second) //nolint:forbidigo // virtual time
		cancel()
		if err := <-done; err != nil || told != 150 {
			t.Errorf("told of %d samples, want 150: %v", told, err)
		}
	})
}

// slow is a store that takes its time for a commit.
type slow struct {
	*memory.Store
	takes time.Duration
}

func (s *slow) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	time.Sleep(s.takes) //nolint:forbidigo // virtual time
	return s.Store.Append(ctx, blocks)
}

func TestAStoreGetsBlocksAsOftenAsItsCommitsAreFast(t *testing.T) {
	for name, tt := range map[string]struct{ takes, rest time.Duration }{
		"a fast one":       {0, 200 * time.Millisecond},
		"one of a disk":    {40 * time.Millisecond, 400 * time.Millisecond},
		"one that labours": {160 * time.Millisecond, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, st := newLog("log"), &slow{memory.New(memory.Options{}), tt.takes}
				_, stop := running(t, log, st)
				defer stop()
				log.add(t, "a", 1, 1, 5)
				time.Sleep(21*time.Millisecond + tt.takes) //nolint:forbidigo // virtual time
				checkRun(t, values(t, st, "a"), 5)         // after a quiet time at once
				log.add(t, "a", 2, 1, 5)
				time.Sleep(tt.rest - 10*time.Millisecond) //nolint:forbidigo // virtual time
				checkRun(t, values(t, st, "a"), 5)
				time.Sleep(20*time.Millisecond + tt.takes) //nolint:forbidigo // virtual time
				checkRun(t, values(t, st, "a"), 10)
			})
		})
	}
}

func TestAnotherLogIsReadFromItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := memory.New(memory.Options{})
		first := newLog("first")
		first.add(t, "a", 1, 10, 5)
		_, stop := running(t, first, st)
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		stop()
		second := newLog("second") // in the place of the first, which was lost
		second.add(t, "a", 11, 2, 5)
		_, stop = running(t, second, st)
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		stop()
		checkRun(t, values(t, st, "a"), 60)
	})
}

func TestWhatIsMissingIsCountedWithItsReason(t *testing.T) {
	for reason, spoil := range map[string]func(*memoryLog){
		"dropped": func(l *memoryLog) {
			for i := range 4 {
				l.entries[i] = nil
			}
		},
		"corrupt": func(l *memoryLog) {
			l.entries[1] = nil // the log's own damage: it has the entry no more
			for i := range 2 {
				l.entries[2+i] = append([]byte(nil), l.entries[2+i]...)
				l.entries[2+i][20] ^= 1
			}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			log, st := newLog("log"), memory.New(memory.Options{})
			log.add(t, "a", 1, 6, 5)
			spoil(log)
			s, stop := running(t, log, st)
			time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
			stop()
			stats := s.Stats()
			want := map[string]string{"dropped": "1–4 20 dropped", "corrupt": "2–4 15 corrupt"}[reason]
			if (reason == "dropped" && stats.Dropped != 4) || (reason == "corrupt" && stats.Corrupt != 3) {
				t.Errorf("%s: stats are %+v", reason, stats)
			}
			gaps, err := st.Gaps(context.Background(), 10)
			if err != nil || len(gaps) != 1 || fmt.Sprintf("%d–%d %d %s", gaps[0].First, gaps[0].Last, gaps[0].Samples, gaps[0].Reason) != want {
				t.Errorf("%s: gaps are %+v, %v", reason, gaps, err)
			}
		})
	}
}

// carry appends a block of an origin as a node does that passes blocks on.
func (l *memoryLog) carry(t rapid.TB, b *point.Block, samples ...int64) {
	t.Helper()
	b.Points = []point.Path{point.Path(b.Origin + "/p")}
	for _, v := range samples {
		b.Append(0, &point.Sample{Time: time.Unix(v, 0), Value: point.IntOf(v)})
	}
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	l.entries = append(l.entries, data)
}

func TestAReasonThatABlockBringsGoesBeforeTheLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, st := newLog("log"), memory.New(memory.Options{})
		log.add(t, "own", 1, 2, 5)
		log.carry(t, &point.Block{Origin: "child", Sequence: 2}, 0, 1)
		log.entries[1] = nil // is of another origin, and corrupt
		log.entries[0] = append([]byte(nil), log.entries[0]...)
		log.entries[0][20] ^= 1
		log.carry(t, &point.Block{Origin: "child", First: 9, Sequence: 12, Before: 40, Left: 3, Lost: "dropped"}, 40, 41)
		log.carry(t, &point.Block{Origin: "other", First: 4, Sequence: 5, Before: 7, Lost: "dropped"}, 7)
		log.add(t, "own", 3, 1, 5)
		_, stop := running(t, log, st)
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		stop()
		gaps, err := st.Gaps(context.Background(), 10)
		got := map[string]string{}
		for _, g := range gaps {
			got[fmt.Sprint(g.Origin, " ", g.First)] = fmt.Sprintf("–%d %d %s", g.Last, g.Samples, g.Reason)
		}
		want := map[string]string{"child 1": "–1 0 corrupt", "child 3": "–8 38 dropped", "other 1": "–3 7 dropped", "own 1": "–2 10 corrupt"}
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("the gaps: %s, %v", diff, err)
		}
		all, err := st.Positions(context.Background())
		if p := all["child"]; err != nil || p.Sequence != 12 || p.Samples != 45 || p.Stored != 4 || p.Left != 3 || p.Missing != 38 {
			t.Errorf("the position is %+v, %v", p, err)
		}
	})
}

// A block that no store can keep must not stop those behind it.
func TestABlockThatNoStoreCanKeepIsSkippedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, st := newLog("log"), memory.New(memory.Options{})
		log.add(t, "a", 1, 2, 5)
		var e wire.Encoder
		bad := &point.Block{Origin: "a", Sequence: 3, Before: 10, Points: []point.Path{"control\x01character"}}
		bad.Append(0, &point.Sample{Time: time.Unix(1, 0)})
		data, err := e.AppendBlock(nil, bad)
		if err != nil {
			t.Fatal(err)
		}
		log.entries = append(log.entries, data)
		log.add(t, "a", 4, 2, 5)
		s, stop := running(t, log, st)
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		stop()
		if stats := s.Stats(); stats.Samples != 20 || stats.Corrupt != 1 || stats.Sequence != 5 {
			t.Errorf("stats are %+v", stats)
		}
		gaps, err := st.Gaps(context.Background(), 10)
		if err != nil || len(gaps) != 1 || gaps[0].First != 3 || gaps[0].Reason != "corrupt" {
			t.Errorf("gaps are %+v, %v", gaps, err)
		}
	})
}
