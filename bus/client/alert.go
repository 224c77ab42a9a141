package client

import (
	"encoding/json"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// alerts raises alerts, and knows those that last, as the node asks for them again.
type alerts struct {
	link *link

	mu   sync.Mutex
	open map[string]json.RawMessage
}

var errKey = errors.New("an alert needs a key, by which it is cleared")

// Alert wants people to know something until it is cleared. The key is the agent's name for it; the
// severity is "info", "warning" or "critical". When a person clears it meanwhile, it is raised again.
func (c *Client) Alert(key, severity, text string) error {
	raw, err := json.Marshal(map[string]any{"severity": severity, "text": text})
	if err != nil {
		return fault.E("client.Alert", fault.Internal, key, err)
	}
	c.alerts.mu.Lock()
	defer c.alerts.mu.Unlock()
	if err := c.alerts.send(key, raw); err != nil {
		return err
	}
	if c.alerts.open == nil {
		c.alerts.open = map[string]json.RawMessage{}
	}
	c.alerts.open[key] = raw
	return nil
}

var overMessage = json.RawMessage(`{"cleared":true}`) //nolint:gochecknoglobals // never changed

// ClearAlert says that an alert is over. It is no error if there was none.
func (c *Client) ClearAlert(key string) error {
	c.alerts.mu.Lock()
	defer c.alerts.mu.Unlock()
	delete(c.alerts.open, key)
	return c.alerts.send(key, overMessage)
}

// answer says whether an alert lasts that a person wants to be over.
func (a *alerts) answer(news []byte) error {
	var about struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(news, &about); err != nil {
		return fault.E("client.news", fault.Corrupt, wire.NewsAlert, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	message, lasts := a.open[about.Key]
	if !lasts {
		message = overMessage
	}
	return a.send(about.Key, message)
}

// send reports an alert to the node, which every agent may do.
func (a *alerts) send(key string, message json.RawMessage) error {
	const op = "client.Alert"
	if key == "" {
		return fault.E(op, fault.Invalid, a.link.opts.Name, errKey)
	}
	topic := point.Path(wire.AlertTopic).Join(key)
	if err := topic.Validate(); err != nil {
		return fault.E(op, fault.Invalid, string(topic), err)
	}
	return a.link.send(op, &nats.Msg{Subject: wire.MessageSubject(a.link.opts.Name, topic), Data: message}, nil)
}
