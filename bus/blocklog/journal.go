package blocklog

import (
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
	"voltbus/fault"
)

// Journal is a log that all replicas write. Nothing is appended to it: records are added.
type Journal struct{ *Log }

// Add hands a record to a journal, behind those of all its writers, and returns when it is on the disks of a majority. After an error it
// may be there or not.
func (l Journal) Add(ctx context.Context, data []byte) error {
	if err := l.trouble(); err != nil {
		return err
	}
	_, err := l.js.PublishMsg(ctx, &nats.Msg{Subject: l.cfg.subject(), Data: data}, jetstream.WithRetryAttempts(0))
	if err == nil {
		return nil
	}
	if why := l.trouble(); why != nil {
		return why
	}
	return fault.E("bus.Add", fault.Unavailable, l.cfg.stream(), trouble.Of(err))
}
