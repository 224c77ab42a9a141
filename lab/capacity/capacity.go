// Package capacity measures the capacity of this machine: it runs small loads through the real chain, derives the cost of one sample,
// device, point and client, and computes the first limit.
package capacity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/lab/machine"
)

// Found is what was measured and what follows from it. Its JSON form is the answer of
// GET /api/v1/capacity.
type Found struct {
	Measured   time.Time           `json:"measured"`
	Words      []string            `json:"words"`
	BindsFirst string              `json:"binds_first"` // processor, memory or disk, with devices that are read each second
	Machine    machine.Description `json:"machine"`
	Figures    Figures             `json:"figures"`
	Carries    []Carry             `json:"carries"`
}

// Figures are what things cost on this machine.
type Figures struct {
	CPUPerSample    float64 `json:"cpu_per_sample"`     // seconds of a core from the device to the store
	CPUPerDelivery  float64 `json:"cpu_per_delivery"`   // seconds of a core to give one message to one client, the client's work included
	LogPerSample    float64 `json:"log_per_sample"`     // bytes
	Flush           float64 `json:"flush"`              // seconds until the disk has a piece, the median
	Written         float64 `json:"written_per_second"` // bytes a second, flushed piece by piece
	MemoryBase      uint64  `json:"memory_base"`        // bytes of a node without devices
	MemoryPerDevice float64 `json:"memory_per_device"`  // bytes, without its points
	MemoryPerPoint  float64 `json:"memory_per_point"`   // bytes
	MemoryPerClient float64 `json:"memory_per_client"`  // bytes, both ends of the connection
}

// Carry is a load that the machine carries.
type Carry struct {
	What   string `json:"what"`
	Number uint64 `json:"number"`
	Binds  string `json:"binds"` // what is used up first
}

// Options are how the machine is measured.
type Options struct {
	Dir     string   // an empty directory on the disk to measure
	Program []string // how this program is started again for parts in processes of their own
	// Window is how long each load runs; 0 for 8 s. The whole takes about six windows and two starts.
	Window time.Duration
	// Report is called with each step; nil for nobody.
	Report func(step string)
}

const defaultWindow = 8 * time.Second

// Measure measures this machine with short loads on the loopback interface. It fails with
// fault.Canceled when ctx ends, and leaves no process.
func Measure(ctx context.Context, o Options) (*Found, error) {
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	if o.Report == nil {
		o.Report = func(string) {}
	}
	f := &Found{Measured: time.Now().UTC(), Machine: machine.Describe(o.Dir)}
	steps := []struct {
		name string
		run  func(context.Context, *Options, *Figures) error
	}{
		{"disk: how long a flush takes", disk},
		{"devices: processor and memory through the whole chain", chain},
		{"clients: encrypted connections that listen", clients},
	}
	for _, s := range steps {
		o.Report(s.name)
		if err := s.run(ctx, &o, &f.Figures); err != nil {
			if ctx.Err() != nil {
				return nil, fault.E("capacity.Measure", fault.Canceled, s.name, ctx.Err())
			}
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	f.judge()
	return f, nil
}

// Keep writes what was found into a file, in one step.
func (f *Found) Keep(file string) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fault.E("capacity.Keep", fault.Internal, file, err)
	}
	part := file + ".part"
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fault.E("capacity.Keep", fault.Unavailable, file, err)
	}
	if err := os.WriteFile(part, append(data, '\n'), 0o600); err != nil {
		return fault.E("capacity.Keep", fault.Unavailable, file, err)
	}
	if err := os.Rename(part, file); err != nil {
		return fault.E("capacity.Keep", fault.Unavailable, file, errors.Join(err, os.Remove(part)))
	}
	return nil
}
