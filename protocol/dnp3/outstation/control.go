package outstation

import (
	"bytes"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/database"
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
			s.solicited.reply(f, iin, nil, out)
		}
		return
	}
	run := controls{session: s, now: now, ok: true}
	run.force, run.phase = s.selected.admit(now, f)
	if out == nil {
		run.carryOut(f)
		return
	}
	w := app.NewResponse(out.Scratch(), f.Control.Sequence().Single(), app.FuncResponse, 0)
	echo := w.Bytes()
	if f.Function != app.FuncDirectOperateNoAck && len(echo)+len(f.Objects) > cap(echo) {
		s.solicited.reply(f, app.IINParameterError, nil, out)
		return
	}
	answer := append(echo, f.Objects...)
	request := f.Objects
	f.Objects = answer[len(echo):]
	run.carryOut(f)
	if run.phase == Selecting && run.ok {
		s.selected = selection{
			valid: true, sequence: f.Control.Sequence(), until: now.Add(s.outstation.selectFor),
			objects: append(s.selected.objects[:0], request...),
		}
	}
	if f.Function == app.FuncDirectOperateNoAck {
		return
	}
	control := f.Control.Sequence().Single()
	if s.indications.broadcast == broadcastConfirm {
		control |= app.CON
	}
	head := app.NewResponse(answer[:0], control, app.FuncResponse, s.indications.iin()|run.refused)
	s.solicited.send(answer[:len(head.Bytes())+len(f.Objects)], out)
}

// checkControls refuses a request with anything but commands before one is carried out.
func checkControls(f app.Fragment) app.IIN {
	pattern := patternNone
	for h, err := range f.Headers() {
		var iin app.IIN
		if err != nil {
			return app.ErrorIIN(err)
		}
		if pattern, iin = checkControl(h, pattern); iin != 0 {
			return iin
		}
	}
	if len(f.Objects) == 0 || pattern == patternOpen {
		return app.IINParameterError
	}
	return 0
}

func checkControl(h app.Header, pattern patternState) (patternState, app.IIN) {
	switch {
	case h.Variation == object.G12V2:
		return pattern.block(h)
	case h.Variation == object.G12V3:
		return pattern.mask(h)
	case h.Variation != object.G12V1 && h.Variation.Kind() != object.KindAnalogCommand:
		return pattern, app.IINObjectUnknown
	case !h.Qualifier.Prefixed() || pattern == patternOpen:
		return pattern, app.IINParameterError
	}
	return patternNone, 0
}

// admit returns the phase of a request, and the status with which all of its commands
// are refused, if it is not 0.
func (s *selection) admit(now time.Time, f app.Fragment) (object.Status, Phase) {
	switch f.Function {
	case app.FuncSelect:
		return 0, Selecting
	case app.FuncOperate:
	default:
		return 0, Direct
	}
	was := *s
	s.valid = false
	switch {
	case !was.valid || f.Control.Sequence() != was.sequence.Next() || !bytes.Equal(was.objects, f.Objects):
		return object.StatusNoSelect, Operating
	case !now.Before(was.until):
		return object.StatusTimeout, Operating
	}
	return 0, Operating
}

// carryOut asks the application for each command and writes the statuses into the
// objects.
func (run *controls) carryOut(f app.Fragment) {
	for h, err := range f.Headers() {
		if err != nil {
			run.ok = false
			return
		}
		switch h.Variation {
		case object.G12V2:
			run.block(h)
		case object.G12V3:
			run.mask(h)
		default:
			run.commands(h)
		}
	}
}

// controls are the commands of a request while they are carried out.
type controls struct {
	session *Session
	now     time.Time
	phase   Phase
	force   object.Status
	n       int  // commands so far
	ok      bool // none was refused yet
	refused app.IIN
	pattern pattern
}

// commands carries out the commands of a header that names their points.
func (run *controls) commands(h app.Header) {
	points := pointsOf(h)
	for o := range h.Objects() {
		c := Command{Kind: h.Variation.Kind(), Index: o.Index}
		if block, isBlock := o.CROB(); isBlock {
			c.CROB = block
		} else if len(points) > 0 {
			c.Value, points = points[0].Value, points[1:]
		}
		o.Data[len(o.Data)-1] = byte(run.one(c))
	}
}

// one carries out a command and returns its status.
func (run *controls) one(c Command) object.Status {
	c.Phase, c.Master, c.Time = run.phase, run.session.source, run.now
	run.n++
	status := run.force
	if status == 0 {
		status = run.session.outstation.command(c, run.n)
	}
	run.ok = run.ok && status == object.StatusSuccess
	if status == object.StatusNotSupported {
		run.refused |= app.IINParameterError
	}
	return status
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
func (o *Outstation) command(c Command, n int) object.Status {
	call := &o.callbacks
	switch {
	case n > o.maxControls:
		return object.StatusTooManyObjects
	case call.Operate == nil:
		return object.StatusNotSupported
	case c.Phase == Selecting && call.Select != nil:
		return call.Select(c)
	case c.Phase == Selecting:
		return o.selectable(c)
	}
	status := call.Operate(&o.tx, c)
	o.reportCommand(c, status)
	return status
}

// reportCommand makes the event that belongs to a command.
func (o *Outstation) reportCommand(c Command, status object.Status) {
	at, value := database.BinaryCommand, object.Bool(c.CROB.Code.On())
	if c.Kind == object.KindAnalogCommand {
		at, value = database.AnalogCommand, c.Value
	}
	if r := o.database.Find(at, c.Index); r != nil {
		o.report(at, r, &object.Point{Value: value, Time: object.TimestampOf(c.Time), Status: status}, nil)
	}
}

// selectable is the answer to a select if the application has none of its own.
func (o *Outstation) selectable(c Command) object.Status {
	at := database.BinaryOutput
	if c.Kind == object.KindAnalogCommand {
		at = database.AnalogOutput
	}
	if o.database.Find(at, c.Index) == nil {
		return object.StatusNotSupported
	}
	return object.StatusSuccess
}
