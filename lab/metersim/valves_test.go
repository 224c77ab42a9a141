package metersim

import (
	"testing"
	"testing/synctest"
	"time"

	"voltbus/meter/system"
)

func TestAMessageCountsForWhoeverKnowsItsReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newValves()
		passed := v.entered()
		sums := make(chan Valves, 1)
		go func() { sums <- v.take() }()
		synctest.Wait() // the reply was read, the node has not counted it yet
		later := v.entered()
		now := time.Now()
		passed(&system.Passage{Seen: now, Entered: now, Left: now, Sent: now, Readings: 3})
		if got := <-sums; got.Messages != 1 || got.Readings != 3 {
			t.Errorf("%+v, want one message of 3 readings, and not to wait for what came later", got)
		}
		later(&system.Passage{Seen: now}) // which the node broke off
		if got := v.take(); got.Messages != 0 {
			t.Errorf("a message without a reply counts: %+v", got)
		}
	})
}
