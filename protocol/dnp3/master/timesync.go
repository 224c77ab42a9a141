package master

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// timeSync sets a clock in one or two exchanges.
type timeSync struct {
	how    TimeSync
	writes bool      // the second exchange
	sent   time.Time // when the first one was sent
	delay  time.Duration
}

// SyncTime sets the outstation's clock to the time at which the request is sent.
func SyncTime(how TimeSync) *Request {
	return &Request{name: "time synchronization", exchange: &timeSync{how: how, writes: how == DirectWrite || how == NoTimeSync}}
}

func (t *timeSync) function() app.Function {
	switch {
	case t.writes:
		return app.FuncWrite
	case t.how == LAN:
		return app.FuncRecordCurrentTime
	default:
		return app.FuncDelayMeasure
	}
}

func (t *timeSync) write(w *app.Writer, now time.Time) error {
	switch {
	case !t.writes:
		t.sent = now
		return nil
	case t.how == LAN:
		return w.Time(object.G50V3, object.TimestampOf(t.sent))
	default:
		return w.Time(object.G50V1, object.TimestampOf(now.Add(t.delay)))
	}
}

// answer takes the answer of the first exchange: for NonLAN the time that the
// outstation needed, which is no part of the delay of the line.
func (t *timeSync) answer(f app.Fragment, now time.Time, _ *Result) error {
	if t.writes || t.how != NonLAN {
		return nil
	}
	inside, known := time.Duration(0), false
	for h, err := range f.Headers() {
		if err != nil {
			return err
		}
		for o := range h.Objects() {
			inside, known = o.Delay()
		}
	}
	if !known && !refused(f.IIN) {
		return ErrMalformed
	}
	t.delay = max(0, (now.Sub(t.sent)-inside)/2)
	return nil
}

func (t *timeSync) more() bool {
	if t.writes {
		return false
	}
	t.writes = true
	return true
}
