package enrol

import (
	"context"
	"time"
)

// Intervals of asking whether this node has been approved.
const (
	askTimeout   = 20 * time.Second
	shortPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
)

// Run asks the parent, as long as this node is pending, whether it has been approved, until ctx ends. The
// parent keeps a connection until then, so that the answer comes at once. A node whose key came in a bundle
// replaces it as soon as it is connected. report is called with failures, once for each reason.
func (p *Parent) Run(ctx context.Context, dial Dial, report func(error)) error {
	pause, last := shortPause, ""
	for ctx.Err() == nil {
		changed := p.Changed()
		m, member := p.Current()
		if !member || (m.State != Pending && !m.Bundled) {
			pause, last = shortPause, ""
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		step := p.check
		if m.State != Pending {
			step = p.unbundle
		}
		wait, end, err := step(ctx, dial)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			report(err)
		}
		if wait != nil {
			pause = shortPause
			select {
			case <-ctx.Done():
			case <-wait:
			case <-p.Changed(): // for example on leaving
			}
		}
		end()
		if err != nil {
			sleep(ctx, pause)
			pause = min(2*pause, longestPause)
		}
	}
	return nil
}

// unbundle replaces the key of the bundle by one of this node's own, if there is a connection. wait is closed
// when there is one.
func (p *Parent) unbundle(ctx context.Context, dial Dial) (wait <-chan struct{}, end func(), err error) {
	there, arrived := p.Connection.state()
	if !there {
		return arrived, func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err = p.Rotate(ctx, dial)
	return nil, func() {}, err
}

func (p *Parent) check(ctx context.Context, dial Dial) (<-chan struct{}, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return p.Check(ctx, dial)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
