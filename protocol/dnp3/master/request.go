package master

import (
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
)

// Errors of requests, wrapped in words that say which.
var (
	// ErrTimeout says that no answer came in time; whether the request was carried out
	// is unknown.
	ErrTimeout = errors.New("no answer in time: check the address and the line, or allow more time")
	// ErrClosed says that the line is not open, or was lost before the answer.
	ErrClosed = errors.New("the line is closed: try again when it is open")
	// ErrRefused says that the outstation refused the request, see Result.IIN.
	ErrRefused = errors.New("the outstation refused the request")
	// ErrPartial says that the outstation answered a read with values and refused the rest, which is no error of the
	// request: see Result.IIN.
	ErrPartial = errors.New("the outstation has not all that was asked for")
	// ErrStatus says that the outstation refused a command, see Result.Statuses.
	ErrStatus = errors.New("the outstation refused the command")
	// ErrMalformed says that the answer could not be read or is not one to the request.
	ErrMalformed = errors.New("the answer is malformed: look at the traffic, the device may be faulty")
	// ErrFull says that too many requests wait.
	ErrFull = errors.New("too many requests wait: send fewer, or raise the bound")
	// ErrBroadcast says that a request cannot be broadcast.
	ErrBroadcast = errors.New("only writes, commands without an answer, freezes and the like can be sent to a broadcast address")
	// ErrTooLong says that a request does not fit into one fragment.
	ErrTooLong = errors.New("the request does not fit into one fragment: split it")
)

// Result is the result of a request.
type Result struct {
	// IIN holds the indications of the last fragment of the answer, and of all its fragments if they say that the
	// outstation has not all that was asked for.
	IIN app.IIN
	// Delay is how long a restart takes, for Restart.
	Delay time.Duration
	// Statuses are the statuses of commands, in their order.
	Statuses []object.Status
	// Activation is the answer to Activate.
	Activation object.Activation
	// Key is what Authenticate got.
	Key uint32
}

// Priority orders waiting requests.
type Priority int8

// Priorities. What the association does by itself at the start stands between Control
// and Normal.
const (
	Low Priority = iota - 1
	Normal
	Control
)

// Request is a master's request to an outstation. It is created by one of the functions of this package and
// can be submitted once.
type Request struct {
	name      string
	priority  Priority
	exchange  exchange
	broadcast link.Address
}

// Broadcast sends the request to all outstations on the line, from the address of the
// association's port, with the way they are to confirm that: one of
// link.BroadcastNoConfirm, link.BroadcastConfirm and link.BroadcastOptional. None of them
// answers; success means only that the request was sent. It is for requests that change
// something: writes, commands without an answer, freezes, a clock set by LAN or DirectWrite.
func (r *Request) Broadcast(to link.Address) *Request {
	r.broadcast = to
	return r
}

// Priority changes the priority of a request that waits behind others.
func (r *Request) Priority(p Priority) *Request {
	r.priority = p
	return r
}

// String names the request.
func (r *Request) String() string { return r.name }

// exchange is the content of a request: one question and answer, or several.
type exchange interface {
	// write writes the next question.
	write(w *app.Writer, now time.Time) error
	// function returns the function code of the next question.
	function() app.Function
	// answer takes the fragments of the answer in order.
	answer(f app.Fragment, now time.Time, result *Result) error
	// more reports whether another question follows a complete answer.
	more() bool
}

// single is an exchange of one question whose answer holds nothing but indications.
type single struct {
	code    app.Function
	objects func(w *app.Writer) error
}

func (s *single) function() app.Function { return s.code }

func (s *single) write(w *app.Writer, _ time.Time) error {
	if s.objects == nil {
		return nil
	}
	return s.objects(w)
}

func (s *single) answer(app.Fragment, time.Time, *Result) error { return nil }
func (s *single) more() bool                                    { return false }

