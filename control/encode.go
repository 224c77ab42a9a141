package control

import (
	"encoding/json"

	"voltbus/point"
)

// The records that each command changes are written field by field, as package json would write them: they
// are most of what a call for many points costs.

func writeValue(o *point.Object, name string, v valueState) {
	o.Name(name)
	o.JSON = v.append(o.JSON)
}

func (s *commandState) write(o *point.Object) {
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
	if s.Prior != nil {
		o.Name("prior")
		s.Prior.write(o)
	}
	o.End()
}

func (s *sentState) write(o *point.Object) {
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

func (s *workState) json() []byte {
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

func (s *answerState) write(o *point.Object) error {
	o.Begin()
	o.Text("requester", s.Requester)
	o.Text("id", s.ID)
	o.Uint("order", s.Order)
	o.Uint("mark", s.Mark)
	o.Text("status", string(s.Status))
	o.Some("why", string(s.Why))
	o.Some("kind", s.Kind)
	o.Some("subject", s.Subject)
	o.Some("text", s.Text)
	for _, list := range []struct {
		name    string
		holders []Holder
	}{{"holders", s.Holders}, {"lost", s.Lost}} {
		if len(list.holders) > 0 {
			data, err := json.Marshal(list.holders)
			if err != nil {
				return err
			}
			o.Name(list.name)
			o.JSON = append(o.JSON, data...)
		}
	}
	o.Moment("until", s.Until)
	o.Moment("later", s.Later)
	o.True("wins", s.Wins)
	o.End()
	return nil
}
