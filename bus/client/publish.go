package client

import (
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

// Publish sends the values of a device's points as they are now, to everybody who listens. Nobody
// waits for it and nothing keeps it: who is not there misses it. Record what must be kept.
//
// It fails with fault.Refused if the agent may not publish the device. If the grants seemed to allow
// it and the server does not, that is reported, and the next Publish of the device fails.
func (c *Client) Publish(scan *point.Scan) error {
	if err := scan.Device.Validate(); err != nil {
		return fault.E("client.Publish", fault.Invalid, string(scan.Device), err)
	}
	subject := wire.Subject(wire.ScanPrefix, scan.Device)
	return c.link.send("client.Publish", &nats.Msg{Subject: subject, Data: wire.AppendScan(nil, scan)}, c.Permissions().Grants.MayPublish(scan.Device))
}

// Header are the headers of a message, which are the users' own.
type Header = map[string][]string

// Send sends a free message on a topic, which is a path, to everybody who listens. The body is
// written as JSON, unless it is a []byte or json.RawMessage. Delivery and errors are as of Publish.
func (c *Client) Send(topic point.Path, body any, header Header) error {
	const op = "client.Send"
	if err := topic.Validate(); err != nil {
		return fault.E(op, fault.Invalid, string(topic), err)
	}
	data, err := encodeBody(body)
	if err != nil {
		return fault.E(op, fault.Invalid, string(topic), fmt.Errorf("the message cannot be written as JSON: %w", err))
	}
	m := &nats.Msg{Subject: wire.MessageSubject(c.link.opts.Name, topic), Data: data, Header: header}
	return c.link.send(op, m, mayPublish(&c.Permissions().Grants, topic))
}

// mayPublish knows the topics that are open to every agent.
func mayPublish(g *identity.Grants, topic point.Path) error {
	if topic == wire.HealthTopic || point.Pattern(wire.AlertTopic).Match(topic) {
		return nil
	}
	return g.MayPublish(topic)
}

func encodeBody(body any) ([]byte, error) {
	switch b := body.(type) {
	case []byte:
		return b, nil
	case json.RawMessage:
		return b, nil
	}
	return json.Marshal(body)
}
