package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
)

// cooler switches the unit of a house each ten minutes, and tells its neighbour.
type cooler struct {
	Temp  float64
	Heard int
	fails bool
}

func (c *cooler) Begin(d *Access) error {
	d.Listen("house.*.temp")
	return d.Wake(10 * time.Minute)
}

func (c *cooler) Scan(_ *Access, _ string, points map[string]float64) error {
	c.Temp = points["temp"]
	return nil
}

func (c *cooler) Message(_ *Access, _ string, data []byte) error {
	c.Heard++
	return json.Unmarshal(data, new(float64))
}

func (c *cooler) Wake(d *Access) error {
	if c.fails && d.Now() > 30*time.Minute {
		return errors.New("the table of the chiller has ended")
	}
	on := 0.0
	if c.Temp > 23 {
		on = 1
	}
	site := d.seat.site
	return errors.Join(d.Command(site+"/zone/on", on), d.Publish("house."+site+".temp", c.Temp+d.Rand().Float64()), d.Wake(10*time.Minute))
}

func (c *cooler) Save() ([]byte, error) { return json.Marshal(c) }

func (c *cooler) Load(state []byte) error { return json.Unmarshal(state, c) }

const houses = `
world: {name: houses, start: 2026-07-01T10:00:00Z, duration: 4h, seed: 3}
sites:
  - name: house
    copies: 2
    models:
      - {name: weather, kind: weather}
      - {name: zone, kind: zone, inputs: {outdoor: weather.temp}, commands: ["on"]}
links:
  - {from: house-1, to: house-2, delay: 50ms, loss: 0.1}
`

// withCoolers makes a world of houses.
func withCoolers(t *testing.T, fails bool, history *bytes.Buffer) (*World, *cooler) {
	t.Helper()
	w, err := New(parsed(t, houses), Options{History: history})
	must(t, err)
	first := &cooler{fails: fails}
	must(t, w.AddProgram("house-1", first))
	must(t, w.AddProgram("house-2", &cooler{}))
	return w, first
}

func TestProgramsInGoFollowTheClock(t *testing.T) {
	var first, second, rest bytes.Buffer
	w, c := withCoolers(t, false, &first)
	must(t, w.Run(t.Context(), 0))
	whole := w.Result()
	if c.Heard < 15 || whole.Commands != 48 || len(whole.Failures) > 0 || !strings.Contains(first.String(), "house-1/zone/on,1,commanded") {
		t.Errorf("heard %d, %+v", c.Heard, whole)
	}
	again, _ := withCoolers(t, false, &second)
	must(t, again.Run(t.Context(), 0))
	if again.Result().Digest != whole.Digest || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs with one seed differ")
	}
	half, _ := withCoolers(t, false, &second)
	must(t, half.Run(t.Context(), 95*time.Minute))
	saved, err := half.Save()
	must(t, err)
	other, _ := withCoolers(t, false, &rest)
	must(t, other.Load(saved))
	must(t, other.Run(t.Context(), 0))
	if other.Result().Digest != whole.Digest {
		t.Error("the run that goes on differs from the whole one")
	}
}

func TestALinkThatIsCutForAnHourCarriesNothingAndThenAgain(t *testing.T) {
	f := parsed(t, strings.Replace(houses, "loss: 0.1", "cuts: [{from: 61m, to: 121m}]", 1))
	w, err := New(f, Options{})
	must(t, err)
	first, second := &cooler{}, &cooler{}
	must(t, w.AddProgram("house-1", first))
	must(t, w.AddProgram("house-2", second))
	heard := func(until time.Duration) int {
		must(t, w.Run(t.Context(), until))
		return first.Heard + second.Heard
	}
	before, within, after := heard(61*time.Minute), heard(121*time.Minute), heard(4*time.Hour-time.Second)
	if before != 12 || within != 12 || after != 12+2*11 {
		t.Errorf("heard %d before the cut, %d until its end, %d until the end", before, within, after)
	}
	r := w.Result()
	var text bytes.Buffer
	must(t, r.Text(&text))
	if r.Commands != 46 || len(r.Failures) > 0 || !strings.Contains(text.String(), "12 not sent or lost in cuts") {
		t.Errorf("%d commands, failures %v:\n%s", r.Commands, r.Failures, text.String())
	}
}

func TestAProgramThatFailsIsMarkedAndTheRunGoesOn(t *testing.T) {
	w, _ := withCoolers(t, true, new(bytes.Buffer))
	must(t, w.Run(t.Context(), 0))
	r := w.Result()
	if len(r.Failures) != 1 || r.Failures[0].Actor != "house-1 agents" || r.Failures[0].At != 40*time.Minute || r.Simulated != 4*time.Hour {
		t.Errorf("%+v", r)
	}
	if err := w.AddProgram("house-1", &cooler{}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	if err := w.AddProgram("nowhere", &cooler{}); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
}
