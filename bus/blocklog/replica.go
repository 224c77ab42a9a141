package blocklog

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Of returns the log of another replica, for reading. It need not be there yet.
func Of(e Engine, replica string) (*Log, error) { return prepare(e, Config{Replica: replica}) }

// find finds the log of another replica.
func (l *Log) find(ctx context.Context) (jetstream.Stream, error) {
	stream, err := l.js.Stream(ctx, l.cfg.stream())
	if err != nil {
		return nil, trouble.Of(err)
	}
	l.take(stream)
	return stream, nil
}

// trouble says why no majority of the replicas can be reached, if that is so.
func (l *Log) trouble() error {
	if l.engine.Trouble == nil {
		return nil
	}
	return l.engine.Trouble()
}

const (
	openEvery   = 250 * time.Millisecond // between two attempts to open a log without a majority
	openTimeout = time.Second
	openTell    = 10 * time.Second // between two lines about it
)

// openReplicated opens the log as soon as a majority of the replicas is there, and takes the lead of it: then it does
// not pause when another replica ends.
func (l *Log) openReplicated(ctx context.Context) error {
	var told time.Time
	again := time.NewTicker(openEvery)
	defer again.Stop()
	for {
		err := l.openSoon(ctx)
		if err == nil {
			if l.cfg.Journal == "" {
				l.lead(ctx)
			}
			return nil
		}
		if why := l.trouble(); why != nil {
			err = why
		}
		if time.Since(told) > openTell {
			told = time.Now()
			l.engine.Log.InfoContext(ctx, "waiting for a majority of the replicas", slog.Any("why", err))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fault.E("bus.OpenLog", fault.Unavailable, l.cfg.Replica, err)
		}
	}
}

// makeStream makes the stream, or gives it another configuration. How many replicas have it is changed by who changes which
// replicas there are.
func makeStream(ctx context.Context, l *Log, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	if l.cfg.replicated() {
		known, err := l.js.Stream(ctx, cfg.Name)
		switch {
		case err == nil:
			cfg.Replicas = known.CachedInfo().Config.Replicas
		case errors.Is(err, jetstream.ErrStreamNotFound):
			cfg.Replicas = l.cfg.Replicas()
		default:
			return nil, err
		}
	}
	return l.js.CreateOrUpdateStream(ctx, cfg)
}

var errUnled = errors.New("no replica leads the log yet")

// openSoon opens the log within a second: who is asked while the replicas choose a leader gets no answer. A log that none of them leads may
// not be there: the server says that it made one before a majority knows of it, and forgets it if the replicas choose another leader then.
func (l *Log) openSoon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := l.open(ctx); err != nil {
		return err
	}
	info, err := l.opened().Info(ctx)
	if err == nil && (info.Cluster == nil || info.Cluster.Leader == "") {
		err = errUnled
	}
	if err != nil {
		return fault.E("bus.OpenLog", fault.Unavailable, l.cfg.Replica, trouble.Of(err))
	}
	return nil
}

// patience is how long an answer is waited for that nobody gives while the replicas choose another leader.
const patience = 15 * time.Second

// persist asks again while there is no answer, or none yet.
func persist[T any](ctx context.Context, question func(context.Context) (T, error)) (answer T, err error) {
	for end := time.Now().Add(patience); ; {
		one, cancel := context.WithTimeout(ctx, openTimeout)
		answer, err = question(one)
		<-pace(one, err)
		cancel()
		if err == nil || final(err) || ctx.Err() != nil || time.Now().After(end) {
			return answer, err
		}
	}
}

// pace is closed when the next question may be asked: one that was refused at once is not asked again at once.
func pace(ctx context.Context, err error) <-chan struct{} {
	if err == nil || final(err) {
		done := make(chan struct{})
		close(done)
		return done
	}
	return ctx.Done()
}

// final reports whether an error is an answer: who asks again gets the same.
func final(err error) bool {
	var answered *jetstream.APIError
	return errors.Is(err, jetstream.ErrMsgNotFound) || (errors.As(err, &answered) && answered.Code < 500)
}

// leadSubject is where the leader of a stream is asked to hand over.
const leadSubject = "$JS.API.STREAM.LEADER.STEPDOWN."

// lead asks the leader of the own log to hand over to this replica. A log that another one leads is as safe, only slower.
func (l *Log) lead(ctx context.Context) {
	info, err := ask(ctx, l, func(ctx context.Context, s jetstream.Stream) (*jetstream.StreamInfo, error) { return s.Info(ctx) })
	if err != nil || info.Cluster == nil || info.Cluster.Leader == l.cfg.Replica {
		return
	}
	request, err := json.Marshal(map[string]any{"placement": map[string]string{"preferred": l.cfg.Replica}})
	if err == nil {
		_, err = l.engine.Conn.RequestWithContext(ctx, leadSubject+l.cfg.stream(), request)
	}
	if err != nil {
		l.engine.Log.InfoContext(ctx, "another replica leads the log of this one", slog.String("leader", info.Cluster.Leader), slog.Any("err", trouble.Of(err)))
	}
}

// Copies says where a log is. The zero value is that of a log that nobody leads.
type Copies struct {
	Leader string // the replica that orders the blocks; "" for none
	State
	Lag map[string]uint64 // how many entries of the leader each other replica lacks
}

// CopiesOf returns where a log is and what it holds, at once: a replica without a majority gets none.
func CopiesOf(ctx context.Context, l *Log) (Copies, error) {
	if err := l.trouble(); err != nil {
		return Copies{}, err
	}
	stream, err := l.enter(ctx)
	if err != nil {
		return Copies{}, err
	}
	defer l.asking.Done()
	if stream == nil {
		if stream, err = l.find(ctx); err != nil {
			return Copies{}, err
		}
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return Copies{}, fault.E("bus.CopiesOf", fault.Unavailable, l.cfg.stream(), trouble.Of(err))
	}
	c := Copies{State: State{First: info.State.FirstSeq, Last: info.State.LastSeq, Bytes: int64(info.State.Bytes), MaxBytes: l.cfg.MaxBytes}, Lag: map[string]uint64{}}
	if info.Cluster != nil {
		c.Leader = info.Cluster.Leader
		for _, p := range info.Cluster.Replicas {
			c.Lag[p.Name] = p.Lag
		}
	}
	return c, nil
}
