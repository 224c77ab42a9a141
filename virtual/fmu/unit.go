package fmu

import (
	"time"

	"voltbus/virtual/outside"
)

// hello is what the process of a unit gets first.
type hello struct {
	File       string    `json:"file"`
	Name       string    `json:"name"`  // of the instance
	Begin      float64   `json:"begin"` // s, the time of the unit at the start of the world
	Parameters []setting `json:"parameters"`
	Inputs     []port    `json:"inputs"`
	Outputs    []port    `json:"outputs"`
}

type port struct {
	Reference uint32 `json:"reference"`
	Type      string `json:"type"`
}

type setting struct {
	port

	Value float64 `json:"value"`
}

// New returns the unit as a model in a process of its own. Its time begins with the seconds since the year of start began, in UTC, which
// models with weather count so. Parameters are of those that the unit has.
func (d *Description) New(device string, parameters map[string]float64, start time.Time) *outside.Model {
	year := time.Date(start.UTC().Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	h := hello{File: d.File, Name: device, Begin: start.Sub(year).Seconds(), Parameters: []setting{}, Inputs: []port{}, Outputs: []port{}}
	for _, v := range d.Variables {
		p := port{v.Reference, v.Type}
		switch v.Causality {
		case "input":
			h.Inputs = append(h.Inputs, p)
		case "output":
			h.Outputs = append(h.Outputs, p)
		default:
			if value, ok := parameters[v.Name]; ok {
				h.Parameters = append(h.Parameters, setting{p, value})
			}
		}
	}
	s := outside.Spec{Device: device, Serve: "fmu", Hello: h, Fixed: !d.Varies}
	if !d.Serialises {
		s.Kept = "its FMU cannot serialise its state (canSerializeFMUState); repeat the run with its seed, and branch it on the way (--branch)"
	}
	return outside.New(s)
}
