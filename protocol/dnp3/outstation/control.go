package outstation

import (
	"bytes"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// selection is what a master selected (clause 4.4): the operate must follow at once,
// with the next sequence number and the same octets, before the time is over.
type selection struct {
	valid    bool
	sequence app.Sequence
	until    time.Time
	objects  []byte
}

// control handles FC 3 to 6. The answer is the request with a status in each object.
func (s *Session) control(now time.Time, f app.Fragment, out *station.Output) {
	if iin := checkControls(f); iin != 0 {
		if f.Function != app.FuncDirectOperateNoAck {
			s.reply(f, iin, nil, out)
		}
		return
	}
	force, phase := s.admit(now, f)
	if out == nil {
		s.carryOut(f, phase, force)
		return
	}
	w := app.NewResponse(out.Scratch(), f.Control.Sequence().Single(), app.FuncResponse, 0)
	echo := w.Bytes()
	if f.Function != app.FuncDirectOperateNoAck && len(echo)+len(f.Objects) > cap(echo) {
		s.reply(f, app.IINParameterError, nil, out)
		return
	}
	answer := append(echo, f.Objects...)
	request := f.Objects
	f.Objects = answer[len(echo):]
	ok := s.carryOut(f, phase, force)
	if phase == Selecting && ok {
		s.selected = selection{
			valid: true, sequence: f.Control.Sequence(), until: now.Add(s.outstation.selectFor),
			objects: append(s.selected.objects[:0], request...),
		}
	}
	if f.Function == app.FuncDirectOperateNoAck {
		return
	}
	control := f.Control.Sequence().Single()
	if s.broadcast == broadcastConfirm {
		control |= app.CON
	}
	head := app.NewResponse(answer[:0], control, app.FuncResponse, s.iin())
	s.send(answer[:len(head.Bytes())+len(f.Objects)], out)
}

// checkControls refuses a request with anything but commands before one is carried out.
func checkControls(f app.Fragment) app.IIN {
	for h, err := range f.Headers() {
		switch {
		case err != nil:
			return parseIIN(err)
		case h.Variation.Kind() != object.KindBinaryCommand && h.Variation.Kind() != object.KindAnalogCommand:
			return app.IINObjectUnknown
		case h.Variation != object.G12V1 && h.Variation.Kind() == object.KindBinaryCommand:
			return app.IINObjectUnknown // patterns
		case !h.Qualifier.Prefixed():
			return app.IINParameterError
		}
	}
	if len(f.Objects) == 0 {
		return app.IINParameterError
	}
	return 0
}

// admit returns the phase of a request, and the status with which all of its commands
// are refused, if it is not 0.
func (s *Session) admit(now time.Time, f app.Fragment) (object.Status, Phase) {
	switch f.Function {
	case app.FuncSelect:
		return 0, Selecting
	case app.FuncOperate:
	default:
		return 0, Direct
	}
	was := s.selected
	s.selected.valid = false
	switch {
	case !was.valid || f.Control.Sequence() != was.sequence.Next() || !bytes.Equal(was.objects, f.Objects):
		return object.StatusNoSelect, Operating
	case !now.Before(was.until):
		return object.StatusTimeout, Operating
	}
	return 0, Operating
}

// carryOut asks the application for each command and writes the statuses into the
// objects. It reports whether all commands succeeded.
func (s *Session) carryOut(f app.Fragment, phase Phase, force object.Status) bool {
	ok, n := true, 0
	for h, err := range f.Headers() {
		if err != nil {
			return false
		}
		points := pointsOf(h)
		for o := range h.Objects() {
			status := force
			c := Command{Kind: h.Variation.Kind(), Index: o.Index, Phase: phase, Master: s.source}
			if block, isBlock := o.CROB(); isBlock {
				c.CROB = block
			} else if len(points) > 0 {
				c.Value, points = points[0].Value, points[1:]
			}
			if n++; status == 0 {
				status = s.command(c, n)
			}
			o.Data[len(o.Data)-1] = byte(status)
			ok = ok && status == object.StatusSuccess
		}
	}
	return ok
}

// pointsOf returns the values of an analog command header.
func pointsOf(h app.Header) []object.Point {
	if h.Variation.Kind() != object.KindAnalogCommand {
		return nil
	}
	var points []object.Point
	for p := range h.Points() {
		points = append(points, p)
	}
	return points
}

// command asks the application.
func (s *Session) command(c Command, n int) object.Status {
	call := &s.outstation.callbacks
	switch {
	case n > s.outstation.maxControls:
		return object.StatusTooManyObjects
	case call.Operate == nil:
		return object.StatusNotSupported
	case c.Phase == Selecting && call.Select != nil:
		return call.Select(c)
	case c.Phase == Selecting:
		return s.selectable(c)
	}
	return call.Operate(&s.outstation.tx, c)
}

// selectable is the answer to a select if the application has none of its own.
func (s *Session) selectable(c Command) object.Status {
	at := slotBinaryOutput
	if c.Kind == object.KindAnalogCommand {
		at = slotAnalogOutput
	}
	if s.outstation.database.find(at, c.Index) == nil {
		return object.StatusNotSupported
	}
	return object.StatusSuccess
}
