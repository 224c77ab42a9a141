package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/uplink/ledger"
	"voltbus/uplink/tree"
)

// clock is a time that a test moves while a book looks at it.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock(at time.Time) *clock {
	c := new(clock)
	c.at.Store(&at)
	return c
}

func (c *clock) now() time.Time { return *c.at.Load() }

func (c *clock) move(d time.Duration) {
	at := c.now().Add(d)
	c.at.Store(&at)
}

// hall is a node with children whose answers are calls of their books.
type hall struct {
	name     string
	own      answer.Ledger
	children map[string]*hall
	away     map[string]time.Time
	above    map[string]uint64
	now      *clock
	file     string
	*ledger.Book
}

func (h *hall) below() (list []tree.Node) {
	for name, c := range h.children {
		list = append(list, tree.Node{Name: name, Path: []string{name}, Away: h.away[name]})
		for _, n := range c.below() {
			n.Path = append([]string{name}, n.Path...)
			if !h.away[name].IsZero() {
				n.Away = h.away[name]
			}
			list = append(list, n)
		}
	}
	return list
}

func (h *hall) open() *hall {
	h.Book = ledger.New(ledger.Config{
		Name: h.name, Own: func(context.Context) (answer.Ledger, error) { return h.own, nil }, Stores: true,
		Above: func() map[string]uint64 { return h.above }, Below: h.below,
		Ask: func(ctx context.Context, child string, body []byte) ([]byte, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !h.away[child].IsZero() {
				return nil, fault.E("", fault.Unreachable, child, errors.New("gone"))
			}
			return h.children[child].Answer(ctx, body)
		},
		File: h.file, Log: slog.New(slog.DiscardHandler), Now: h.now.now,
	})
	return h
}

func origin(name string, own bool, acknowledged, stored uint64) answer.Origin {
	return answer.Origin{Origin: name, Own: own, Produced: acknowledged, Acknowledged: acknowledged, Stored: stored, Balanced: true}
}

// halls are region ◀ campus ◀ plant, where the plant has 1,000 samples and the region 900 of them.
func halls(t *testing.T) (region, campus, plant *hall) {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	plant = (&hall{name: "plant", now: newClock(now), own: answer.Ledger{State: "ok", Origins: []answer.Origin{origin("plant~a", true, 1000, 1000)}}, above: map[string]uint64{"plant~a": 950}}).open()
	campus = (&hall{name: "campus", now: newClock(now), children: map[string]*hall{"plant": plant}, away: map[string]time.Time{}, own: answer.Ledger{State: "ok", Origins: []answer.Origin{origin("campus~b", true, 0, 0), origin("plant~a", false, 950, 950)}}}).open()
	region = (&hall{name: "region", now: newClock(now), file: filepath.Join(t.TempDir(), "ledgers.json"), children: map[string]*hall{"campus": campus}, away: map[string]time.Time{}, own: answer.Ledger{State: "ok", Origins: []answer.Origin{origin("region~c", true, 234, 234), origin("plant~a", false, 900, 900)}}}).open()
	return region, campus, plant
}

func (h *hall) look(t *testing.T) answer.Ledger {
	t.Helper()
	h.now.move(time.Minute)
	out := h.own
	h.Complete(t.Context(), &out, true)
	return out
}

func TestTheLedgerOfASubtreeShowsEachOriginAtEachNode(t *testing.T) {
	region, campus, plant := halls(t)
	campus.now.move(time.Hour)
	plant.now.move(time.Hour)
	l := region.look(t)
	var got []string
	for _, n := range l.Nodes {
		got = append(got, strings.Join(n.Path, "/")+" "+n.State)
	}
	if strings.Join(got, ", ") != " here, campus current, campus/plant current" {
		t.Errorf("the nodes are %q", got)
	}
	if h := l.Nodes[2].Origins[0]; !h.Own || h.Acknowledged != 1000 || h.Above == nil || *h.Above != 950 {
		t.Errorf("the plant says %+v", h)
	}
	want := answer.LedgerSum{Nodes: 3, Origins: 3, Samples: 1234, Stored: 1134, Waiting: 100}
	if l.Sum != want {
		t.Errorf("the sum is %+v, want %+v", l.Sum, want)
	}
	if l.Sentence != "Nothing was lost of 1,234 samples of 3 nodes. 100 samples are still on the way." {
		t.Errorf("it says %q", l.Sentence)
	}
}

