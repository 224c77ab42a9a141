package device

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/device/alarm"
	"voltbus/device/recovery"
)

// Alarms are the alarms of all devices.
type Alarms = alarm.Alarms

// History is where samples of devices are kept.
type History = recovery.History

// Configs returns the configurations of the last Apply, in its order. The caller must not modify them.
func (f *Fleet) Configs() []Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.configs
}

// Alarms returns the part that shows alarms of devices as alerts, by functions of a keeper of alerts. LookAfter runs it.
func (f *Fleet) Alarms(raise func(key string, message []byte) error, open func() []string) *Alarms {
	return alarm.New(alarm.Options{Fleet: f, Raise: raise, Open: open, Log: f.log, Now: time.Now})
}

// LookAfter does until ctx ends what devices need that are reachable anew, beside Run: gaps are filled from the logs that they
// keep, and their alarms are shown. It returns nil.
func (f *Fleet) LookAfter(ctx context.Context, h History, a *Alarms) error {
	var both errgroup.Group
	both.Go(func() error {
		return recovery.New(recovery.Options{History: h, Fleet: f, Log: f.log, Now: time.Now}).Run(ctx)
	})
	both.Go(func() error { return a.Run(ctx) })
	return both.Wait()
}
