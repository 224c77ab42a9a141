package recorder_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/wire"
)

// child makes the blocks of another node's origin.
type child struct {
	origin   string
	sequence uint64
	samples  uint64
}

// next makes a block that stands for run blocks, of which left samples were left out.
func (c *child) next(t testing.TB, run, left uint64, samples int) (*point.Block, []byte) {
	t.Helper()
	b := &point.Block{
		Origin: c.origin, First: c.sequence + 1, Sequence: c.sequence + run, Before: c.samples, Left: left,
		Points: []point.Path{point.Path(c.origin)},
	}
	for i := range samples {
		b.Append(0, &point.Sample{Time: time.Unix(int64(c.samples)+int64(i), 0), Value: point.IntOf(int64(i))})
	}
	c.sequence, c.samples = b.Sequence, b.End()
	data, err := new(wire.Encoder).AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	return b, data
}

// startAt is start behind what the log holds.
func startAt(t testing.TB, cfg recorder.Config, log *memoryLog) (*recorder.Recorder, func()) {
	t.Helper()
	cfg.Origin = "node"
	begin, err := recorder.FindStart(t.Context(), log, 1, nil, cfg.Origin)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, recorder.New(cfg, log, begin))
}

func TestABlockOfAnotherOriginStandsInTheLogAsItCame(t *testing.T) {
	log := &memoryLog{}
	r, stop := startAt(t, recorder.Config{}, log)
	c := child{origin: "child~000000"}
	var want [][]byte
	for i := range 5 {
		b, data := c.next(t, uint64(i+1), uint64(i), 3)
		want = append(want, slices.Clone(data))
		for range 2 { // a repeat is answered, not appended
			wait, err := r.Forward(t.Context(), b, data)
			if err != nil {
				t.Fatal(err)
			}
			if err := wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(want, log.entries); diff != "" {
		t.Errorf("the log differs: %s", diff)
	}
	if got := r.Others(); got["child~000000"] != (recorder.Position{Sequence: 15, Samples: 25}) || len(got) != 1 {
		t.Errorf("it says %+v", got)
	}
	if s := r.Stats(); s.Produced+s.Acknowledged+s.Sequence != 0 {
		t.Errorf("it counts them as its own: %+v", s)
	}
	stop()
	again, stop := startAt(t, recorder.Config{}, log)
	defer stop()
	c = child{origin: "child~000000", sequence: 10, samples: 19}
	b, data := c.next(t, 5, 4, 3)
	wait, err := again.Forward(t.Context(), b, data)
	if err != nil || wait(t.Context()) != nil || len(log.entries) != 5 {
		t.Errorf("a repeat after a new start: %v, %d entries", err, len(log.entries))
	}
}

func TestForwardRefusesWhatMustNotStandInTheLog(t *testing.T) {
	r, stop := startAt(t, recorder.Config{Urgent: []point.Pattern{"**/alarm"}}, &memoryLog{})
	defer stop()
	for name, tt := range map[string]struct {
		block point.Block
		size  int
		kind  fault.Kind
	}{
		"no origin":            {point.Block{Sequence: 1}, 10, fault.Invalid},
		"no sequence":          {point.Block{Origin: "c"}, 10, fault.Invalid},
		"first above sequence": {point.Block{Origin: "c", Sequence: 1, First: 2}, 10, fault.Invalid},
		"too large":            {point.Block{Origin: "c", Sequence: 1}, recorder.MaxForward + 1, fault.Invalid},
		"the own origin":       {point.Block{Origin: "node", Sequence: 1}, 10, fault.Conflict},
		"the own urgent lane":  {point.Block{Origin: "node!", Sequence: 1}, 10, fault.Conflict},
	} {
		if _, err := r.Forward(t.Context(), &tt.block, make([]byte, tt.size)); !fault.Is(err, tt.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForwardWaitsForAPlaceAndLearnsOfAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memoryLog{latency: time.Minute}
		r, stop := startAt(t, recorder.Config{InFlight: 1, Retry: time.Hour}, log)
		c := child{origin: "child"}
		accepted := 0
		for ; ; accepted++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			b, data := c.next(t, 1, 0, 1)
			_, err := r.Forward(ctx, b, data)
			cancel()
			if err != nil {
				if !fault.Is(err, fault.Timeout) {
					t.Errorf("the full queue gives %v", err)
				}
				break
			}
		}
		if !r.Offer([]point.Sample{sampleOf("own", 1)}) {
			t.Error("foreign blocks took the place of own samples")
		}
		log.mu.Lock()
		log.script = func() outcome { return failedLater }
		log.mu.Unlock()
		late := child{origin: "late"}
		b, data := late.next(t, 1, 0, 1)
		for {
			if _, err := r.Forward(t.Context(), b, data); err != nil {
				if !fault.Is(err, fault.Unavailable) {
					t.Errorf("the pause gives %v", err)
				}
				break
			}
			b, data = late.next(t, 1, 0, 1)
		}
		stop()
		if accepted < 2 || accepted > 20 {
			t.Errorf("%d blocks were accepted beyond the one on its way", accepted)
		}
	})
}

func TestUrgentPointsAreRecordedUnderAnOriginOfTheirOwn(t *testing.T) {
	log := &memoryLog{}
	r, stop := startAt(t, recorder.Config{MaxSamples: 4, Urgent: []point.Pattern{"**/alarm", "door/**"}}, log)
	var mixed []point.Sample
	for i := range 10 {
		mixed = append(mixed, sampleOf("hall/temp", float64(i)), sampleOf("hall/alarm", float64(i)), sampleOf("door/1/open", float64(i)))
	}
	for range 2 { // the second time all paths are known
		if err := r.Record(t.Context(), mixed); err != nil {
			t.Fatal(err)
		}
	}
	if !r.Offer(mixed[1:2]) || !r.Offer(mixed[:1]) {
		t.Error("Offer refused")
	}
	stop()
	got := map[string]string{}
	for origin, blocks := range log.blocksOf(t) {
		for _, b := range blocks {
			for i := range b.Len() {
				v, _ := b.Value(i).Number()
				got[origin+" "+string(b.Points[b.Point[i]])] += fmt.Sprint(v)
			}
		}
	}
	want := map[string]string{
		"node hall/temp": "012345678901234567890", "node! hall/alarm": "012345678901234567890", "node! door/1/open": "01234567890123456789",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	lanes := r.Lanes()
	if len(lanes) != 2 || lanes[0].Origin != "node" || lanes[0].Acknowledged != 21 || lanes[1].Origin != "node!" || lanes[1].Acknowledged != 41 {
		t.Errorf("the lanes are %+v", lanes)
	}
	again, stop := startAt(t, recorder.Config{}, log) // which has no urgent points any more
	stop()
	if diff := cmp.Diff(lanes, again.Lanes()); diff != "" {
		t.Errorf("after a new start: %s", diff)
	}
}

func TestOwnNumbersStayInTheLogHoweverMuchOthersWrite(t *testing.T) {
	log := &memoryLog{}
	r, stop := startAt(t, recorder.Config{Anchor: 2000}, log)
	c := child{origin: "child"}
	for i := range 100 {
		if i == 10 {
			if err := r.Record(t.Context(), []point.Sample{sampleOf("p", 1)}); err != nil {
				t.Fatal(err)
			}
		}
		b, data := c.next(t, 1, 0, 5)
		wait, err := r.Forward(t.Context(), b, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	whole := log.blocks(t)
	if len(whole) < 3 || len(whole) > 10 {
		t.Fatalf("%d own blocks for one sample", len(whole))
	}
	for i := range len(log.entries) - 40 { // the bound drops the oldest
		log.entries[i] = nil
	}
	begin, err := recorder.FindStart(t.Context(), log, 1, nil, "node")
	if want := (recorder.Position{Sequence: whole[len(whole)-1].Sequence, Samples: 1}); err != nil || begin.Own != want {
		t.Errorf("the start is %+v, %v; want %+v", begin.Own, err, want)
	}
}

func TestASurveyFindsTheLastBlockOfEachOriginAndUsesNoNumberTwice(t *testing.T) {
	log := &memoryLog{}
	own, urgent, other := child{origin: "node"}, child{origin: "node!"}, child{origin: "other"}
	add := func(c *child, run uint64) {
		_, data := c.next(t, run, 1, 2)
		log.entries = append(log.entries, data)
	}
	add(&own, 1)
	add(&other, 3)
	add(&own, 1)
	add(&urgent, 1)
	log.entries = append(log.entries, []byte("damaged"), nil)
	add(&other, 2)
	log.entries = append(log.entries, []byte("damaged"))
	known := map[string]recorder.Position{"other": {Sequence: 2, Samples: 1}, "gone": {Sequence: 9, Samples: 90}, "node": {Sequence: 1, Samples: 3}}
	before := map[string]recorder.Position{"other": {Sequence: 2, Samples: 1}, "gone": {Sequence: 9, Samples: 90}, "node": {Sequence: 1, Samples: 3}}
	found, err := recorder.Survey(t.Context(), log, 2, known)
	want := map[string]recorder.Position{
		"node": {Sequence: 2, Samples: 6}, "node!": {Sequence: 1, Samples: 3}, "other": {Sequence: 5, Samples: 6}, "gone": {Sequence: 9, Samples: 90},
	}
	if diff := cmp.Diff(want, found); err != nil || diff != "" {
		t.Errorf("found (-want +got): %s, %v", diff, err)
	}
	if diff := cmp.Diff(before, known); diff != "" {
		t.Errorf("what was known was changed: %s", diff)
	}
	begin, err := recorder.FindStart(t.Context(), log, 2, known, "node")
	wantStart := recorder.Start{
		Own: recorder.Position{Sequence: 5, Samples: 6}, Urgent: recorder.Position{Sequence: 4, Samples: 3},
		Others: map[string]recorder.Position{"other": {Sequence: 5, Samples: 6}, "gone": {Sequence: 9, Samples: 90}},
	}
	if diff := cmp.Diff(wantStart, begin); err != nil || diff != "" {
		t.Errorf("the start (-want +got): %s, %v", diff, err)
	}
}

// Whatever the log does, and whenever the node starts anew: what was acknowledged stands in the log
// once, own samples and blocks of others alike, and each origin in its order.
func TestNothingOfAnyOriginIsLostOrRepeatedOverFailuresAndRestarts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		outcomes := rapid.SliceOfN(rapid.SampledFrom([]outcome{stored, stored, stored, stored, refusedAtOnce, failedLater, answerLost, answerLate}), 0, 60).Draw(rt, "outcomes")
		cfg := recorder.Config{
			MaxAge: time.Millisecond, MaxSamples: rapid.IntRange(1, 20).Draw(rt, "block"),
			InFlight: rapid.IntRange(1, 5).Draw(rt, "flight"), Queue: rapid.IntRange(1, 4).Draw(rt, "queue"),
			Anchor: rapid.SampledFrom([]int{200, 1 << 20}).Draw(rt, "anchor"), Retry: 3 * time.Millisecond,
			Urgent: []point.Pattern{"w0"},
		}
		lives := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 4).Draw(rt, "milliseconds of lives")
		children := rapid.IntRange(0, 3).Draw(rt, "children")
		writers := rapid.IntRange(1, 4).Draw(rt, "writers")
		cfg.MarkEvery = rapid.SampledFrom([]int{1, 100, 1000}).Draw(rt, "bytes between marks")
		back := rapid.SliceOfN(rapid.IntRange(0, 6), len(lives), len(lives)).Draw(rt, "marks back")
		synctest.Test(t, func(t *testing.T) {
			h := &histories{log: &memoryLog{latency: 2 * time.Millisecond}, cfg: cfg, acknowledged: map[string]bool{}}
			i := 0
			h.log.script = func() outcome {
				if i++; i <= len(outcomes) {
					return outcomes[i-1]
				}
				return stored
			}
			for life, ms := range lives {
				h.back = back[life]
				h.live(t, fmt.Sprint(life), time.Duration(ms)*time.Millisecond, writers, children)
			}
			h.check(t, children)
		})
	})
}