func TestWhatIsMissingIsSaidWithItsReason(t *testing.T) {
	region, _, _ := halls(t)
	o := &region.own.Origins[1]
	o.Stored, o.Missing, o.Left, o.Acknowledged = 880, 12, 8, 900
	region.own.Gaps = []answer.Gap{{Origin: "plant~a", First: 3, Last: 4, Samples: 12, Reason: "dropped"}}
	l := region.look(t)
	if want := "12 samples are missing of 1,234 samples of 3 nodes: 12 of plant~a, dropped by the bound of a log. 100 samples are still on the way. 8 samples were left out on the way, because nobody selected them."; l.Sentence != want {
		t.Errorf("it says %q, want %q", l.Sentence, want)
	}
	if s := l.Sum; s.Samples != s.Stored+s.Missing+s.Left+s.Waiting {
		t.Errorf("the sum does not add up: %+v", s)
	}
	region.own.Origins[0].Balanced = false
	if l = region.look(t); !strings.Contains(l.Sentence, "does not add up at region for region~c.") {
		t.Errorf("it says %q", l.Sentence)
	}
}

func TestWhatTheHistoryOverwroteIsSaid(t *testing.T) {
	region, _, _ := halls(t)
	region.own.Overwritten = 17
	l := region.look(t)
	if want := "Nothing is missing of 1,234 samples of 3 nodes. 17 samples were overwritten by another value with the same point and time. 100 samples are still on the way."; l.Sentence != want || l.Sum.Overwritten != 17 {
		t.Errorf("it says %q, want %q; the sum has %d", l.Sentence, want, l.Sum.Overwritten)
	}
}

func TestOfANodeThatIsAwayIsShownWhatItSaidLast(t *testing.T) {
	region, _, _ := halls(t)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- region.Run(ctx) }()
	for l := region.look(t); l.Nodes[1].State != "current" || l.Nodes[2].State != "current"; l = region.look(t) {
		if t.Context().Err() != nil {
			t.Fatal("the campus says nothing")
		}
	}
	end()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	region.away["campus"] = region.now.now()
	for _, what := range []string{"running", "after a start"} {
		l := region.look(t)
		for _, n := range l.Nodes[1:] {
			if n.State != "old" || !strings.HasPrefix(n.Reason, "not connected since") || n.AsOf.IsZero() || len(n.Origins) == 0 {
				t.Errorf("%s, %s is %+v", what, n.Node, n)
			}
		}
		if l.Sum.Old != 2 || !strings.Contains(l.Sentence, "campus (2026-03-01T12:00:00Z), plant (2026-03-01T12:00:00Z) do not answer and are counted as they said then.") {
			t.Errorf("%s: %+v, %q", what, l.Sum, l.Sentence)
		}
		region.open()
	}
	region.file = ""
	region.open()
	if l := region.look(t); l.Nodes[1].State != "silent" || !strings.HasSuffix(l.Sentence, "Nothing is known of campus, plant yet.") {
		t.Errorf("without anything said: %+v, %q", l.Nodes[1], l.Sentence)
	}
}

func TestWhoHangsUpMakesNoChildLookSilent(t *testing.T) {
	region, _, _ := halls(t)
	region.look(t)
	region.now.move(time.Minute)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	out := region.own
	region.Complete(gone, &out, true)
	out = region.own // at the same time, so that what was asked a moment ago is not asked again
	region.Complete(t.Context(), &out, true)
	if n := out.Nodes[1]; n.State != "current" || n.Reason != "" || !n.AsOf.After(region.now.now().Add(-time.Hour)) {
		t.Errorf("the campus is %s, %q, as of %s", n.State, n.Reason, n.AsOf)
	}
}

func TestAttackAChildThatTalksNonsenseIsShownAsSuch(t *testing.T) {
	region, campus, _ := halls(t)
	campus.own.Origins = make([]answer.Origin, 20_000)
	if l := region.look(t); l.Nodes[1].State != "silent" || !strings.Contains(l.Nodes[1].Reason, "cannot be read") {
		t.Errorf("the campus is %+v", l.Nodes[1])
	}
	body, err := campus.Answer(t.Context(), []byte("x"))
	if err != nil || !json.Valid(body) {
		t.Errorf("an answer to nonsense: %v", err)
	}
}
