package device

import (
	"time"

	"voltbus/device/recovery"
)

// History is where samples of devices are kept.
type History = recovery.History

// Configs returns the configurations of the last Apply, in its order. They are not to be changed.
func (f *Fleet) Configs() []Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.configs
}

// Recovery returns the part that fills gaps of devices that were away from the logs that they keep. It is to be run beside the fleet.
func (f *Fleet) Recovery(h History) *recovery.Recovery {
	return recovery.New(recovery.Options{History: h, Fleet: f, Log: f.log, Now: time.Now})
}
