package system

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/meter/delivery"
	"voltbus/meter/setting"
	"voltbus/operation/metering"
	"voltbus/point"
)

// Concentrates tells what the concentrator took and handed on.
func (s *System) Concentrates(now time.Time) answer.MeterConcentrator {
	out := answer.MeterConcentrator{
		To: s.section.Target(), Bulk: s.section.Bulk, Age: s.section.Age.Seconds(), Systems: []answer.MeterSystem{}, Refusals: []answer.MeterNotTaken{},
	}
	told := s.events.Position().Samples
	if out.To == setting.ToParent {
		out.Taken = s.taken().Samples
		held := s.held()
		out.Sent = min(held[s.origin], out.Taken)
		out.Waiting = out.Taken - out.Sent
		out.Events.Sent = min(held[point.UrgentOrigin(s.origin)], told)
		out.Events.Waiting = told - out.Events.Sent
		return out
	}
	e := s.urgent.Status()
	out.Events = answer.MeterEventWay{Sent: e.Sent, Refused: e.Refused, Lost: e.Lost, Waiting: told - min(e.Ends[point.UrgentOrigin(s.origin)], told)}
	out.Refusals = notTaken(out.Refusals, e.Refusals)
	d := s.delivery.Status()
	out.Sent, out.Refused, out.Lost, out.Waiting = d.Sent, d.Refused, d.Lost, d.Waiting
	out.Taken = d.Sent + d.Refused + d.Waiting
	out.Rate, out.Requests, out.Reason, out.Oldest = d.Rate, d.Requests, d.Trouble, moment(d.Oldest)
	for i := range d.Systems {
		one := &d.Systems[i]
		m := answer.MeterSystem{URL: one.URL, State: "ready", Requests: one.Requests, Failed: one.Failed, Sent: one.Sent}
		if one.State.Failures > 0 {
			m.State, m.Reason, m.Since = "failing", one.State.Why, moment(one.State.Since)
			if one.State.Until.After(now) {
				m.Next = moment(one.State.Until)
			}
		}
		out.Systems = append(out.Systems, m)
	}
	out.Refusals = notTaken(out.Refusals, d.Refusals)
	slices.SortStableFunc(out.Refusals, func(a, b answer.MeterNotTaken) int { return b.Time.Compare(a.Time) })
	return out
}

var errToParent = errors.New("this concentrator hands readings to its parent, which acknowledged what it has; there is nothing to send again")

// SendAgain implements metering.Concentrator.
func (s *System) SendAgain(ctx context.Context, span delivery.Span) (metering.SentAgain, error) {
	if s.delivery == nil {
		return metering.SentAgain{}, fault.E("meter.recover", fault.Conflict, "", errToParent)
	}
	got, err := s.delivery.SendAgain(ctx, span)
	return metering.SentAgain{
		Sent: int(got.Sent), Refused: int(got.Refused), Refusals: notTaken([]answer.MeterNotTaken{}, got.Refusals), Oldest: moment(got.Oldest),
		Place: int(got.Place), More: got.More, Reason: got.Trouble,
	}, err
}

func notTaken(dst []answer.MeterNotTaken, list []delivery.Refused) []answer.MeterNotTaken {
	for _, r := range list {
		dst = append(dst, answer.MeterNotTaken{
			Meter: r.Meter, Event: r.Event, Channel: r.Channel, ReadingType: r.Type, End: r.End, Value: r.Value, Reason: r.Reason, System: r.System, Time: r.At,
		})
	}
	return dst
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// The times after which somebody should know.
const (
	failingAfter = 10 * time.Second
	refusedFor   = 24 * time.Hour
)

// Troubles says in sentences what is wrong with the delivery of readings, by what it is about. A nil System has nothing wrong.
func (s *System) Troubles() map[string]string {
	if s == nil || s.delivery == nil && s.cluster == nil {
		return nil
	}
	now := s.now()
	out := map[string]string{}
	if s.cluster != nil {
		s.cluster.Troubles(now, out)
		return out
	}
	c := s.Concentrates(now)
	for i := range c.Systems {
		m := &c.Systems[i]
		if m.Since != nil && now.Sub(*m.Since) > failingAfter {
			out[m.URL] = fmt.Sprintf("does not take readings of meters, %s: %s", waiting(c.Waiting), m.Reason)
		}
	}
	for _, m := range s.urgent.Status().Systems {
		if m.State.Failures > 0 && now.Sub(m.State.Since) > failingAfter {
			out[m.URL+" events"] = "does not take events of meters: " + m.State.Why
		}
	}
	if len(c.Refusals) > 0 && now.Sub(c.Refusals[0].Time) < refusedFor {
		r := &c.Refusals[0]
		out["refused readings"] = fmt.Sprintf("%s of meters refused by metering data systems so far, the newest of %s: %s; voltbus meter concentrators --refused lists them",
			refusedOf(&c), r.Meter, r.Reason)
	}
	if c.Lost > 0 {
		out["lost readings"] = plural.Of(c.Lost, "sample") + " of meters were dropped from the log before they were sent: raise log.max_bytes"
	}
	if c.Reason != "" {
		out[DeliveryFile] = "the place in the log cannot be remembered: " + c.Reason
	}
	return out
}

// refusedOf says what systems refused.
func refusedOf(c *answer.MeterConcentrator) string {
	if c.Events.Refused == 0 {
		return plural.Of(c.Refused, "reading")
	}
	return plural.Of(c.Refused, "reading") + " and " + plural.Of(c.Events.Refused, "event")
}

func waiting(n uint64) string {
	return plural.Of(n, "reading") + plural.Word(n, " waits", " wait")
}
