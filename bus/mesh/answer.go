package mesh

import (
	"context"
	"strings"
	"sync"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// answering is how many questions are answered at a time.
const answering = 256

// Answer answers what others ask this replica, several questions at a time, until ctx ends; then it waits for those in progress, and returns
// nil. What handle returns is the answer.
func (m *Mesh) Answer(ctx context.Context, what string, handle func(ctx context.Context, from string, data []byte) []byte) error {
	sub, err := m.cfg.Conn.SubscribeSync(subject(m.cfg.Self, what, "*"))
	if err == nil {
		err = sub.SetPendingLimits(-1, maxWaiting)
	}
	if err != nil {
		return fault.E("mesh.Answer", fault.Unavailable, what, trouble.Of(err))
	}
	defer func() { _ = sub.Unsubscribe() }()
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, answering)
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !sub.IsValid():
			return fault.E("mesh.Answer", fault.Unavailable, what, trouble.Of(err))
		case err != nil: // too many waited, and some were lost
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			_ = msg.Respond(handle(ctx, msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:], msg.Data)) // who asked may be gone
		})
	}
}
