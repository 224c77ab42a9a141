package outstation

import (
	"hash/crc32"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/outstation/event"
	"voltbus/protocol/dnp3/station"
)

// solicited answers requests (clause 4.2.2), and repeats an answer that was lost.
type solicited struct {
	config      *SessionConfig
	events      *event.Buffer
	indications *indications
	reader      *reader
	last        request  // the request answered last
	answer      []byte   // its answer, if it must be repeated rather than made again
	response    response // a fragment that waits for its confirmation
}

// request identifies a request, to recognize a repeated one.
type request struct {
	valid    bool
	sequence app.Sequence
	size     int
	sum      uint32
}

// response is a solicited fragment whose confirmation is awaited.
type response struct {
	buffer   *station.Buffer
	sequence app.Sequence
	due      time.Time
}

// requestOf returns what identifies a request.
func requestOf(octets []byte, f app.Fragment) request {
	return request{valid: true, sequence: f.Control.Sequence(), size: len(octets), sum: crc32.ChecksumIEEE(octets)}
}

// waits reports whether a fragment waits for its confirmation.
func (a *solicited) waits() bool { return a.response.buffer != nil }

// reply sends an answer of one fragment and keeps it, in case the request is repeated.
func (a *solicited) reply(f app.Fragment, iin app.IIN, objects func(w *app.Writer) error, out *station.Output) {
	control := f.Control.Sequence().Single()
	if a.indications.broadcast == broadcastConfirm {
		control |= app.CON
	}
	w := app.NewResponse(out.Scratch(), control, app.FuncResponse, 0)
	if objects != nil {
		if err := objects(&w); err != nil {
			iin |= app.IINParameterError
		}
	}
	w.SetIIN(iin | a.indications.iin())
	a.send(w.Bytes(), out)
}

// replyObject answers with an object of a size of its own, or with why there is none.
func (a *solicited) replyObject(f app.Fragment, object app.FreeObject, iin app.IIN, out *station.Output) {
	if object == nil {
		a.reply(f, iin, nil, out)
		return
	}
	a.reply(f, 0, func(w *app.Writer) error { return w.Free(object) }, out)
}

// send sends a finished answer.
func (a *solicited) send(fragment []byte, out *station.Output) {
	out.Send(fragment)
	a.answer = append(a.answer[:0], fragment...)
	if a.indications.broadcast != broadcastConfirm {
		a.indications.broadcast = broadcastNone
	}
}

// read answers FC 1.
func (a *solicited) read(now time.Time, f app.Fragment, out *station.Output) {
	iin := a.reader.planRead(f)
	if len(a.reader.plan) == 0 {
		a.reader.plan = nil
		a.reply(f, iin, nil, out)
		a.answer = a.answer[:0]
		return
	}
	a.reader.refused = iin
	a.respond(now, f.Control.Sequence(), true, out)
}

// respond sends the next fragment of the answer to a read.
func (a *solicited) respond(now time.Time, sequence app.Sequence, first bool, out *station.Output) {
	buffer := out.Pool().Borrow()
	w := app.NewResponse(buffer.Octets, 0, app.FuncResponse, 0)
	a.reader.fill(&w, now)
	control := app.Control(sequence)
	if first {
		control |= app.FIR
	}
	if a.reader.plan == nil {
		control |= app.FIN
	}
	if a.events.Sent() > 0 || a.reader.plan != nil || a.indications.broadcast == broadcastConfirm {
		control |= app.CON
	}
	w.SetControl(control)
	w.SetIIN(a.reader.refused | a.indications.iin())
	buffer.Octets = w.Bytes()
	out.Send(buffer.Octets)
	if !control.Confirm() {
		a.indications.broadcast = broadcastNone
		out.Pool().Return(buffer)
		return
	}
	a.events.Tell()
	a.response = response{buffer: buffer, sequence: sequence, due: now.Add(a.config.ConfirmTimeout)}
}

// repeat answers a repeated request as before without doing anything again, false if
// it is a read whose answer can be made again.
func (a *solicited) repeat(f app.Fragment, out *station.Output) bool {
	switch {
	case a.response.buffer != nil:
		out.Send(a.response.buffer.Octets)
	case len(a.answer) > 0:
		out.Send(a.answer)
	default:
		return f.Function != app.FuncRead
	}
	return true
}

// abandon gives up waiting for a confirmation: the events wait again.
func (a *solicited) abandon(out *station.Output) {
	a.reader.plan = nil
	if a.response.buffer == nil {
		return
	}
	out.Pool().Return(a.response.buffer)
	a.response = response{}
	a.events.PutBack()
}

// confirm takes the confirmation of the fragment that waits for one, and returns the sequence number of the next.
// It returns false if the confirmation is of another fragment.
func (a *solicited) confirm(c app.Control, out *station.Output) (next app.Sequence, ok bool) {
	if !a.waits() {
		if c.Sequence() == a.last.sequence { // of an answer that told of a broadcast
			a.indications.broadcast = broadcastNone
		}
		return 0, false
	}
	if c.Sequence() != a.response.sequence {
		return 0, false
	}
	next = a.response.sequence.Next()
	out.Pool().Return(a.response.buffer)
	a.response = response{}
	return next, true
}

// drop forgets the request, its answer and what is left of a read. The events of a response wait again.
func (a *solicited) drop() {
	a.answer = nil
	a.reader.plan = nil
	if a.waits() {
		a.response = response{}
		a.events.PutBack()
	}
}
