// Package fmu reads Functional Mock-up Units for co-simulation (FMI 2.0 and 3.0), and has them as models of a world.
package fmu

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/virtual/model"
)

// Description is what a unit says of itself in its modelDescription.xml.
type Description struct {
	File       string
	Version    int    // of FMI: 2 or 3
	Name       string // of the model
	Tool       string // that made it; "" if it does not say
	Varies     bool   // its communication steps may differ in length
	Serialises bool   // its state can be kept
	Variables  []Variable
}

// Variable is a scalar of a unit that is a number or a truth value.
type Variable struct {
	Name      string
	Type      string // as FMI 3 has it, such as Float64, or as FMI 2 has it, such as Real
	Reference uint32
	Causality string // input, output, parameter
	Unit      string
	Start     float64
}

// root is the document.
type root struct {
	Version   string `xml:"fmiVersion,attr"`
	Name      string `xml:"modelName,attr"`
	Tool      string `xml:"generationTool,attr"`
	Simulates *struct {
		Varies      bool `xml:"canHandleVariableCommunicationStepSize,attr"`
		Serialises2 bool `xml:"canSerializeFMUstate,attr"`
		Serialises3 bool `xml:"canSerializeFMUState,attr"`
		Tool        bool `xml:"needsExecutionTool,attr"`
	} `xml:"CoSimulation"`
	Variables struct {
		List []element `xml:",any"`
	} `xml:"ModelVariables"`
}

// element is a variable: of FMI 3 its own element, of FMI 2 a ScalarVariable with an element of its type.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// largest is how long a description may be, in bytes.
const largest = 64 << 20

// Read reads the description of a unit. It fails with fault.NotFound without the file, and with fault.Invalid for what a world cannot run.
func Read(file string) (*Description, error) {
	wrong := func(err error) error { return fault.E("fmu.Read", fault.Invalid, file, err) }
	z, err := zip.OpenReader(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.E("fmu.Read", fault.NotFound, file, err)
	}
	if err != nil {
		return nil, wrong(fmt.Errorf("it is no FMU: %w", err))
	}
	defer func() { _ = z.Close() }() // it was only read
	f, err := z.Open("modelDescription.xml")
	if err != nil {
		return nil, wrong(errors.New("it has no modelDescription.xml; an FMU has one at its top"))
	}
	var r root
	if err := xml.NewDecoder(io.LimitReader(f, largest)).Decode(&r); err != nil {
		return nil, wrong(fmt.Errorf("modelDescription.xml: %w", err))
	}
	d, err := r.description()
	if err != nil {
		return nil, wrong(err)
	}
	d.File = file
	return d, nil
}

func (r *root) description() (*Description, error) {
	d := &Description{Name: r.Name, Tool: r.Tool}
	switch major, _, _ := strings.Cut(r.Version, "."); major {
	case "2":
		d.Version = 2
	case "3":
		d.Version = 3
	default:
		return nil, fmt.Errorf("it is of FMI %q; a world runs FMI 2.0 and 3.0", r.Version)
	}
	switch {
	case r.Simulates == nil:
		return nil, errors.New("it is not for co-simulation; export the model for co-simulation")
	case r.Simulates.Tool:
		return nil, errors.New("it needs the tool that made it (needsExecutionTool); export one that stands alone")
	}
	d.Varies, d.Serialises = r.Simulates.Varies, r.Simulates.Serialises2 || r.Simulates.Serialises3
	for i := range r.Variables.List {
		v, ok, err := variable(&r.Variables.List[i])
		if err != nil {
			return nil, err
		}
		if ok {
			d.Variables = append(d.Variables, v)
		}
	}
	return d, nil
}

// isNumber reports whether variables of a type are numbers or truth values.
func isNumber(kind string) bool {
	switch kind {
	case "Real", "Integer", "Boolean", "Enumeration", // FMI 2
		"Float64", "Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64": // FMI 3
		return true
	}
	return false
}

// variable reads one; false if a world has no use for it: a text, an array, or one that is neither input, output nor parameter.
func variable(e *element) (v Variable, ok bool, err error) {
	typed := e
	if e.XMLName.Local == "ScalarVariable" {
		i := slices.IndexFunc(e.Children, func(c element) bool { return isNumber(c.XMLName.Local) })
		if i < 0 {
			return v, false, nil
		}
		typed = &e.Children[i]
	}
	array := slices.ContainsFunc(e.Children, func(c element) bool { return c.XMLName.Local == "Dimension" })
	v = Variable{Name: e.attr("name"), Type: typed.XMLName.Local, Causality: e.attr("causality"), Unit: typed.attr("unit")}
	if array || !isNumber(v.Type) || !slices.Contains([]string{"input", "output", "parameter"}, v.Causality) {
		return v, false, nil
	}
	reference, err := strconv.ParseUint(e.attr("valueReference"), 10, 32)
	if err != nil {
		return v, false, fmt.Errorf("modelDescription.xml: the variable %q has the reference %q, which is no number", v.Name, e.attr("valueReference"))
	}
	v.Reference = uint32(reference)
	switch start := typed.attr("start"); start {
	case "", "false":
	case "true":
		v.Start = 1
	default:
		if v.Start, err = strconv.ParseFloat(start, 64); err != nil {
			return v, false, fmt.Errorf("modelDescription.xml: the variable %q starts with %q, which is no number", v.Name, start)
		}
	}
	return v, true, nil
}

// Kind returns the unit as a kind of model.
func (d *Description) Kind() *model.Kind {
	k := &model.Kind{Name: "fmu", Doc: fmt.Sprintf("%s (FMI %d)", d.Name, d.Version)}
	for _, v := range d.Variables {
		switch v.Causality {
		case "input":
			k.Inputs = append(k.Inputs, model.Port{Name: v.Name, Unit: v.Unit, Default: v.Start})
		case "output":
			k.Outputs = append(k.Outputs, model.Port{Name: v.Name, Unit: v.Unit})
		default:
			k.Parameters = append(k.Parameters, model.Parameter{Name: v.Name, Unit: v.Unit, Default: v.Start, Min: -bound, Max: bound})
		}
	}
	return k
}

// bound is more than any parameter of a building.
const bound = 1e15
