package gate_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/store"
	"voltbus/point"
	"voltbus/wire"
)

// meters are m1 and m2, each with the channel 1.
type meters struct{}

func (meters) Knows(dst []bool, keys []store.ChannelKey) []bool {
	for _, k := range keys {
		dst = append(dst, (k.Meter == "m1" || k.Meter == "m2") && k.Channel == 1)
	}
	return dst
}

func (meters) ChannelOf(_ string, t meter.ReadingType) (int, bool) {
	if t[0] == 11 {
		return 1, true
	}
	return 0, false
}

// journal is a log that keeps its blocks.
type journal struct {
	mu     sync.Mutex
	blocks [][]byte
	full   bool
}

var errFull = errors.New("the disk is full")

func (j *journal) forward(_ context.Context, _ *point.Block, data []byte) (func(context.Context) error, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return nil, errFull
	}
	j.blocks = append(j.blocks, data)
	return func(context.Context) error { return nil }, nil
}

// batch returns all readings of the log, and checks that the blocks are numbered without gaps.
func (j *journal) batch(t *testing.T, start gate.Position) *store.Batch {
	t.Helper()
	var d wire.Decoder
	out := &store.Batch{}
	for _, data := range j.blocks {
		var b point.Block
		if err := d.DecodeBlock(data, &b); err != nil {
			t.Fatal(err)
		}
		if b.Origin != "n#" || b.Sequence != start.Sequence+1 || b.Before != start.Samples {
			t.Errorf("block %d of %s begins behind %d samples, want it behind %+v", b.Sequence, b.Origin, b.Before, start)
		}
		start = gate.Position{Sequence: b.Sequence, Samples: b.End()}
		if left := out.Take(&b, "n#", noon); left != 0 {
			t.Errorf("%d samples are no readings", left)
		}
	}
	if err := out.Check(); err != nil {
		t.Fatal(err)
	}
	return out
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(j *journal, start gate.Position) *gate.Gate {
	return gate.New(gate.Config{
		Origin: "n#", Start: start, Registry: meters{}, Forward: j.forward, Now: func() time.Time { return noon },
		Bounds: point.Bounds{Ahead: 5 * time.Minute, Past: 24 * time.Hour},
	})
}

func TestReadingsThatCannotBeAreRefusedWithTheReason(t *testing.T) {
	j := &journal{}
	good := meter.Reading{Meter: "m1", Channel: 1, End: noon, Value: 1}
	with := func(change func(*meter.Reading)) meter.Reading {
		r := good
		change(&r)
		return r
	}
	list := []meter.Reading{
		good,
		with(func(r *meter.Reading) { r.Meter = "" }),
		with(func(r *meter.Reading) { r.Meter = "m9" }),
		with(func(r *meter.Reading) { r.Channel = 2 }),
		with(func(r *meter.Reading) { r.Channel, r.Type = 0, meter.ReadingType{11} }),
		with(func(r *meter.Reading) { r.Channel = 0 }),
		with(func(r *meter.Reading) { r.Value = math.NaN() }),
		with(func(r *meter.Reading) { r.End = time.Time{} }),
		with(func(r *meter.Reading) { r.End = noon.Add(time.Hour) }),
		with(func(r *meter.Reading) { r.End = time.Unix(0, 0) }),
		with(func(r *meter.Reading) { r.End = noon.Add(-time.Microsecond) }),
	}
	got, err := open(j, gate.Position{}).Take(t.Context(), "token:c1", "", list)
	want := []string{"meter: missing", "registered", "registered", "registered", "finite", "end: missing", "future", "older", "milliseconds"}
	if err != nil || got.Accepted != 2 || len(got.Refused) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i, w := range want {
		if !strings.Contains(got.Refused[i].Reason, w) {
			t.Errorf("refusal %d says %q, want something of %q", i, got.Refused[i].Reason, w)
		}
	}
}

func TestAClockThatWasNeverSetIsNotBelievedWhereNothingBoundsThePast(t *testing.T) {
	j := &journal{}
	g := gate.New(gate.Config{Origin: "n#", Registry: meters{}, Forward: j.forward, Now: func() time.Time { return noon }})
	got, err := g.Take(t.Context(), "token:c1", "", []meter.Reading{
		{Meter: "m1", Channel: 1, End: time.Unix(900, 0), Value: 1}, {Meter: "m1", Channel: 1, End: noon.AddDate(-20, 0, 0), Value: 1},
	})
	if err != nil || got.Accepted != 1 || len(got.Refused) != 1 || got.Refused[0].Index != 0 || !strings.Contains(got.Refused[0].Reason, "clock of the meter") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestATokenForOneMeterRecordsNoOther(t *testing.T) {
	j := &journal{}
	got, err := open(j, gate.Position{}).Take(t.Context(), "token:m1", "meters/m1", []meter.Reading{
		{Meter: "m1", Channel: 1, End: noon, Value: 1}, {Meter: "m2", Channel: 1, End: noon, Value: 1},
	})
	if err != nil || got.Accepted != 1 || len(got.Refused) != 1 || got.Refused[0].Index != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestManySendersShareBlocksWhoseNumbersGoOn(t *testing.T) {
	j, start := &journal{}, gate.Position{Sequence: 7, Samples: 70}
	g := open(j, start)
	const senders, readings = 20, 1500
	var group sync.WaitGroup
	for s := range senders {
		group.Go(func() {
			var list []meter.Reading
			for i := range readings {
				list = append(list, meter.Reading{Meter: "m1", Channel: 1, End: noon.Add(-time.Duration(i) * time.Second), Value: float64(s)})
			}
			if got, err := g.Take(t.Context(), "token:"+string(rune('a'+s)), "", list); err != nil || got.Accepted != readings {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	group.Wait()
	b := j.batch(t, start)
	if b.Len() != senders*readings {
		t.Fatalf("the log has %d readings", b.Len())
	}
	for i := range b.Len() {
		if want := "token:" + string(rune('a'+int(b.Value[i]))); b.Senders[b.Sender[i]] != want {
			t.Fatalf("reading %d is of %s, want %s", i, b.Senders[b.Sender[i]], want)
		}
	}
}

func TestNumbersThatTheLogDidNotTakeAreUsedAgain(t *testing.T) {
	j := &journal{full: true}
	g := open(j, gate.Position{})
	list := []meter.Reading{{Meter: "m1", Channel: 1, End: noon, Value: 1}}
	if _, err := g.Take(t.Context(), "x", "", list); !errors.Is(err, errFull) {
		t.Fatalf("got %v", err)
	}
	j.full = false
	if _, err := g.Take(t.Context(), "x", "", list); err != nil {
		t.Fatal(err)
	}
	if b := j.batch(t, gate.Position{}); b.Len() != 1 {
		t.Errorf("the log has %d readings", b.Len())
	}
}

func TestWhoComesWhileOthersAreWrittenIsSentWithAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		disk := make(chan struct{})
		g := gate.New(gate.Config{Origin: "n#", Registry: meters{}, Now: func() time.Time { return noon }, Forward: func(ctx context.Context, b *point.Block, data []byte) (func(context.Context) error, error) {
			if _, err := j.forward(ctx, b, data); err != nil {
				return nil, err
			}
			return func(context.Context) error { <-disk; return nil }, nil
		}})
		var all sync.WaitGroup
		take := func() {
			done, err := g.Take(t.Context(), "c", "", []meter.Reading{{Meter: "m1", Channel: 1, End: noon, Value: 1}})
			if err != nil || done.Accepted != 1 {
				t.Errorf("%+v, %v", done, err)
			}
		}
		for range 50 {
			all.Go(take)
			synctest.Wait()
		}
		if len(j.blocks) != 2 {
			t.Errorf("%d blocks are on their way to the disk, want 2", len(j.blocks))
		}
		close(disk)
		all.Wait()
		if got := j.batch(t, gate.Position{}).Len(); got != 50 || len(j.blocks) != 3 {
			t.Errorf("%d readings in %d blocks, want 50 in 3", got, len(j.blocks))
		}
	})
}
