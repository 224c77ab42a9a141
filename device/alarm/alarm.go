// Package alarm shows the alarms of devices (ISA-18.2) as alerts of the node: it lists them when a device is reachable anew and every few
// minutes, takes what the device tells meanwhile, and acknowledges them to the device.
package alarm

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/recovery"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Options are what alarms are shown with.
type Options struct {
	Fleet recovery.Fleet
	// Raise opens, changes or ends the alert of a key, as presence.AgentHealth.Alert does.
	Raise func(key string, message []byte) error
	// Open lists the keys of the alerts that are open, also those from before the node started.
	Open func() []string
	Log  *slog.Logger
	Now  func() time.Time
}

// listEvery is how often a device that is reachable is asked for its alarms: notifications can be lost.
const listEvery = 10 * time.Minute

// Alarms are the alarms of all devices. They are safe for concurrent use.
type Alarms struct {
	o Options

	mu      sync.Mutex
	waiting map[string]bool // keys of alerts that wait to be acknowledged
}

// New returns alarms, of which nothing is known before Run.
func New(o Options) *Alarms { return &Alarms{o: o, waiting: make(map[string]bool)} }

// Run looks after the alarms until ctx ends, and returns nil.
func (a *Alarms) Run(ctx context.Context) error {
	w := recovery.Watch{
		Fleet: a.o.Fleet, Repeat: listEvery, Log: a.o.Log, Now: a.o.Now, Task: "list the alarms of the device",
		Do: func(ctx context.Context, c acquisition.Config, _ recovery.Absence) error { return a.list(ctx, c.Path) },
	}
	return w.Run(ctx)
}

// list asks a device for its alarms. Alerts of those that it has not got any more end.
func (a *Alarms) list(ctx context.Context, device point.Path) error {
	var list []driver.Alarm
	var all bool
	err := a.o.Fleet.Do(ctx, device, func(ctx context.Context, s driver.Session) (err error) {
		if alarmer, can := s.(driver.Alarmer); can {
			list, all, err = alarmer.Alarms(ctx, func(x driver.Alarm) { a.show(device, x) })
		}
		return err
	})
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(list))
	for _, x := range list {
		there[keyOf(device, x.Key)] = true
		a.show(device, x)
	}
	if !all {
		return nil
	}
	for _, key := range a.o.Open() {
		if path, _, is := split(key); is && path == device && !there[key] {
			a.end(key)
		}
	}
	return nil
}

// maxText bounds the text of an alert, which comes from a device.
const maxText = 1024

// show raises the alert of an alarm, or ends it.
func (a *Alarms) show(device point.Path, x driver.Alarm) {
	key := keyOf(device, x.Key)
	if !x.Active && !x.Unacknowledged {
		a.end(key)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock() // alerts of one key are told in order
	a.waiting[key] = x.Unacknowledged
	text := strings.ToValidUTF8(x.Text[:min(len(x.Text), maxText)], "")
	a.raise(key, map[string]any{"text": text, "severity": x.Severity, "since": x.Since})
}

func (a *Alarms) end(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, key)
	a.raise(key, map[string]any{"cleared": true})
}

func (a *Alarms) raise(key string, message map[string]any) {
	text, err := json.Marshal(message)
	if err == nil {
		err = a.o.Raise(key, text)
	}
	if err != nil {
		a.o.Log.Warn("an alarm of a device cannot be shown", slog.String("alert", key), slog.Any("err", err))
	}
}

// separator stands between the path of a device and what the alarm is about. Paths have no spaces in front of the name of an object.
const separator = " "

// keyOf is the key of the alert of an alarm.
func keyOf(device point.Path, about string) string { return string(device) + separator + about }

// split is the opposite of keyOf; false for the key of another alert.
func split(key string) (device point.Path, about string, is bool) {
	at := strings.LastIndex(key, separator)
	if at < 0 {
		return "", "", false
	}
	return point.Path(key[:at]), key[at+1:], true
}

// Waits reports whether an alert is of an alarm that waits to be acknowledged.
func (a *Alarms) Waits(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting[key]
}

var errNone = errors.New("it is no alarm of a device; only those are acknowledged")

// Acknowledge tells the device of an alarm that somebody has seen it. fault.NotFound: it is no alarm of a device, or it does
// not wait for that.
func (a *Alarms) Acknowledge(ctx context.Context, key, who string) error {
	device, about, is := split(key)
	if !is {
		return fault.E("alarm.Acknowledge", fault.NotFound, key, errNone)
	}
	return a.o.Fleet.Do(ctx, device, func(ctx context.Context, s driver.Session) error {
		alarmer, can := s.(driver.Alarmer)
		if !can {
			return fault.E("alarm.Acknowledge", fault.NotFound, key, errNone)
		}
		return alarmer.Acknowledge(ctx, about, who)
	})
}

// Look asks the device of an alert for its alarms again; the alert of a device that is not configured any more ends.
func (a *Alarms) Look(ctx context.Context, key string) {
	device, _, is := split(key)
	if !is {
		return
	}
	if err := a.list(ctx, device); fault.Is(err, fault.NotFound) {
		a.end(key)
	}
}
