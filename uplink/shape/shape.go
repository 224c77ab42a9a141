// Package shape converts the links between nodes to the types of the API.
package shape

import (
	"time"

	"voltbus/api/answer"
	"voltbus/uplink"
	"voltbus/uplink/live"
	"voltbus/uplink/sender"
)

// shownSubjects is the maximum number of subjects shown per direction.
const shownSubjects = 20

// Live converts a link for live messages, of which this node is the lower or the upper end.
func Live(s live.Status, lower bool) answer.LiveLink { //nolint:gocritic // a copy anyhow
	flow := func(subjects []string, t live.Traffic) answer.LiveFlow {
		return answer.LiveFlow{
			Subjects: append([]string{}, subjects[:min(len(subjects), shownSubjects)]...), Wanted: len(subjects),
			Messages: t.Messages, Bytes: t.Bytes, Dropped: t.Dropped,
		}
	}
	out := answer.LiveLink{Connected: s.Connected, Up: flow(s.Asked, s.Received), Down: flow(s.Wanted, s.Sent), Refused: s.Refused}
	if lower {
		out.Up, out.Down = flow(s.Wanted, s.Sent), flow(s.Asked, s.Received)
	}
	for _, w := range s.Withheld {
		out.Up.Withheld = append(out.Up.Withheld, answer.LiveWithheld(w))
	}
	if !s.Since.IsZero() {
		out.Since = Moment(s.Since.UTC())
	}
	if s.Refusal != nil {
		out.Reason = s.Refusal.Error()
	}
	return out
}

// Uplink converts the state of the uplink. waiting is the number of blocks waiting in the log.
func Uplink(s *sender.Status, waiting uint64) *answer.Uplink {
	out := &answer.Uplink{
		State: string(s.State), Since: Moment(s.Since.UTC()), RTTMS: Millis(s.RTT), OffsetMS: Millis(s.Offset),
		Waiting: waiting, Lanes: make([]answer.UplinkLane, len(s.Lanes)), Origins: make([]answer.UplinkOrigin, len(s.Origins)),
	}
	if s.Since.IsZero() {
		out.Since = nil
	}
	if s.Err != nil {
		out.Reason = s.Err.Error()
	}
	names := map[uplink.Lane]string{uplink.Normal: "normal", uplink.Urgent: "urgent"}
	for i, l := range s.Lanes {
		out.Lanes[i] = answer.UplinkLane{Name: names[l.Name], Frames: l.Frames, Bytes: l.Bytes, Sent: l.Sent, Back: l.Back}
		if !l.Oldest.IsZero() {
			out.Lanes[i].Oldest = Moment(l.Oldest.UTC())
		}
	}
	for i := range s.Origins {
		o := &s.Origins[i]
		out.Origins[i] = answer.UplinkOrigin{
			Origin: o.Name, Sequence: o.Position.Sequence, Samples: o.Position.Samples, Sent: o.Sent, Bytes: o.Bytes,
			Acknowledged: o.Acknowledged, Left: o.Left, Repeated: o.Repeated, Dropped: o.Dropped,
		}
		if o.Err != nil {
			out.Origins[i].Reason = o.Err.Error()
		}
	}
	return out
}

// Moment returns nil for the zero time.
func Moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Millis returns a duration in milliseconds.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
