package world

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"voltbus/virtual/energyplus"
	"voltbus/virtual/fmu"
	"voltbus/virtual/model"
	"voltbus/virtual/outside"
)

// The kinds of models that come from elsewhere.
const (
	kindFMU        = "fmu"
	kindEnergyPlus = "energyplus"
)

// kindOf returns the kind of a model. The key of what is wrong is below that of the model.
func (f *File) kindOf(m *Model) (kind *model.Kind, key string, err error) {
	if m.Kind == kindFMU {
		d, err := f.unit(m)
		if err != nil {
			return nil, ".file", err
		}
		return d.Kind(), "", nil
	}
	if m.Kind == kindEnergyPlus {
		b, err := f.building(m)
		if err != nil {
			return nil, "", err
		}
		kind, key, err := b.Kind()
		return kind, key, err
	}
	kind, err = model.Find(m.Kind)
	if err != nil {
		return nil, ".kind", fmt.Errorf("%w, or fmu or energyplus with a file", err)
	}
	if m.File != "" || m.Weather != "" || len(m.Outputs) > 0 || len(m.Actuators) > 0 {
		return nil, "", fmt.Errorf("a %s is built in: leave out file, weather, outputs and actuators", m.Kind)
	}
	return kind, "", nil
}

// building returns a model of EnergyPlus. Files without an ending are names of its wheel.
func (f *File) building(m *Model) (*energyplus.Building, error) {
	b := &energyplus.Building{File: m.File, Weather: m.Weather, Outputs: m.Outputs, Actuators: m.Actuators}
	for _, name := range []*string{&b.File, &b.Weather} {
		if filepath.Ext(*name) == "" {
			continue
		}
		var err error
		if *name, err = f.folderOf(*name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// unit reads the description of a model that is an FMU.
func (f *File) unit(m *Model) (*fmu.Description, error) {
	if m.File == "" {
		return nil, errors.New("is missing; write the file of the FMU")
	}
	if d := f.units[m.File]; d != nil {
		return d, nil
	}
	name, err := f.folderOf(m.File)
	if err != nil {
		return nil, err
	}
	d, err := fmu.Read(name)
	if err != nil {
		return nil, err
	}
	if f.units == nil {
		f.units = map[string]*fmu.Description{}
	}
	f.units[m.File] = d
	return d, nil
}

// newModel makes a model, built in or in a process of its own.
func (w *World) newModel(device string, m *Model, parameters map[string]float64) (*model.Model, error) {
	settings := &w.file.World
	if m.Kind != kindFMU && m.Kind != kindEnergyPlus {
		return model.New(m.Kind, parameters, settings.Start, model.Method{Adaptive: settings.Adaptive, Tolerance: settings.Tolerance})
	}
	kind, _, err := w.file.kindOf(m)
	if err != nil {
		return nil, err
	}
	if err := kind.Check(parameters); err != nil {
		return nil, err
	}
	o, err := w.outsideOf(device, m, parameters)
	if err != nil {
		return nil, err
	}
	w.starters = append(w.starters, foreign{o, settings.Python})
	return model.External(kind, o), nil
}

// outsideOf makes the process of a model, which does not run yet.
func (w *World) outsideOf(device string, m *Model, parameters map[string]float64) (*outside.Model, error) {
	settings := &w.file.World
	if m.Kind == kindFMU {
		d, err := w.file.unit(m)
		if err != nil {
			return nil, err
		}
		return d.New(device, parameters, settings.Start), nil
	}
	b, err := w.file.building(m)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for name, in := range m.Inputs {
		if bound, err := parseBinding(in); err == nil {
			values[name] = bound.constant
		}
	}
	return b.New(device, values, settings.Start, settings.Duration), nil
}

// foreign is a model in a process.
type foreign struct {
	model  *outside.Model
	python string
}

func (f foreign) begun() bool { return f.model.Begun() }

func (f foreign) begin(ctx context.Context, o *Options) error {
	return f.model.Begin(ctx, outside.Options{Python: f.python, SDK: o.SDK, Log: o.Log, Patience: o.Patience})
}

func (f foreign) kill() { f.model.Kill() }

func (f foreign) close() error { return f.model.Close() }
