package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/virtual/kernel"
)

// Scan is what a device reported at a moment.
type Scan struct {
	At      time.Duration     `json:"-"` // since the start of the world
	Device  string            `json:"device"`
	Points  map[string]any    `json:"points"` // by their names within the device: numbers, texts, true, false
	Quality map[string]string `json:"quality,omitempty"`
	Kept    bool              `json:"recorded,omitempty"` // in the history that agents can ask for
}

const kindPlay = "play" // of a player: the next scans are due

// player has a site report what was recorded.
type player struct {
	site  string
	scans []Scan
	next  int
}

// Play has the devices of a site report scans, which are in the order of time, to the agents of the site.
func (w *World) Play(site string, scans []Scan) error {
	if w.plants[site] == nil {
		return fault.E("world.Play", fault.NotFound, site, errors.New("there is no such site"))
	}
	for i := 1; i < len(scans); i++ {
		if scans[i].At < scans[i-1].At {
			return fault.E("world.Play", fault.Invalid, scans[i].Device, fmt.Errorf("a scan at %s is behind one at %s: the clock of a world does not run backwards", scans[i].At, scans[i-1].At))
		}
	}
	if len(scans) == 0 {
		return nil
	}
	p := &player{site: site, scans: scans}
	name := site + " recording"
	if err := w.kernel.Add(site, name, p); err != nil {
		return err
	}
	return w.kernel.Schedule(kernel.Event{At: scans[0].At, To: name, Kind: kindPlay})
}

// Handle implements kernel.Actor.
func (p *player) Handle(s *kernel.Scope, _ *kernel.Event) error {
	for p.next < len(p.scans) && p.scans[p.next].At <= s.Now() {
		body, err := json.Marshal(&p.scans[p.next])
		if err != nil {
			return err
		}
		if err := s.Send(agentsOf(p.site), kindScan, body); err != nil {
			return err
		}
		p.next++
	}
	if p.next == len(p.scans) {
		return nil
	}
	return s.After(p.scans[p.next].At-s.Now(), kindPlay, nil)
}

// Save implements kernel.Actor.
func (p *player) Save() ([]byte, error) { return json.Marshal(p.next) }

// Load implements kernel.Actor.
func (p *player) Load(state []byte) error { return json.Unmarshal(state, &p.next) }
