package client

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// whoami returns the machine and the process.
func whoami() (host string, pid int) {
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is for people only
	}
	return host, os.Getpid()
}

// attend says hello on every new connection, and asks for the standing when it changed, until ctx
// ends.
func (c *Client) attend(ctx context.Context) {
	for {
		var work func(context.Context) error
		select {
		case <-ctx.Done():
			return
		case <-c.fresh:
			work = c.greet
		case <-c.renew:
			work = c.askStanding
		}
		if !c.persist(ctx, work) {
			return
		}
		if ctx.Err() == nil && c.conn.IsConnected() {
			c.opts.Report(nil)
		}
	}
}

// persist repeats work until it succeeds; false if ctx ended before. What goes wrong is reported
// when it changes.
func (c *Client) persist(ctx context.Context, work func(context.Context) error) bool {
	last := fault.Unreachable // of which the disconnection told
	for attempt := 0; ; attempt++ {
		step, cancel := context.WithTimeout(ctx, dialTimeout)
		err := work(step)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		if kind := fault.KindOf(err); kind != last {
			last = kind
			c.opts.Report(err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-c.fresh: // another connection: hello again, at once
			work = c.greet
		case <-time.After(pause(attempt)):
		}
	}
}

// greet says hello on a connection that is there again.
func (c *Client) greet(ctx context.Context) error {
	if err := c.hello(ctx); err != nil {
		return err
	}
	c.configs.tell(ConfigChange{Action: ConfigMissed})
	return nil
}

func (c *Client) askStanding(ctx context.Context) error {
	var s identity.Standing
	if err := c.Node(ctx, "standing", nil, &s); err != nil {
		return err
	}
	c.standing.Store(&s)
	return nil
}

// onNews takes what the node tells.
func (c *Client) onNews(m *nats.Msg) {
	kind := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	switch kind {
	case wire.NewsStanding:
		signal(c.renew)
	case wire.NewsStop:
		c.stopOnce.Do(func() { close(c.stopping) })
	case wire.NewsAlert:
		if err := c.alerts.answer(c, m.Data); err != nil {
			c.opts.Report(err)
		}
	case wire.NewsConfig:
		var change ConfigChange
		if err := json.Unmarshal(m.Data, &change); err != nil {
			c.opts.Report(fault.E("client.news", fault.Corrupt, kind, err))
			return
		}
		c.configs.tell(change)
	}
}