// histories are several lives of a recorder on one log.
type histories struct {
	log *memoryLog
	cfg recorder.Config

	marks []recorder.Mark // in the order in which they were made
	back  int             // how many marks the next life does not know of; it knows none if there are fewer

	mu           sync.Mutex
	acknowledged map[string]bool // own samples as "lane value"
	forwarded    [3]child        // what of each child was acknowledged
}

func (h *histories) live(t *testing.T, life string, length time.Duration, writers, children int) {
	h.log.mu.Lock()
	h.log.broken = false // as the log of a node that starts
	h.log.mu.Unlock()
	r, stop := h.start(t)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() { h.write(ctx, r, w, life) })
	}
	for c := range children {
		group.Go(func() { h.forward(ctx, t, r, c) })
	}
	time.Sleep(length) //nolint:forbidigo // virtual time
	stop()
	cancel()
	group.Wait()
}

// start starts a recorder at one of the last marks, as after a kill, and checks that the log alone
// would have it start there, too.
func (h *histories) start(t *testing.T) (*recorder.Recorder, func()) {
	t.Helper()
	cfg := h.cfg
	cfg.Origin = "node"
	cfg.Mark = func(m recorder.Mark) error {
		m.Log = "log"
		h.marks = append(h.marks, m)
		return nil
	}
	var mark recorder.Mark
	if n := len(h.marks); n > h.back {
		mark = h.marks[n-1-h.back]
	}
	begin, err := recorder.Resume(t.Context(), h.log, "log", mark, "node")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := recorder.FindStart(t.Context(), h.log, 1, nil, "node")
	if diff := cmp.Diff(whole, begin, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Fatalf("from the mark at %d (-whole log +mark): %s, %v", mark.Sequence, diff, err)
	}
	return run(t, recorder.New(cfg, h.log, begin))
}

