package stream

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/exchange"
	"voltbus/identity"
	"voltbus/operation"
)

// hasty is another node that answers at once, and has nothing to say.
type hasty struct{ asked atomic.Int64 }

func (*hasty) Self(string) bool { return false }

func (*hasty) Role(string) identity.Role { return identity.Viewer }

func (h *hasty) Ask(ctx context.Context, _ *operation.Caller, _ exchange.RemoteCall) (json.RawMessage, error) {
	if h.asked.Add(1) > 1000 {
		return nil, errors.New("is asked without end")
	}
	return json.RawMessage(`{"cursor":"a.0","messages":[]}`), ctx.Err()
}

func TestANodeThatDoesNotWaitIsNotAskedWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hasty{}
		e := farEar{far: h, node: "plant", pattern: "**"}
		f := &feed{most: 1 << 20, readers: map[*listener]struct{}{}, news: make(chan struct{})}
		stop := e.open(t.Context(), f)
		<-time.After(10 * time.Second)
		stop()
		if n := h.asked.Load(); n < 2 || n > 12 {
			t.Errorf("in ten seconds it was asked %d times", n)
		}
	})
}
