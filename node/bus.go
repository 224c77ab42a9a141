package node

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/bus"
)

// keyChars is how many characters of a public key people compare.
const keyChars = 12

// inspector implements stream.Bus.
type inspector struct{ *bus.Bus }

// Inspect implements stream.Bus.
func (i inspector) Inspect(context.Context) (answer.Bus, error) {
	o, err := i.Bus.Inspect()
	if err != nil {
		return answer.Bus{}, err
	}
	out := answer.Bus{
		Started: o.Started.UTC(), Total: o.Total, Subscriptions: o.Subscriptions, SlowConsumers: o.SlowConsumers,
		In: answer.Traffic(o.In), Out: answer.Traffic(o.Out), Connections: make([]answer.BusConnection, len(o.Connections)),
	}
	for n, c := range o.Connections {
		out.Connections[n] = answer.BusConnection{
			ID: c.ID, Name: c.Name, Who: c.Who, Key: c.Key[:min(len(c.Key), keyChars)], Address: c.Address, Role: c.Role,
			Subscriptions: c.Subscriptions, Subscribed: c.Subscribed, In: answer.Traffic(c.In), Out: answer.Traffic(c.Out),
			Pending: c.Pending, Slow: c.Slow, RTTMS: float64(c.RTT) / float64(time.Millisecond), Since: c.Since.UTC(),
		}
	}
	return out, nil
}
