package world

import (
	"context"
	"errors"
	"fmt"

	"voltbus/virtual/fmu"
	"voltbus/virtual/model"
	"voltbus/virtual/outside"
)

// kindFMU is the kind of a model that is a Functional Mock-up Unit.
const kindFMU = "fmu"

// kindOf returns the kind of a model. The key of what is wrong is below that of the model.
func (f *File) kindOf(m *Model) (kind *model.Kind, key string, err error) {
	if m.Kind == kindFMU {
		d, err := f.unit(m)
		if err != nil {
			return nil, ".file", err
		}
		return d.Kind(), "", nil
	}
	kind, err = model.Find(m.Kind)
	if err != nil {
		return nil, ".kind", fmt.Errorf("%w, or fmu with a file", err)
	}
	if m.File != "" {
		return nil, ".file", fmt.Errorf("a %s is built in and has no file; leave it out, or write kind: fmu", m.Kind)
	}
	return kind, "", nil
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
	if m.Kind != kindFMU {
		method := model.Method{Adaptive: w.file.World.Adaptive, Tolerance: w.file.World.Tolerance}
		return model.New(m.Kind, parameters, w.file.World.Start, method)
	}
	d, err := w.file.unit(m)
	if err != nil {
		return nil, err
	}
	kind := d.Kind()
	if err := kind.Check(parameters); err != nil {
		return nil, err
	}
	o := d.New(device, parameters, w.file.World.Start)
	w.starters = append(w.starters, foreign{o, w.file.World.Python})
	return model.External(kind, o), nil
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
