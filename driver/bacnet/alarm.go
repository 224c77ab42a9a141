package bacnet

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/alarm"
	"voltbus/fault"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
)

// What a device has to do with alarms.
const (
	alarmsOff    = "off"
	alarmsListen = "listen"
	alarmsEnrol  = "enrol"
)

// alarms are those of the device of a session. Goroutines of the socket notify it.
type alarms struct {
	session *session

	mu    sync.Mutex
	table alarm.Table
	told  func(driver.Alarm) // nil: nobody listens
	at    ip.Address
	stop  func() // ends the notifications
}

var _ driver.Alarmer = (*session)(nil)

var (
	errNoAlarms = errors.New("alarms of the device are switched off; write alarms: listen")
	errNoAlarm  = errors.New("the device has no such alarm that waits to be acknowledged")
)

// Alarms implements driver.Alarmer.
func (a *alarms) Alarms(ctx context.Context, told func(driver.Alarm)) ([]driver.Alarm, bool, error) {
	const op = "bacnet.Alarms"
	s := a.session
	if s.config.Alarms == alarmsOff {
		return nil, false, nil
	}
	remote, err := s.reach(ctx)
	if err != nil {
		return nil, false, s.fail(op, err)
	}
	a.listen(remote, told)
	refusal, err := a.enrol(ctx, remote)
	if err != nil {
		return nil, false, s.fail(op, err)
	}
	all, err := remote.Events(ctx)
	if declined(err) { // it cannot tell: its notifications have to do
		return refusal, false, nil
	}
	if err != nil {
		return nil, false, s.fail(op, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	events := a.table.Replace(all, time.Now())
	for _, e := range events {
		refusal = append(refusal, a.describe(e))
	}
	return refusal, true, nil
}

// enrol has the node entered into the recipient lists of the device, if that is wanted. That the device refuses is an alarm itself.
func (a *alarms) enrol(ctx context.Context, remote client.Remote) ([]driver.Alarm, error) {
	if a.session.config.Alarms != alarmsEnrol {
		return nil, nil
	}
	_, err := alarm.Enrol(ctx, remote)
	switch {
	case errors.Is(err, alarm.ErrRouted):
	case declined(err):
		err = explain(err)
	default:
		return nil, err
	}
	text := "the device does not tell the node of alarms: " + err.Error()
	return []driver.Alarm{{Key: "recipient-list", Text: text, Severity: driver.AlarmWarning, Active: true, Since: time.Now()}}, nil
}

// listen has notifications of the device taken from now on.
func (a *alarms) listen(remote client.Remote, told func(driver.Alarm)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = told
	if a.stop != nil && a.at == remote.Address {
		return
	}
	if a.stop != nil {
		a.stop()
	}
	a.at, a.stop = remote.Address, a.session.line.socket.Events.Listen(remote.Address, a.notified)
}

// end ends the notifications.
func (a *alarms) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = nil
	if a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

// notified takes a notification.
func (a *alarms) notified(n service.EventNotification) {
	a.mu.Lock()
	e := a.table.Notify(n, time.Now())
	told := a.told
	var shown driver.Alarm
	if e != nil {
		shown = a.describe(e)
		if !shown.Active && !shown.Unacknowledged {
			a.table.Forget(e.Object)
		}
	}
	a.mu.Unlock()
	if e != nil && told != nil {
		told(shown)
	}
}

// The bounds of priorities (clause 13.4.1 and annex M, table M-1): life and property safety, then supervision and trouble.
const (
	leastCritical = 63
	leastWarning  = 191
)

// describe shows an event. The mutex is held.
func (a *alarms) describe(e *alarm.Event) driver.Alarm {
	name := e.Object.String()
	for i := range a.session.items {
		if t := &a.session.items[i]; t.Object == e.Object && t.IsPresentValue() {
			name = t.Describe()
			break
		}
	}
	out := driver.Alarm{Key: e.Object.String(), Text: e.Sentence(name), Severity: driver.AlarmInfo, Active: e.Active(), Unacknowledged: e.Unacknowledged(), Since: e.Since}
	switch {
	case e.Priority <= leastCritical:
		out.Severity = driver.AlarmCritical
	case e.Priority <= leastWarning:
		out.Severity = driver.AlarmWarning
	}
	return out
}

// Acknowledge implements driver.Alarmer.
func (a *alarms) Acknowledge(ctx context.Context, key, who string) error {
	const op = "bacnet.Acknowledge"
	s := a.session
	if s.config.Alarms == alarmsOff {
		return fault.E(op, fault.Refused, key, errNoAlarms)
	}
	remote, err := s.reach(ctx)
	if err != nil {
		return s.fail(op, err)
	}
	id, err := encoding.ParseObjectID(key)
	a.mu.Lock()
	e := a.table.Event(id)
	var requests []service.AcknowledgeRequest
	if err == nil && e != nil {
		requests = e.Acknowledgements(alarm.Process, who, time.Now())
	}
	a.mu.Unlock()
	if len(requests) == 0 {
		return fault.E(op, fault.NotFound, key, errNoAlarm)
	}
	for _, r := range requests {
		if err := remote.Acknowledge(ctx, r); err != nil {
			return s.fail(op, err)
		}
		a.mu.Lock()
		e.Acknowledged(r)
		a.mu.Unlock()
	}
	a.mu.Lock()
	shown, told := a.describe(e), a.told
	a.mu.Unlock()
	if told != nil {
		told(shown)
	}
	return nil
}
