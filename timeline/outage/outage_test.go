package outage_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/device"
	"voltbus/device/acquisition"
	"voltbus/point"
	"voltbus/timeline/outage"
)

// site has devices with states, and what was told of them.
type site struct {
	mu     sync.Mutex
	states map[string]acquisition.Status
	told   []string
}

func (s *site) devices() (list []device.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range 20 {
		path := fmt.Sprintf("d%02d", i)
		if status, is := s.states[path]; is {
			list = append(list, device.State{Path: point.Path(path), Status: status, LastError: "timeout"})
		}
	}
	return list
}

func (s *site) tell(t outage.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fmt.Sprintf("%s %d lost=%v %s%v", t.First, t.Devices, t.Lost, t.Why, t.Lasted))
}

// set gives devices a state for a time, and returns what was told.
func (s *site) set(status acquisition.Status, length time.Duration, paths ...string) string {
	s.mu.Lock()
	s.told = nil
	for _, p := range paths {
		s.states[p] = status
	}
	s.mu.Unlock()
	<-time.After(length)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.told, ", ")
}

func TestOutagesAreToldOnceTheyLastAndManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{states: map[string]acquisition.Status{}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- outage.New(outage.Options{Devices: s.devices, Told: s.tell, Now: time.Now}).Run(ctx) }()
		expect := func(got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		all := []string{"d00", "d01", "d02", "d03", "d04", "d05", "d06", "d07"}
		expect(s.set(acquisition.Offline, time.Minute, "d00"), "") // nobody knows since when
		expect(s.set(acquisition.Online, time.Minute, all...), "")
		expect(s.set(acquisition.Offline, 5*time.Second, "d01"), "") // too short
		expect(s.set(acquisition.Online, time.Minute, "d01"), "")
		expect(s.set(acquisition.Offline, time.Minute, "d01", "d02"), "d01 1 lost=true timeout0s, d02 1 lost=true timeout0s")
		expect(s.set(acquisition.Disabled, time.Minute, "d02"), "")
		expect(s.set(acquisition.Online, time.Minute, "d01"), "d01 1 lost=false 2m0s")
		expect(s.set(acquisition.Online, time.Minute, all...), "d02 1 lost=false 3m0s")
		expect(s.set(acquisition.Hung, time.Minute, all...), "d00 8 lost=true timeout0s")
		expect(s.set(acquisition.Online, time.Minute, all...), "d00 8 lost=false 1m0s")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
