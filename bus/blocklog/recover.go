package blocklog

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Recover brings the log back after a failed write: the server refuses all writes after one, even
// when the reason, such as a full disk, is gone. Who asks the log meanwhile waits.
func (l *Log) Recover(ctx context.Context) error {
	l.recovering.Lock()
	defer l.recovering.Unlock()
	if err := l.trouble(); err != nil {
		return err
	}
	if l.cfg.replicated() && !l.stopped() { // what was missing is a majority, not this engine
		return l.open(ctx)
	}
	return l.recover(ctx)
}

// reviveEvery is how often an engine that stopped is started at most.
const reviveEvery = time.Second

var errStopped = trouble.Of(jetstream.ErrJetStreamNotEnabled)

// stopped reports whether the engine of the log does not run: the server stops it when the disk refuses a write.
func (l *Log) stopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken || !l.engine.Server.JetStreamEnabled()
}

// revive starts the engine of the log if it has stopped, unless that was just tried.
func (l *Log) revive(ctx context.Context) error {
	if !l.stopped() {
		return nil
	}
	if err := l.trouble(); err != nil { // that of a replica that was removed stays stopped
		return err
	}
	l.recovering.Lock()
	defer l.recovering.Unlock()
	switch {
	case !l.stopped(): // another one has started it
		return nil
	case time.Since(l.revived) < reviveEvery:
		return errStopped
	}
	l.revived = time.Now()
	if err := l.recover(ctx); err != nil {
		return fmt.Errorf("%w; now: %w", errStopped, err)
	}
	l.engine.Log.InfoContext(ctx, "log runs again after its engine had stopped")
	return nil
}

// recover is Recover for who holds recovering.
func (l *Log) recover(ctx context.Context) (err error) {
	back := make(chan struct{})
	l.mu.Lock()
	l.back = back
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.back, l.broken = nil, err != nil
		l.mu.Unlock()
		close(back)
	}()
	l.asking.Wait()
	if err := l.engine.Server.ShutdownJetStream(); err != nil {
		return fault.E("bus.Recover", fault.Unavailable, l.engine.Store.StoreDir, fmt.Errorf("stop the log: %w", trouble.Of(err)))
	}
	jets := *l.engine.Store // the server makes its own of what it is handed, and looks elsewhere with that the next time
	if err := l.engine.Server.EnableJetStream(&jets); err != nil {
		return fault.E("bus.Recover", fault.Unavailable, l.engine.Store.StoreDir, fmt.Errorf("start the log: %w", trouble.Of(err)))
	}
	return l.open(ctx)
}

// enter returns the stream to ask, after a recovery that is under way. The next one waits for l.asking.
func (l *Log) enter(ctx context.Context) (jetstream.Stream, error) {
	for {
		l.mu.Lock()
		stream, back := l.stream, l.back
		if back == nil {
			l.asking.Add(1)
		}
		l.mu.Unlock()
		if back == nil {
			return stream, nil
		}
		select {
		case <-back:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ask asks the stream while it is there: one that is being stopped answers as if it were empty. An engine that has
// stopped by itself, as after a write that the disk refused, is started again first.
func ask[T any](ctx context.Context, l *Log, question func(context.Context, jetstream.Stream) (T, error)) (T, error) {
	var none T
	if err := l.revive(ctx); err != nil {
		return none, err
	}
	stream, err := l.enter(ctx)
	if err != nil {
		return none, err
	}
	defer l.asking.Done()
	if stream == nil { // that of another replica
		if stream, err = l.find(ctx); err != nil {
			return none, err
		}
	}
	if l.cfg.replicated() {
		answer, err := persist(ctx, func(ctx context.Context) (T, error) { return question(ctx, stream) })
		return answer, trouble.Of(err)
	}
	answer, err := question(ctx, stream)
	return answer, trouble.Of(err)
}

// message returns what the log has at a sequence.
func (l *Log) message(ctx context.Context, sequence uint64) (*jetstream.RawStreamMsg, error) {
	return ask(ctx, l, func(ctx context.Context, s jetstream.Stream) (*jetstream.RawStreamMsg, error) {
		return s.GetMsg(ctx, sequence)
	})
}
