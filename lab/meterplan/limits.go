// Package meterplan plans metering systems: how many nodes, cores, memory and disk a number of meters needs, from limits that a run of
// the lab measured.
package meterplan

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/report"
	"voltbus/lab/runs"
)

// Experiment is the name of the one that measures limits.
const Experiment = "ami-tables"

// Limits are what the components of a metering system do on one machine, all of it in use.
type Limits struct {
	Run      string    `json:"run"` // that measured them
	Measured time.Time `json:"measured"`
	CPU      string    `json:"cpu"`
	Cores    int       `json:"cores"`
	Load     string    `json:"load"`    // load averages before the run
	Shipped  bool      `json:"shipped"` // they came with the program, and are of another machine

	Concentrator   float64 `json:"concentrator"`     // single readings a second that a concentrator takes and hands on
	MDS            float64 `json:"mds"`              // readings a second that an MDS takes in bulks
	Validated      float64 `json:"validated"`        // readings a second that an MDS imports, stores and validates
	MemoryBase     float64 `json:"memory_base"`      // bytes of an MDS without meters
	MemoryPerMeter float64 `json:"memory_per_meter"` // bytes
	DiskPerReading float64 `json:"disk_per_reading"` // bytes, raw and validated together
}

// field is a limit as a finding of a run.
type field struct {
	key, name, unit string
	published       float64
	at              *float64
}

func (l *Limits) fields() []field {
	return []field{
		{"concentrator-rate", "Limit of a concentrator, single readings", "readings/s", 500, &l.Concentrator},
		{"mds-rate", "Limit of a metering data system, bulks", "readings/s", 4000, &l.MDS},
		{"validated-rate", "Imported, stored and validated", "readings/s", 0, &l.Validated},
		{"mds-memory", "Memory of a metering data system without meters", "B", 0, &l.MemoryBase},
		{"meter-memory", "Memory of a meter", "B", 0, &l.MemoryPerMeter},
		{"reading-disk", "Disk of a reading, raw and validated", "B", 0, &l.DiskPerReading},
	}
}

// Findings are the limits as a run keeps them.
func (l *Limits) Findings() []experiment.Finding {
	var out []experiment.Finding
	for _, f := range l.fields() {
		out = append(out, experiment.Finding{Key: f.key, Name: f.name, Value: *f.at, Unit: f.unit, Published: f.published})
	}
	return out
}

// of reads the limits that a run found; false if it did not measure them all.
func of(id string, r *experiment.Result) (Limits, bool) {
	l := Limits{Run: id, Measured: r.Finished, CPU: r.Machine.CPU, Cores: r.Machine.Cores, Load: r.Machine.Load}
	for _, want := range l.fields() {
		found := false
		for _, f := range r.Findings {
			if f.Key == want.key {
				*want.at, found = f.Value, true
			}
		}
		if !found {
			return l, false
		}
	}
	return l, l.Concentrator > 0 && l.MDS > 0
}

// Latest returns the limits of the newest run in a folder of runs that measured a machine like this one; false if there is
// none. Quick runs do not count.
func Latest(dir string, here machine.Description) (Limits, bool, error) {
	ids, err := runs.IDs(dir)
	if err != nil {
		return Limits{}, false, err
	}
	for _, id := range ids { // the newest first
		r, err := report.Read(filepath.Join(dir, id))
		if err != nil || r.Experiment != Experiment || r.Quick || r.Machine.CPU != here.CPU || r.Machine.Cores != here.Cores {
			continue
		}
		if l, ok := of(id, r); ok {
			return l, true, nil
		}
	}
	return Limits{}, false, nil
}

//go:embed reference.json
var reference []byte

// Reference returns the limits that came with the program.
func Reference() (Limits, error) {
	l := Limits{Shipped: true}
	if err := json.Unmarshal(reference, &l); err != nil {
		return l, fmt.Errorf("read the shipped limits: %w", err)
	}
	l.Shipped = true
	return l, nil
}
