package blocklog

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Journal is a log that all replicas write. Nothing is appended to it: records are added.
type Journal struct{ *Log }

var errBehind = errors.New("another replica has written meanwhile")

// Add hands a record to a journal, behind those of all its writers, and returns when it is on the disks of a majority. After an error it
// may be there or not.
func (l Journal) Add(ctx context.Context, data []byte) error {
	_, err := l.add(ctx, data)
	return err
}

// AddBehind is Add for a writer that has read the journal up to a sequence, and returns that of the record. The error is fault.Conflict,
// and the record is not there, if the journal ends behind that sequence.
func (l Journal) AddBehind(ctx context.Context, data []byte, last uint64) (uint64, error) {
	return l.add(ctx, data, jetstream.WithExpectLastSequence(last))
}

func (l Journal) add(ctx context.Context, data []byte, how ...jetstream.PublishOpt) (uint64, error) {
	if err := l.trouble(); err != nil {
		return 0, err
	}
	ack, err := l.js.PublishMsg(ctx, &nats.Msg{Subject: l.cfg.subject(), Data: data}, append(how, jetstream.WithRetryAttempts(0))...)
	if err == nil {
		return ack.Sequence, nil
	}
	if refused, is := errors.AsType[*jetstream.APIError](err); is && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return 0, fault.E("bus.Add", fault.Conflict, l.cfg.stream(), fmt.Errorf("%w: %w", errBehind, trouble.Of(err)))
	}
	if why := l.trouble(); why != nil {
		return 0, why
	}
	return 0, fault.E("bus.Add", fault.Unavailable, l.cfg.stream(), trouble.Of(err))
}

// Forget drops the records before a sequence.
func (l Journal) Forget(ctx context.Context, before uint64) error {
	_, err := ask(ctx, l.Log, func(ctx context.Context, s jetstream.Stream) (struct{}, error) {
		return struct{}{}, s.Purge(ctx, jetstream.WithPurgeSequence(before))
	})
	if err != nil {
		return fault.E("bus.Forget", fault.Unavailable, l.cfg.stream(), trouble.Of(err))
	}
	return nil
}
