package node

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/uplink"
)

// uplinkStatus says how the blocks of this node go up.
func (n *Node) uplinkStatus(ctx context.Context) *answer.Uplink {
	s := n.sender.Status()
	out := &answer.Uplink{
		State: string(s.State), Since: moment(s.Since.UTC()), RTTMS: millis(s.RTT), OffsetMS: millis(s.Offset),
		Lanes: make([]answer.UplinkLane, len(s.Lanes)), Origins: make([]answer.UplinkOrigin, len(s.Origins)),
	}
	if s.Since.IsZero() {
		out.Since = nil
	}
	if s.Err != nil {
		out.Reason = s.Err.Error()
	}
	if _, last, err := n.blocks.Bounds(ctx); err == nil {
		out.Waiting = last - min(last, n.sender.Place())
	}
	names := map[uplink.Lane]string{uplink.Normal: "normal", uplink.Urgent: "urgent"}
	for i, l := range s.Lanes {
		out.Lanes[i] = answer.UplinkLane{Name: names[l.Name], Frames: l.Frames, Octets: l.Octets, Sent: l.Sent, Back: l.Back}
		if !l.Oldest.IsZero() {
			out.Lanes[i].Oldest = moment(l.Oldest.UTC())
		}
	}
	for i := range s.Origins {
		o := &s.Origins[i]
		out.Origins[i] = answer.UplinkOrigin{
			Origin: o.Name, Sequence: o.Position.Sequence, Samples: o.Position.Samples, Sent: o.Sent, Octets: o.Octets,
			Acknowledged: o.Acknowledged, Left: o.Left, Repeated: o.Repeated, Dropped: o.Dropped,
		}
		if o.Err != nil {
			out.Origins[i].Reason = o.Err.Error()
		}
	}
	live := shownLive(n.liveUp.Status(), true)
	out.Live = &live
	return out
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
