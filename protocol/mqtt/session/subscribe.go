package session

import (
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/topic"
)

func (c *Conn) receiveSubscribe(d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	p, err := d.Subscribe(f)
	if err != nil {
		return out, err
	}
	identifier := p.Properties.UintOr(packet.SubscriptionIdentifier, 0)
	ack := packet.Suback{Type: packet.SUBACK, ID: p.ID, Codes: make([]packet.Code, len(p.Subscriptions))}
	var retained []byte // is sent behind the answer
	for i, one := range p.Subscriptions {
		a, code, err := c.subscribe(string(one.Filter), Subscription{one.Options, identifier})
		if err != nil {
			return out, err
		}
		ack.Codes[i] = code
		if !code.Failed() && a.wanted() {
			retained = c.broker.Retained(c, a.filter, a.subscription, retained)
		}
	}
	if out, err = ack.Append(out, c.version); err != nil {
		return out, err
	}
	return append(out, retained...), nil
}

// asked is a subscription as it was made.
type asked struct {
	filter       topic.Filter
	subscription Subscription
	fresh        bool
}

// wanted reports whether the subscription gets retained messages (§3.8.3.1). Shared ones get none.
func (a *asked) wanted() bool {
	switch a.subscription.Options.RetainHandling() {
	case packet.RetainedAlways:
		return a.filter.Share == ""
	case packet.RetainedIfNew:
		return a.filter.Share == "" && a.fresh
	default:
		return false
	}
}

// subscribe makes one subscription. The error ends the connection.
func (c *Conn) subscribe(text string, sub Subscription) (asked, packet.Code, error) {
	f, err := topic.Parse(text, c.config.limits().Levels)
	if err != nil {
		return asked{}, packet.TopicFilterInvalid, nil //nolint:nilerr // the answer is the reason code
	}
	if f.Share != "" && sub.Options&packet.NoLocal != 0 {
		return asked{}, 0, refusal("MQTT-3.8.3-4", "shared subscription %q has no local set", text)
	}
	if _, had := c.session.subscriptions.search(text); !had && len(c.session.subscriptions) >= or(c.config.MaxSubscriptions, 1000) {
		return asked{}, packet.QuotaExceeded, nil
	}
	code := c.broker.Subscribe(c, f, sub)
	if code.Failed() {
		return asked{}, code, nil
	}
	sub.Options = sub.Options.WithQoS(packet.QoS(code))
	return asked{f, sub, c.session.subscribe(text, sub)}, code, nil
}

func (c *Conn) receiveUnsubscribe(d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	p, err := d.Unsubscribe(f)
	if err != nil {
		return out, err
	}
	ack := packet.Suback{Type: packet.UNSUBACK, ID: p.ID, Codes: make([]packet.Code, len(p.Filters))}
	for i, text := range p.Filters {
		filter, err := topic.Parse(string(text), c.config.limits().Levels)
		switch {
		case err != nil:
			ack.Codes[i] = packet.TopicFilterInvalid
		case c.session.unsubscribe(string(text)):
			c.broker.Unsubscribe(c, filter)
		default:
			ack.Codes[i] = packet.NoSubscriptionExisted
		}
	}
	return ack.Append(out, c.version)
}
