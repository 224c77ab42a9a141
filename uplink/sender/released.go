package sender

import "voltbus/uplink"

// Released is a log of one origin, whose positions are the numbers of its blocks. It is sent beside the other log.
type Released interface {
	Log
	Origin() string
	// Acknowledged is told how far the parent has it. After an error it is told again with the next blocks.
	Acknowledged(p uplink.Position) error
}

// released is the lane of what rules withheld and a person released. Its frames go by the normal lane, which knows nothing of it.
const released uplink.Lane = "released"

// releases makes the lane that of what was released. Blocks in parts of two senders of a lane would be mixed up.
func (l *lane) releases(w *uplink.Welcome) {
	l.log, l.wire, l.only, l.parts = l.cfg.Released, uplink.Normal, l.cfg.Released.Origin(), false
	l.place = w.Positions[l.only].Sequence
	l.acked[l.only] = w.Positions[l.only]
	l.told(l.acked[l.only])
}

// told has the log of what was released forget what the parent has.
func (l *lane) told(p uplink.Position) {
	if err := l.cfg.Released.Acknowledged(p); err != nil {
		l.monitor.trouble(l.only, err)
	}
}

// laneOf returns the lane that sends an origin.
func laneOf(lanes map[uplink.Lane]*lane, origin string) *lane {
	if l := lanes[released]; l != nil && l.only == origin {
		return l
	}
	return lanes[uplink.LaneOf(origin)]
}
