package device

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"voltbus/driver"
	"voltbus/point"
)

// A history is what happens to a site in an hour: devices fall silent, crash, hang, err and
// recover, lines are cut and mended, devices are added, changed and removed. Through all of it
// the healthy devices are read in each slot, and nothing is lost from the books.

// troubles are what may befall a device.
var troubles = []string{"well", "silent", "err", "crash", "drop", "hang"}

// befall makes a device of the plant behave so.
func befall(s *site, unit, trouble string, release <-chan struct{}) {
	scripts := map[string]script{
		"silent": timesOut(50 * time.Millisecond),
		"err":    func(context.Context) error { return fmt.Errorf("odd") },
		"crash":  func(context.Context) error { panic("odd") },
		"drop":   func(context.Context) error { return driver.ErrNotConnected },
		"hang":   hangs(release),
	}
	s.plant.script(unit, scripts[trouble])
}

func TestThroughAnyHistoryHealthyDevicesAreReadInEverySlot(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.SliceOfN(rapid.IntRange(0, 1<<30), 60, 60).Draw(rt, "history")
		synctest.Test(t, func(t *testing.T) { runHistory(t, rt, seed) })
	})
}

const (
	patients = 6 // devices that have trouble: p0 to p2 on the line "shared", the others on their own
	step     = time.Second
)

func runHistory(t *testing.T, rt *rapid.T, seed []int) {
	t.Helper()
	s := newSite(t, Limits{Probe: 20 * time.Second, RedialMost: 10 * time.Second})
	release := make(chan struct{})
	variant := make([]int, patients)
	present := make([]bool, patients)
	configure := func() { s.apply(siteWith(s, variant, present)...) }
	configure()
	stop := s.start()
	pass(step / 3) // between slots
	for _, n := range seed {
		i := n % patients
		switch action := n / patients % 10; action {
		case 0:
			present[i] = !present[i]
			configure()
		case 1:
			variant[i]++
			configure()
		case 2:
			s.plant.setCut(fmt.Sprint("line", i), n/100%2 == 0)
		default:
			trouble := troubles[action%len(troubles)]
			if i < 3 && (trouble == "hang" || trouble == "drop" || trouble == "crash") {
				trouble = "silent" // what stops a line stops all its devices
			}
			befall(s, fmt.Sprint("p", i), trouble, release)
		}
		pass(time.Duration(n/1000%20+1) * step)
	}
	elapsed := time.Since(s.out.start)
	checkHealthy(rt, s, "b/alone", elapsed, time.Second)
	checkHealthy(rt, s, "b/shared", elapsed, 2*time.Second)
	close(release)
	for i := range patients {
		present[i] = true
		s.plant.setCut(fmt.Sprint("line", i), false)
		befall(s, fmt.Sprint("p", i), "well", nil)
	}
	configure()
	pass(2 * time.Minute)
	for _, state := range s.Devices() {
		if state.Status != Online {
			rt.Errorf("%s is %v two minutes after all is well: %s", state.Path, state.Status, state.LastError)
		}
	}
	stop()
}

// siteWith returns the healthy devices and those patients that are present.
func siteWith(s *site, variant []int, present []bool) []Config {
	devices := []Config{
		s.device("alone", "alone", every(time.Second)),
		s.device("shared", "shared", every(2*time.Second)),
	}
	for i := range patients {
		if !present[i] {
			continue
		}
		line := "shared"
		if i >= 3 {
			line = fmt.Sprint("line", i)
		}
		c := s.device(line, fmt.Sprint("p", i), every(time.Second))
		c.Timeout = 100 * time.Millisecond
		c.Driver.(*wiring).flavor = fmt.Sprint(variant[i])
		devices = append(devices, c)
	}
	return devices
}

// checkHealthy fails unless the device gave one good scan for each slot.
func checkHealthy(rt *rapid.T, s *site, device point.Path, elapsed, interval time.Duration) {
	scans := s.out.scansOf(device)
	if want := int(elapsed / interval); len(scans) != want {
		rt.Errorf("%s: %d scans in %d slots", device, len(scans), want)
	}
	for i, scan := range scans {
		if want := time.Duration(i+1) * interval; scan.At != want || scan.Quality != point.Good {
			rt.Fatalf("%s: scan %d is %v for slot %v, want good for %v", device, i, scan.Quality, scan.At, want)
		}
	}
	state := s.stateOf(device)
	if sum := state.Reads + state.Failures + state.Skipped + state.Overruns; sum != uint64(len(scans)) {
		rt.Errorf("%s: %d slots are accounted for, want %d", device, sum, len(scans))
	}
}

func TestEverySlotOfAnyDeviceIsAccountedForOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		changes := rapid.SliceOfN(rapid.IntRange(0, 99), 30, 30).Draw(rt, "changes")
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, Limits{Probe: 10 * time.Second, RedialMost: 8 * time.Second})
			s.apply(s.device("l", "a", every(time.Second)), s.device("l", "b", every(time.Second)))
			stop := s.start()
			pass(step / 2)
			for _, n := range changes {
				befall(s, []string{"a", "b"}[n%2], troubles[n%5], nil)
				s.plant.setCut("l", n%7 == 0)
				pass(time.Duration(n) * step / 5)
			}
			s.plant.setCut("l", false)
			befall(s, "a", "well", nil)
			befall(s, "b", "well", nil)
			pass(time.Minute)
			elapsed := time.Since(s.out.start)
			for _, state := range s.Devices() {
				sum := state.Reads + state.Failures + state.Skipped + state.Overruns
				if want := uint64(elapsed / time.Second); sum != want {
					rt.Errorf("%s: %d of %d slots are accounted for: %+v", state.Path, sum, want, state)
				}
				if scans := len(s.out.scansOf(state.Path)); uint64(scans) != sum-state.Overruns {
					rt.Errorf("%s: %d scans for %d slots", state.Path, scans, sum-state.Overruns)
				}
			}
			stop()
		})
	})
}
