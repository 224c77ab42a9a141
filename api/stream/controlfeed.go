package stream

import (
	"context"
	"sync"

	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// withControl adds events of control to the live messages of a selection.
func (s *Streams) withControl(sel wire.Selection, live source) source {
	return func(f *feed) (func(), error) {
		watcher := s.Control.Watch() // before the messages, so that no event is missed in between
		stopLive, err := live(f)
		if err != nil {
			watcher.Close()
			return nil, err
		}
		ctx, cancel := context.WithCancel(context.Background())
		var watching sync.WaitGroup
		watching.Go(func() { f.fail(relayControl(ctx, watcher, f, sel.Selects)) })
		return func() {
			cancel()
			watcher.Close()
			watching.Wait()
			stopLive()
		}, nil
	}
}

// relayControl forwards events of control, and returns why it stopped.
func relayControl(ctx context.Context, watcher *access.Watcher, f *feed, selects func(point.Path) bool) error {
	for {
		events, open := watcher.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !open:
			return fault.E("api.stream", fault.Unavailable, "control", errStopping)
		case watcher.Dropped() > 0:
			return errSlow
		}
		list, err := controlOf(events, selects)
		if err != nil {
			return err
		}
		for _, e := range list {
			f.put("control", e)
		}
	}
}
