package ledger_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/uplink/ledger"
)

// hall is a node with the accounts of those below it.
type hall struct {
	own      answer.Ledger
	children []*hall
	name     string
	state    string
	above    map[string]uint64
	*ledger.Ledger
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (h *hall) below() (list []answer.LedgerNode) {
	for _, c := range h.children {
		n, _ := c.Here(context.Background()) // it does not fail
		n.Path, n.State = []string{c.name}, c.state
		list = append(list, n)
		for _, n := range c.below() {
			n.Path = append([]string{c.name}, n.Path...)
			list = append(list, n)
		}
	}
	return list
}

func (h *hall) open() *hall {
	h.state = "current"
	h.Ledger = ledger.New(ledger.Config{
		Name: h.name, Own: func(context.Context) (answer.Ledger, error) { return h.own, nil }, Stores: true,
		Above: func() map[string]uint64 { return h.above }, Below: h.below, Refresh: func(context.Context) {},
		Now: func() time.Time { return noon },
	})
	return h
}

func origin(name string, own bool, acknowledged, stored uint64) answer.Origin {
	return answer.Origin{Origin: name, Own: own, Produced: acknowledged, Acknowledged: acknowledged, Stored: stored, Balanced: true}
}

// halls are region ◀ campus ◀ plant, where the plant has 1,000 samples and the region 900 of them.
func halls(t *testing.T) (region, campus, plant *hall) {
	t.Helper()
	plant = (&hall{name: "plant", own: answer.Ledger{State: "ok", Origins: []answer.Origin{origin("plant~a", true, 1000, 1000)}}, above: map[string]uint64{"plant~a": 950}}).open()
	campus = (&hall{name: "campus", children: []*hall{plant}, own: answer.Ledger{State: "ok", Origins: []answer.Origin{origin("campus~b", true, 0, 0), origin("plant~a", false, 950, 950)}}}).open()
	region = (&hall{name: "region", children: []*hall{campus}, own: answer.Ledger{State: "ok", Origins: []answer.Origin{origin("region~c", true, 234, 234), origin("plant~a", false, 900, 900)}}}).open()
	return region, campus, plant
}

func (h *hall) look(t *testing.T) answer.Ledger {
	t.Helper()
	out := h.own
	h.Complete(t.Context(), &out, true)
	return out
}

func TestTheLedgerOfASubtreeShowsEachOriginAtEachNode(t *testing.T) {
	region, _, _ := halls(t)
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
	if want := "12 samples are missing of 1,234 samples of 3 nodes: 12 of plant~a, dropped by the bound of a log. 100 samples are still on the way. 8 samples were left out on the way, because nobody selected them or a rule withheld them."; l.Sentence != want {
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

func TestWhoseWordIsOldIsSaid(t *testing.T) {
	region, campus, plant := halls(t)
	campus.state, plant.state = "old", "old"
	l := region.look(t)
	if l.Sum.Old != 2 || !strings.Contains(l.Sentence, "campus (2026-03-01T12:00:00Z), plant (2026-03-01T12:00:00Z) do not answer and are counted as they said then.") {
		t.Errorf("%+v, %q", l.Sum, l.Sentence)
	}
	campus.state, plant.state = "silent", "silent"
	if l := region.look(t); !strings.HasSuffix(l.Sentence, "Nothing is known of campus, plant yet.") {
		t.Errorf("without anything said: %q", l.Sentence)
	}
}
