package bus

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/wire"
)

const (
	// answerTime is how long a holder may take to show that it is there when a second one comes.
	answerTime = 3 * time.Second
	// doorTime is how long the second one waits for that at the door. The server sends a ping of its own to
	// whoever stands there for two seconds, which clients take for a refusal.
	doorTime = time.Second
)

// whySilent is why a holder is closed that does not.
const whySilent = "it was silent when another connection of the same name came"

// challenge closes the holder of a name if it is prompt by its permit, and silent in fact: its connection
// is half open then, since whoever vanishes without a word ends none. It returns when that is known, or
// after doorTime; the asking goes on then. Of many that challenge at once one asks.
func (g *guests) challenge(name string) {
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
	case <-time.After(doorTime):
	}
}

// question closes a holder that is silent.
func (g *guests) question(h *guest, name string) {
	silent := g.bus.silent(h, name)
	g.mu.Lock()
	asked := h.asked
	h.asked = nil
	if silent && h.closed == "" {
		h.closed = whySilent
	}
	g.mu.Unlock()
	defer close(asked)
	if silent {
		g.bus.cfg.Log.Info("bus connection is closed", slog.String("name", name), slog.String("why", whySilent))
		g.bus.disconnect([]uint64{h.id})
	}
}

// silent reports whether a holder neither answers a ping nor sends anything else meanwhile.
func (b *Bus) silent(h *guest, name string) bool {
	before, known := b.received(h.id)
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	_, err := b.askHeld(ctx, h, name, &nats.Msg{Subject: wire.PingSubject(name)})
	if !fault.Is(err, fault.Timeout) {
		return false // it answered, has left, or has only just come
	}
	after, still := b.received(h.id)
	return known && still && after == before
}

// received returns what came from a connection.
func (b *Bus) received(id uint64) (Traffic, bool) {
	c, err := b.srv.Connz(&server.ConnzOptions{CID: id})
	if err != nil || len(c.Conns) != 1 {
		return Traffic{}, false
	}
	return Traffic{c.Conns[0].InMsgs, c.Conns[0].InBytes}, true
}
