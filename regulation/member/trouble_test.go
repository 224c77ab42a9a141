package member_test

import (
	"fmt"
	"testing"
	"time"
)

// The leader is killed at each moment of its period and of its term: while it waits, decides, has orders under way, has just taken over or hands over.
// It comes back at once, within the silence, or after it.
func TestTheLeaderIsKilledAtEachMoment(t *testing.T) {
	for _, away := range []time.Duration{tick, silence / 2, 2 * silence} {
		for moment := range 40 {
			t.Run(fmt.Sprintf("%ds, back after %s", moment, away), func(t *testing.T) {
				w := newWorld(t, 6, 4)
				w.loss, w.delay = 0.05, 2
				for range moment {
					w.step()
				}
				first := w.nodes[0].process.Leader()
				w.nodes[0].process = nil
				for range int(away / tick) {
					w.step()
				}
				w.start(w.nodes[0])
				w.loss, w.delay = 0, 0
				for range 5 * int(silence/tick) {
					w.step()
				}
				w.settled()
				if last := w.nodes[3].process.Leader(); last.Term < first.Term || last.Leader != w.nodes[0].address {
					t.Errorf("%v after %v", last, first)
				}
				w.obeyed, w.old = 0, 0
				for range 60 {
					w.step()
				}
				if w.obeyed == 0 || w.old > 0 {
					t.Errorf("%d orders obeyed, %d of an old leader", w.obeyed, w.old)
				}
				w.comfortable()
			})
		}
	}
}

// comfortable checks that no room has left the band of its unit by more than the lock-out explains.
func (w *world) comfortable() {
	w.t.Helper()
	for _, n := range w.nodes {
		for _, u := range n.units {
			if u.Temperature() < u.Low()-0.1 || u.Temperature() > u.High()+0.1 {
				w.t.Errorf("%s is at %.2f °C", u.Name(), u.Temperature())
			}
		}
	}
}

// For an hour nothing passes between the leader and one node. A third node hears both, so that they do not lead apart; the units of the node are
// not ordered, and keep their rooms by themselves.
func TestALinkThatLosesAllMessagesForAnHour(t *testing.T) {
	w := newWorld(t, 8, 3)
	for range 30 {
		w.step()
	}
	w.settled()
	before := w.nodes[1].process.Leader()
	w.deaf = map[[2]string]bool{{"10.0.0.1", "10.0.0.3"}: true, {"10.0.0.3", "10.0.0.1"}: true}
	for range int(time.Hour / tick) {
		w.step()
		w.comfortable()
	}
	if l := w.nodes[1].process.Leader(); l != before || w.nodes[2].process.Leads() || w.old > 0 {
		t.Errorf("%v leads after %v; the node without a link leads: %v; %d orders of an old leader", l, before, w.nodes[2].process.Leads(), w.old)
	}
	if st := w.nodes[0].process.Status(); st.Units-st.Silent != 6 {
		t.Errorf("the leader regulates %d units, and those behind the link are among them", st.Units-st.Silent)
	}
	w.deaf = nil
	for range 3 * int(silence/tick) {
		w.step()
	}
	w.settled()
	if st := w.nodes[0].process.Status(); st.Units != 9 || st.Silent != 0 {
		t.Errorf("%+v", st)
	}
}
