package enrol

import (
	"context"
	"time"
)

// The rhythm of asking whether somebody approved this node.
const (
	askTimeout   = 20 * time.Second
	shortPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
)

// Run asks the parent, as long as this node waits for approval, whether somebody approved it, until ctx
// ends. The parent keeps a connection until then, so that the answer comes at once. report is told what
// goes wrong, once for each reason.
func (p *Parent) Run(ctx context.Context, dial Dial, report func(error)) error {
	pause, last := shortPause, ""
	for ctx.Err() == nil {
		changed := p.Changed()
		if m, member := p.Current(); !member || m.State != Pending {
			pause, last = shortPause, ""
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		wait, end, err := p.check(ctx, dial)
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			report(err)
		}
		if wait != nil {
			pause = shortPause
			select {
			case <-ctx.Done():
			case <-wait:
			case <-p.Changed(): // such as to leave
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
