package stream

import (
	"context"
	"testing"
	"testing/synctest"

	"voltbus/api/answer"
)

// guarded is a ledger that is looked at when the gate lets somebody.
type guarded struct {
	gate  chan struct{}
	looks int
}

func (g *guarded) Ledger(ctx context.Context) (answer.Ledger, error) { return g.LedgerBelow(ctx) }

func (g *guarded) LedgerBelow(context.Context) (answer.Ledger, error) {
	<-g.gate
	g.looks++
	return answer.Ledger{State: "ok"}, nil
}

func TestReadersOfTheLedgerShareWhatIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch, of := newLedgerWatch(), &guarded{gate: make(chan struct{})}
		read := make(chan *books, 5)
		for range 5 {
			go func() {
				b, err := watch.look(t.Context(), of)
				if err != nil {
					t.Error(err)
				}
				read <- b
			}()
		}
		synctest.Wait()
		of.gate <- struct{}{}
		first := <-read
		for range 4 {
			if b := <-read; b != first || b == nil {
				t.Errorf("another reads %v, not %v", b, first)
			}
		}
		if of.looks != 1 {
			t.Errorf("five readers cost %d looks", of.looks)
		}
	})
}
