package bus

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/wire"
)

const (
	// answerTime is how long a holder may take to show that it is there when a second one comes.
	answerTime = 3 * time.Second
	// doorTime is how long the second one waits for that at the door, at most: a quarter of the time after which the
	// server sends it a ping, which clients that stand there take for a refusal. Another quarter may be goneWait.
	doorTime = time.Second
	// proofLife is how long a holder that answered is known to be there while it is asked once more: of one that is
	// slower than doorTime each second one would hear that nothing is known yet.
	proofLife = 10 * time.Second
)

// whySilent is why a holder is closed that does not.
const whySilent = "it was silent when another connection of the same name came"

// challenge closes the holder of a name if it is prompt by its permit, and silent in fact: its connection
// is half open then, since a peer that vanishes silently does not close it. It returns when that is known, or
// after doorTime; the asking goes on then. Of many that challenge at once one asks.
func (g *connections) challenge(name string) {
	g.mu.Lock()
	h := g.holder(name)
	if h == nil || !h.permit.Prompt {
		g.mu.Unlock()
		return
	}
	if h.asked == nil {
		h.asked = make(chan struct{})
		go g.question(h, name)
	}
	asked := h.asked
	g.mu.Unlock()
	select {
	case <-asked:
	case <-time.After(min(doorTime, g.cfg.pingEvery()/4)):
	}
}

// question closes a holder that is silent.
func (g *connections) question(h *connection, name string) {
	silent := g.silent(h, name)
	g.mu.Lock()
	asked := h.asked
	h.asked = nil
	switch {
	case !silent:
		h.proved = time.Now()
	case h.closed == "":
		h.closed = whySilent
	}
	g.mu.Unlock()
	defer close(asked)
	if silent {
		g.cfg.Log.Info("bus connection is closed", slog.String("name", name), slog.String("why", whySilent))
		g.disconnect([]uint64{h.id})
	}
}

// silent reports whether a holder neither answers a ping nor sends anything else meanwhile. One whose way was cut
// before it said where it listens is asked as long as one that listens.
func (g *connections) silent(h *connection, name string) bool {
	before, known := g.received(h.id)
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	for {
		_, err := g.requester.askHeld(ctx, h, name, &nats.Msg{Subject: wire.PingSubject(name)})
		switch {
		case fault.Is(err, fault.Timeout):
			after, still := g.received(h.id)
			return known && still && after == before
		case !errors.Is(err, errAbsent) || g.listens(h.id, name):
			return false // it answered or has left, or it is of a version that hears no pings
		}
		select {
		case <-ctx.Done():
		case <-time.After(holdEvery):
		}
	}
}