func newRequest(name string, code app.Function, objects func(w *app.Writer) error) *Request {
	return &Request{name: name, exchange: &single{code: code, objects: objects}}
}

// ReadClasses reads classes: Integrity, or EventClasses, or some of them.
func ReadClasses(c app.Classes) *Request {
	name := "class poll"
	if c&app.Class0 != 0 {
		name = "integrity poll"
	}
	return newRequest(name, app.FuncRead, func(w *app.Writer) error { return w.Classes(c) })
}

// Read reads what objects writes into the request, such as several ranges.
func Read(objects func(w *app.Writer) error) *Request {
	return newRequest("read", app.FuncRead, objects)
}

// ReadRange reads the objects start to stop of a variation; variation 0 leaves the
// choice to the outstation.
func ReadRange(v object.Variation, start, stop uint32) *Request {
	return newRequest(fmt.Sprintf("read %v %d–%d", v, start, stop), app.FuncRead,
		func(w *app.Writer) error { return w.Range(v, start, stop) })
}

// ReadAll reads all objects of a variation.
func ReadAll(v object.Variation) *Request {
	return newRequest(fmt.Sprintf("read %v", v), app.FuncRead, func(w *app.Writer) error { return w.All(v) })
}

// EnableUnsolicited allows the outstation to report events of classes unsolicited.
func EnableUnsolicited(c app.Classes) *Request {
	return newRequest("enable unsolicited", app.FuncEnableUnsolicited,
		func(w *app.Writer) error { return w.Classes(c & app.EventClasses) })
}

// DisableUnsolicited forbids it.
func DisableUnsolicited(c app.Classes) *Request {
	return newRequest("disable unsolicited", app.FuncDisableUnsolicited,
		func(w *app.Writer) error { return w.Classes(c & app.EventClasses) })
}

// ClearRestart clears the indication that the outstation restarted.
func ClearRestart() *Request {
	return newRequest("clear restart", app.FuncWrite, func(w *app.Writer) error { return w.ClearRestart() })
}

// WriteDeadbands sets dead-bands of analog inputs: v is g34v1 (16 bit), g34v2 (32 bit)
// or g34v3 (single precision); the value of each point is its dead-band.
func WriteDeadbands(v object.Variation, points []object.Point) *Request {
	return newRequest("write dead-bands", app.FuncWrite, func(w *app.Writer) error {
		for i := range points {
			if err := w.Indexed(v, points[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// AssignClass puts the points that objects names into an event class; 0 makes them
// report no events.
func AssignClass(c app.Classes, objects func(w *app.Writer) error) *Request {
	if c == 0 {
		c = app.Class0
	}
	return newRequest("assign class", app.FuncAssignClass, func(w *app.Writer) error {
		if err := w.Classes(c); err != nil {
			return err
		}
		return objects(w)
	})
}

// FreezeClear freezes what objects names, such as all counters, and then clears it.
func FreezeClear(objects func(w *app.Writer) error) *Request {
	return newRequest("freeze and clear", app.FuncFreezeClear, objects)
}

// Freeze freezes what objects names.
func Freeze(objects func(w *app.Writer) error) *Request {
	return newRequest("freeze", app.FuncFreeze, objects)
}

// FreezeUnanswered freezes what objects names, and clears it if clears is true; the
// outstation does not answer.
func FreezeUnanswered(clears bool, objects func(w *app.Writer) error) *Request {
	code := app.FuncFreezeNoAck
	if clears {
		code = app.FuncFreezeClearNoAck
	}
	return newRequest("freeze, no answer", code, objects)
}

// FreezeAt freezes what objects names at a time, and from then on every interval if
// that is not 0.
func FreezeAt(at time.Time, interval time.Duration, objects func(w *app.Writer) error) *Request {
	return newRequest("freeze at time", app.FuncFreezeAtTime, func(w *app.Writer) error {
		if err := w.TimeInterval(object.TimestampOf(at), interval); err != nil {
			return err
		}
		return objects(w)
	})
}
