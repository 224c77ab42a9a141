package ownstatus

import (
	"context"

	"voltbus/bus/blocklog"
	"voltbus/recorder"
	"voltbus/uplink"
	"voltbus/uplink/enrol"
	"voltbus/uplink/replica"
	"voltbus/uplink/sender"
)

// Link knows the link to the parent, and the backlog for it. It is safe for concurrent use.
type Link struct {
	Parent   *enrol.Parent
	Sender   *sender.Sender
	Recorder *recorder.Recorder
	Blocks   *blocklog.Log
}

// Add adds the state of the link to the parent, and the backlog.
func (l *Link) Add(ctx context.Context, s *replica.Status) {
	m, member := l.Parent.Current()
	if !member {
		return
	}
	up := l.Sender.Status()
	s.Link = string(up.State)
	switch {
	case m.State != enrol.Approved:
		s.Link, s.LinkNote = string(m.State), m.Why
	case s.Link == "":
		s.Link = string(sender.Connecting)
	case up.Err != nil:
		s.LinkNote = up.Err.Error()
	default:
		for i := range up.Origins {
			if err := up.Origins[i].Err; err != nil {
				s.LinkNote = err.Error()
			}
		}
	}
	if s.Waiting = l.waiting(); s.Waiting == 0 {
		return
	}
	log, err := l.Blocks.State(ctx)
	place := max(l.Sender.Place()+1, log.First)
	if err != nil || place > log.Last {
		return
	}
	share := float64(log.Last-place+1) / float64(log.Last-log.First+1)
	s.WaitingBytes = uint64(replica.Rounded(share*float64(log.Bytes), figures))
	if at, err := l.Blocks.Written(ctx, place); err == nil {
		s.WaitingSince = at.Unix()
	}
}

// waiting counts the samples that the parent does not have yet, including those that the selection excludes,
// until that is known.
func (l *Link) waiting() (samples uint64) {
	has := l.Sender.Acknowledged()
	for origin, p := range Positions(l.Recorder) {
		samples += p.Samples - min(p.Samples, has[origin].Samples)
	}
	for origin, p := range l.Recorder.Others() {
		samples += p.Samples - min(p.Samples, has[origin].Samples)
	}
	return samples
}

// Origins lists the names of a node's own origins.
func Origins(r *recorder.Recorder) []string {
	var names []string
	for _, lane := range r.Lanes() {
		names = append(names, lane.Origin)
	}
	return names
}

// Positions returns how far a node's own origins are on disk.
func Positions(r *recorder.Recorder) map[string]uplink.Position {
	out := map[string]uplink.Position{}
	for _, s := range r.Lanes() {
		out[s.Origin] = uplink.Position{Sequence: s.Sequence, Samples: s.Acknowledged}
	}
	return out
}
