package delivery

import (
	"context"
	"errors"

	"voltbus/meter"
	"voltbus/meter/message"
	"voltbus/meter/message/compact"
	"voltbus/meter/message/soap"
)

// request is a message to a system.
type request struct {
	url, media, action string
	body               []byte
}

// cargo is what goes in one request.
type cargo interface {
	size() int
	part(from, to int) cargo
	// request writes it in the form of a client.
	request(c *client) (request, error)
}

// readings are the cargo of a bulk.
type readings []meter.Reading

func (r readings) size() int               { return len(r) }
func (r readings) part(from, to int) cargo { return r[from:to] }

func (r readings) request(c *client) (q request, err error) {
	q = request{url: c.url, action: soap.Action}
	switch c.form {
	case "soap12":
		q.body, q.media = soap.RecordReadings(soap.V12, r), soap.V12.Media()+`; action="`+soap.Action+`"`
	case "json":
		q.body, q.media = message.JSON(r), "application/json"
	case "csv":
		q.body, q.media = message.CSV(r), "text/csv; charset=utf-8"
	case Passing:
		q.media = compact.Media
		q.body, err = compact.Pass(nil, r)
	case "cim":
		q.media = "application/xml; charset=utf-8"
		q.body, err = message.CIM(r)
	default:
		q.body, q.media = soap.RecordReadings(soap.V11, r), soap.V11.Media()
	}
	return q, err
}

// reports are events as a cargo.
type reports []meter.Event

func (r reports) size() int               { return len(r) }
func (r reports) part(from, to int) cargo { return r[from:to] }

func (r reports) request(c *client) (q request, err error) {
	q = request{url: c.told, action: soap.EventAction}
	switch c.form {
	case "soap12":
		q.body, q.media = soap.RecordEvents(soap.V12, r), soap.V12.Media()+`; action="`+soap.EventAction+`"`
	case "json", "csv":
		q.media = "application/json"
		q.body, err = message.JSONEvents(r)
	case "cim":
		q.body, q.media = message.CIMEvents(r), "application/xml; charset=utf-8"
	default:
		q.body, q.media = soap.RecordEvents(soap.V11, r), soap.V11.Media()
	}
	return q, err
}

// eventPathOf is pathOf for events. There is no table of events: they go as JSON where readings go as one.
func eventPathOf(form string) string {
	if form == "json" || form == "csv" {
		return pathOf("events")
	}
	return pathOf(form)
}

// fleet is the ways to all systems.
type fleet []*client

// attempt sends a cargo to a system. One that is only tried, while another one answers, has less time.
func (f fleet) attempt(ctx context.Context, at int, trial bool, list cargo) (*message.Answer, error) {
	if trial {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, trialTime)
		defer cancel()
	}
	a, err := f[at].post(ctx, list)
	if t, is := errors.AsType[*trouble](err); is && t.whole {
		return f.divide(ctx, at, list, t)
	}
	return a, err
}

// divide finds out what of a message a system refuses that it refuses as a whole. If it takes nothing, that is trouble
// with the system, and not with the message; only of a message with one reading or event it is the word on that.
func (f fleet) divide(ctx context.Context, at int, list cargo, why *trouble) (*message.Answer, error) {
	a := &message.Answer{}
	n := list.size()
	if n == 1 {
		a.Refused = []message.Refusal{{Index: 0, Reason: why.why}}
		return a, nil
	}
	for _, part := range []cargo{list.part(0, n/2), list.part(n/2, n)} {
		some, err := f.attempt(ctx, at, false, part)
		if t, is := errors.AsType[*trouble](err); is && t.whole {
			some, err = refuseAll(part.size(), t.why), nil
		}
		if err != nil {
			return nil, err
		}
		before := a.Accepted + len(a.Refused)
		a.Accepted += some.Accepted
		for _, r := range some.Refused {
			a.Refused = append(a.Refused, message.Refusal{Index: before + r.Index, Reason: r.Reason})
		}
	}
	if a.Accepted == 0 {
		return nil, why
	}
	return a, nil
}

func refuseAll(n int, why string) *message.Answer {
	a := &message.Answer{}
	for i := range n {
		a.Refused = append(a.Refused, message.Refusal{Index: i, Reason: why})
	}
	return a
}

// dial returns the ways to the systems of a section. It dials nobody.
func dial(c *Config) (f fleet, err error) {
	for i := range c.Section.Systems {
		one, err := newClient(&c.Section.Systems[i], c.Section)
		if err != nil {
			return nil, badSystem(i, err)
		}
		f = append(f, one)
	}
	return f, nil
}

// close lets go of connections.
func (f fleet) close() {
	for _, c := range f {
		c.close()
	}
}
