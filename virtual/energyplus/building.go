// Package energyplus has buildings of EnergyPlus as models of a world.
package energyplus

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"voltbus/virtual/model"
	"voltbus/virtual/outside"
)

// Building is a building, by the files of EnergyPlus or by names of those that come with it.
type Building struct {
	File      string            // .idf or .epJSON, or such as small_office
	Weather   string            // .epw, or such as usa_az_phoenix
	Outputs   map[string]string // by name: variable/key, such as Zone Mean Air Temperature/CORE_ZN
	Actuators map[string]string // by name: component/control/key, such as Zone Temperature Control/Cooling Setpoint/CORE_ZN
}

// Kind returns the building as a kind of model: actuators are its inputs. The key is that of what is wrong.
func (b *Building) Kind() (kind *model.Kind, key string, err error) {
	switch {
	case b.File == "":
		return nil, ".file", errors.New("is missing; write the file of the building (.idf, .epJSON), or the name of one that comes with EnergyPlus, such as small_office")
	case b.Weather == "":
		return nil, ".weather", errors.New("is missing; write the file of the weather (.epw), or the name of one that comes with EnergyPlus, such as usa_az_phoenix")
	case len(b.Outputs) == 0:
		return nil, ".outputs", errors.New(`is empty; write names with variable/key, such as temp: "Zone Mean Air Temperature/CORE_ZN"`)
	}
	k := &model.Kind{Name: "energyplus", Doc: "a building of EnergyPlus, in its units"}
	for _, name := range slices.Sorted(maps.Keys(b.Outputs)) {
		if strings.Count(b.Outputs[name], "/") < 1 {
			return nil, ".outputs." + name, fmt.Errorf("%q: write variable/key, such as Zone Mean Air Temperature/CORE_ZN", b.Outputs[name])
		}
		k.Outputs = append(k.Outputs, model.Port{Name: name})
	}
	for _, name := range slices.Sorted(maps.Keys(b.Actuators)) {
		if strings.Count(b.Actuators[name], "/") < 2 {
			return nil, ".actuators." + name, fmt.Errorf("%q: write component/control/key, such as Zone Temperature Control/Cooling Setpoint/CORE_ZN", b.Actuators[name])
		}
		k.Inputs = append(k.Inputs, model.Port{Name: name})
	}
	return k, "", nil
}

// hello is what the process gets first.
type hello struct {
	File      string    `json:"file"`
	Weather   string    `json:"weather"`
	Start     time.Time `json:"start"`
	Seconds   float64   `json:"seconds"` // how long the world lasts
	Actuators []string  `json:"actuators"`
	Outputs   []string  `json:"outputs"`
	Values    []float64 `json:"values"` // of the actuators at the start
}

// New returns the building as a model in a process of its own, with values of its actuators at the start. Its clock shows the time of the world
// in UTC, from start on for as long as the world lasts.
func (b *Building) New(device string, values map[string]float64, start time.Time, lasts time.Duration) *outside.Model {
	h := hello{File: b.File, Weather: b.Weather, Start: start, Seconds: lasts.Seconds(), Actuators: []string{}, Outputs: []string{}, Values: []float64{}}
	for _, name := range slices.Sorted(maps.Keys(b.Outputs)) {
		h.Outputs = append(h.Outputs, b.Outputs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(b.Actuators)) {
		h.Actuators = append(h.Actuators, b.Actuators[name])
		h.Values = append(h.Values, values[name])
	}
	return outside.New(outside.Spec{
		Device: device, Serve: "energyplus", Hello: h, Fixed: true,
		Kept: "EnergyPlus cannot keep its state; repeat the run with its seed, and branch it on the way (--branch)",
	})
}