// write records samples until the recorder ends.
func (h *histories) write(ctx context.Context, r *recorder.Recorder, w int, life string) {
	for i := 0; ctx.Err() == nil; i++ {
		s := point.Sample{Point: point.Path(fmt.Sprint("w", w)), Value: point.TextOf(fmt.Sprint(life, " ", i))}
		if r.Record(ctx, []point.Sample{s}) == nil {
			h.mu.Lock()
			h.acknowledged[fmt.Sprint(s.Point, " ", s.Value.Text())] = true
			h.mu.Unlock()
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // virtual time
	}
}

// forward passes blocks on as a receiver does: it goes on where the recorder says, keeps some on their
// way, and begins anew after an error.
func (h *histories) forward(ctx context.Context, t *testing.T, r *recorder.Recorder, number int) {
	for ctx.Err() == nil {
		origin := fmt.Sprint("child", number)
		at := r.Others()[origin]
		c := child{origin, at.Sequence, at.Samples}
		for range 3 {
			b, data := c.next(t, 1+c.sequence%3, c.sequence%2, int(c.sequence%4))
			wait, err := r.Forward(ctx, b, data)
			if err != nil {
				break
			}
			if c.sequence%5 == 0 {
				continue
			}
			if wait(ctx) != nil {
				break
			}
			h.mu.Lock()
			h.forwarded[number] = c
			h.mu.Unlock()
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // virtual time
	}
}

func (h *histories) check(t *testing.T, children int) {
	t.Helper()
	all := h.log.blocksOf(t) // which checks order, gaps and repeats
	times := map[string]int{}
	for _, origin := range []string{"node", "node!"} {
		for _, b := range all[origin] {
			for i := range b.Len() {
				path := b.Points[b.Point[i]]
				if (path == "w0") != (origin == "node!") {
					t.Errorf("%s is recorded under %s", path, origin)
				}
				times[fmt.Sprint(path, " ", b.Value(i).Text())]++
			}
		}
	}
	for key := range h.acknowledged {
		if times[key] != 1 {
			t.Errorf("acknowledged sample %q stands in the log %d times", key, times[key])
		}
	}
	for i := range children {
		c := h.forwarded[i]
		blocks := all[fmt.Sprint("child", i)]
		if c.sequence > 0 && (len(blocks) == 0 || blocks[len(blocks)-1].Sequence < c.sequence) {
			t.Errorf("of %s blocks up to %d were acknowledged; the log has %d blocks", c.origin, c.sequence, len(blocks))
		}
	}
}
