package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

const (
	stream  = "LEASES"
	subject = "lease."
)

// Stream is a Register in a stream of the bus, with as many copies as there are replicas. It is safe for concurrent use.
type Stream struct {
	js       jetstream.JetStream
	replicas func() int // how many copies to make

	mu     sync.Mutex
	stream jetstream.Stream // nil before it was needed
}

var _ Register = (*Stream)(nil)

// NewStream returns the register of replicas over a connection to the account that they share. It does nothing yet.
func NewStream(conn *nats.Conn, replicas func() int) (*Stream, error) {
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(callTime))
	if err != nil {
		return nil, fault.E("lease.NewStream", fault.Internal, stream, trouble.Of(err))
	}
	return &Stream{js: js, replicas: replicas}, nil
}

// open returns the stream, and makes it if there is none.
func (s *Stream) open(ctx context.Context) (jetstream.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		return s.stream, nil
	}
	opened, err := s.js.Stream(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		opened, err = s.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: stream, Subjects: []string{subject + ">"}, Storage: jetstream.FileStorage, Replicas: s.replicas(),
			Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld, MaxMsgsPerSubject: 1,
			Duplicates: 100 * time.Millisecond, // and no direct reads: a replica that lags behind would answer
		})
	}
	if err != nil {
		return nil, fault.E("lease.open", fault.Unavailable, stream, trouble.Of(err))
	}
	s.stream = opened
	return opened, nil
}

// Read implements Register.
func (s *Stream) Read(ctx context.Context, after uint64) (list []Message, err error) {
	from, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	for {
		m, err := from.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(subject+">"))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return list, nil
		case err != nil:
			return nil, fault.E("lease.Read", fault.Unavailable, stream, trouble.Of(err))
		}
		after = m.Sequence
		list = append(list, Message{Seq: m.Sequence, Topic: strings.TrimPrefix(m.Subject, subject), Data: m.Data})
	}
}

// Write implements Register.
func (s *Stream) Write(ctx context.Context, topic string, data []byte, last uint64) (uint64, error) {
	if _, err := s.open(ctx); err != nil {
		return 0, err
	}
	ack, err := s.js.PublishMsg(ctx, &nats.Msg{Subject: subject + topic, Data: data}, jetstream.WithExpectLastSequence(last), jetstream.WithRetryAttempts(0))
	if err == nil {
		return ack.Sequence, nil
	}
	if refused, is := errors.AsType[*jetstream.APIError](err); is && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return 0, fmt.Errorf("%w: %w", ErrBehind, trouble.Of(err))
	}
	return 0, fault.E("lease.Write", fault.Unavailable, topic, trouble.Of(err))
}
