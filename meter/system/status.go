package system

import (
	"fmt"
	"time"

	"voltbus/api/answer"
	"voltbus/internal/plural"
	"voltbus/meter/setting"
)

// Concentrates tells what the concentrator took and handed on.
func (s *System) Concentrates(now time.Time) answer.MeterConcentrator {
	out := answer.MeterConcentrator{
		To: s.section.Target(), Bulk: s.section.Bulk, Age: s.section.Age.Seconds(), Systems: []answer.MeterSystem{}, Refusals: []answer.MeterNotTaken{},
	}
	if out.To == setting.ToParent {
		out.Taken = s.taken().Samples
		out.Sent = min(s.held()[s.origin], out.Taken)
		out.Waiting = out.Taken - out.Sent
		return out
	}
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
	for _, r := range d.Refusals {
		out.Refusals = append(out.Refusals, answer.MeterNotTaken{
			Meter: r.Meter, Channel: r.Channel, ReadingType: r.Type, End: r.End, Value: r.Value, Reason: r.Reason, System: r.System, Time: r.At,
		})
	}
	return out
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
	if s == nil || s.delivery == nil {
		return nil
	}
	now := s.now()
	out := map[string]string{}
	c := s.Concentrates(now)
	for i := range c.Systems {
		m := &c.Systems[i]
		if m.Since != nil && now.Sub(*m.Since) > failingAfter {
			out[m.URL] = fmt.Sprintf("does not take readings of meters, %s: %s", waiting(c.Waiting), m.Reason)
		}
	}
	if len(c.Refusals) > 0 && now.Sub(c.Refusals[0].Time) < refusedFor {
		r := &c.Refusals[0]
		out["refused readings"] = fmt.Sprintf("%s of meters refused by metering data systems so far, the newest of %s: %s; voltbus meter concentrators --refused lists them",
			plural.Of(c.Refused, "reading"), r.Meter, r.Reason)
	}
	if c.Lost > 0 {
		out["lost readings"] = plural.Of(c.Lost, "sample") + " of meters were dropped from the log before they were sent: raise log.max_bytes"
	}
	if c.Reason != "" {
		out[DeliveryFile] = "the place in the log cannot be remembered: " + c.Reason
	}
	return out
}

func waiting(n uint64) string {
	return plural.Of(n, "reading") + plural.Word(n, " waits", " wait")
}
