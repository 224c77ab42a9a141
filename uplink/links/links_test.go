package links_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/uplink/links"
)

// diary is what was told of links.
type diary struct {
	*links.Links
	mu    sync.Mutex
	lines []string
}

// keep runs a diary in virtual time, until stop.
func keep(t *testing.T) (d *diary, stop func()) {
	t.Helper()
	d = &diary{}
	d.Links = links.NewLinks(func(turn links.Turn) {
		d.mu.Lock()
		defer d.mu.Unlock()
		line := fmt.Sprintf("%s up=%v %s", turn.Neighbour, turn.Up, turn.Reason)
		if !turn.Since.IsZero() {
			line = fmt.Sprintf("%s up=%v lost %d made %d since %v: %s", turn.Neighbour, turn.Up, turn.Lost, turn.Made, time.Since(turn.Since), turn.Reason)
		}
		d.lines = append(d.lines, line)
	})
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = d.Run(ctx) })
	return d, func() { end(); running.Wait() }
}

// take returns the lines since it was called last.
func (d *diary) take() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

func (d *diary) says(t *testing.T, want ...string) {
	t.Helper()
	if got := d.take(); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func (d *diary) made(name string)      { d.Note(links.Turn{Neighbour: name, Up: true}) }
func (d *diary) lost(name, why string) { d.Note(links.Turn{Neighbour: name, Reason: why}) }

func TestTheFirstLossAndReturnOfALinkAreToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, stop := keep(t)
		d.made("plant")
		d.says(t, "plant up=true ")
		d.lost("plant", "cut")
		d.says(t, "plant up=false cut")
		d.made("plant")
		d.says(t, "plant up=true ")
		d.lost("other", "silent")
		d.says(t, "other up=false silent")
		time.Sleep(11 * time.Minute) //nolint:forbidigo // virtual time
		d.lost("plant", "cut again")
		d.made("plant")
		d.says(t, "plant up=false cut again", "plant up=true ")
		stop()
		d.says(t)
	})
}

func TestOfALinkThatFlapsOneSumIsToldEachTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, stop := keep(t)
		d.made("plant")
		for i := range 15 {
			d.lost("plant", fmt.Sprint("cut ", i))
			d.made("plant")
		}
		d.says(t, "plant up=true ", "plant up=false cut 0", "plant up=true ")
		time.Sleep(10 * time.Minute) //nolint:forbidigo // virtual time
		d.says(t, "plant up=true lost 14 made 14 since 10m0s: cut 14")
		d.lost("plant", "cut for long")
		d.says(t)
		time.Sleep(10 * time.Minute) //nolint:forbidigo // as above
		d.says(t, "plant up=false lost 1 made 0 since 10m0s: cut for long")
		time.Sleep(11 * time.Minute) //nolint:forbidigo // as above
		d.made("plant")
		d.says(t, "plant up=true ")
		stop()
		d.says(t)
	})
}

func TestWhatWasCountedIsToldWhenTheNodeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, stop := keep(t)
		for range 3 {
			d.lost("plant", "cut")
			d.made("plant")
		}
		d.take()
		stop()
		d.says(t, "plant up=true lost 2 made 2 since 0s: cut")
	})
}

func TestParentAndChildOfOneNameAreTwoLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, stop := keep(t)
		d.lost("x", "below")
		d.Note(links.Turn{Neighbour: "x", Above: true, Reason: "above"})
		d.says(t, "x up=false below", "x up=false above")
		stop()
	})
}
