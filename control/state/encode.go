package state

import "voltbus/point"

func writeValue(o *point.Object, name string, v Value) {
	o.Name(name)
	o.JSON = v.append(o.JSON)
}

func (s *Command) write(o *point.Object) {
	o.Begin()
	o.Text("id", s.ID)
	o.Text("point", string(s.Point))
	o.Text("requester", s.Requester)
	o.Some("task", s.Task)
	o.Uint("level", uint64(s.Level))
	writeValue(o, "value", s.Value)
	o.Some("reason", s.Reason)
	if s.Lease != 0 {
		o.Int("lease", int64(s.Lease))
	}
	o.Uint("order", s.Order)
	o.Time("since", s.Since)
	o.Moment("until", s.Until)
	o.True("fresh", s.Fresh)
	o.True("returns", s.Returns)
	o.Moment("reverts", s.Reverts)
	o.Some("reverter", s.Reverter)
	if f := s.Fence; f.Group != "" {
		o.Name("fence")
		o.Begin()
		o.Text("group", f.Group)
		o.Uint("term", f.Term)
		o.Some("leader", f.Leader)
		o.End()
	}
	if s.Prior != nil {
		o.Name("prior")
		s.Prior.write(o)
	}
	o.End()
}

func (s *Write) write(o *point.Object) {
	o.Begin()
	o.Uint("id", s.ID)
	writeValue(o, "value", s.Value)
	o.True("release", s.Release)
	o.True("read", s.Read)
	if s.Level != 0 {
		o.Uint("level", uint64(s.Level))
	}
	o.Some("cause", string(s.Cause))
	o.Some("requester", s.Requester)
	o.Some("command", s.Command)
	o.End()
}

// JSON encodes the record of a point.
func (s *Point) JSON() []byte {
	o := &point.Object{JSON: make([]byte, 0, 512)}
	o.Begin()
	if len(s.Commands) > 0 {
		o.Name("commands")
		for i := range s.Commands {
			o.JSON = append(o.JSON, "[,"[min(i, 1)])
			s.Commands[i].write(o)
		}
		o.JSON = append(o.JSON, ']')
	}
	writeValue(o, "before", s.Before)
	o.True("reverting", s.Reverting)
	o.True("failsafe", s.Failsafe)
	o.True("undo", s.Undo)
	o.True("partial", s.Partial)
	if s.Place != 0 {
		o.Uint("place", uint64(s.Place))
	}
	if s.Places != 0 {
		o.Uint("places", uint64(s.Places))
	}
	o.Text("output", string(s.Output))
	writeValue(o, "held", s.Held)
	writeValue(o, "reported", s.Reported)
	o.Moment("changed", s.Changed)
	o.Moment("turned", s.Turned)
	o.Moment("assert_at", s.AssertAt)
	if s.AssertPause != 0 {
		o.Int("assert_pause", int64(s.AssertPause))
	}
	o.True("told", s.Told)
	o.Moment("say_at", s.SayAt)
	if s.SayPause != 0 {
		o.Int("say_pause", int64(s.SayPause))
	}
	if s.Sent != nil {
		o.Name("sent")
		s.Sent.write(o)
	}
	o.Some("text", s.Text)
	o.End()
	return o.JSON
}
