package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"voltbus/fault"
)

// Recover brings the log back after a failed write: the server refuses all writes after one, even
// when the reason, such as a full disk, is gone. Who asks the log meanwhile waits.
func (l *Log) Recover(ctx context.Context) error {
	back := make(chan struct{})
	l.mu.Lock()
	l.back = back
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.back = nil
		l.mu.Unlock()
		close(back)
	}()
	l.asking.Wait()
	if err := l.bus.srv.ShutdownJetStream(); err != nil {
		return fault.E("bus.Recover", fault.Unavailable, l.bus.cfg.Dir, fmt.Errorf("stop the log: %w", err))
	}
	jets := *l.bus.jets // the server makes its own of what it is handed, and looks elsewhere with that the next time
	if err := l.bus.srv.EnableJetStream(&jets); err != nil {
		return fault.E("bus.Recover", fault.Unavailable, l.bus.cfg.Dir, fmt.Errorf("start the log: %w", err))
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

// ask asks the stream while it is there: one that is being stopped answers as if it were empty.
func ask[T any](ctx context.Context, l *Log, question func(jetstream.Stream) (T, error)) (T, error) {
	stream, err := l.enter(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer l.asking.Done()
	return question(stream)
}

// message returns what the log has at a sequence.
func (l *Log) message(ctx context.Context, sequence uint64) (*jetstream.RawStreamMsg, error) {
	return ask(ctx, l, func(s jetstream.Stream) (*jetstream.RawStreamMsg, error) { return s.GetMsg(ctx, sequence) })
}

// consumer returns one that delivers what the log has from a sequence on.
func (l *Log) consumer(ctx context.Context, from uint64) (jetstream.Consumer, error) {
	return ask(ctx, l, func(s jetstream.Stream) (jetstream.Consumer, error) {
		return s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from, InactiveThreshold: time.Minute,
		})
	})
}
