// Package sunspecmap writes the registry of a SunSpec device for the Modbus driver, from the models that the device has.
package sunspecmap

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"voltbus/driver/modbus"
	"voltbus/protocol/sunspec"
)

// Row is a point of the device.
type Row struct {
	Entry   modbus.Entry
	Present bool // the device has it: neither it nor its scale factor was "not implemented"
}

// Scan reads the models of a unit.
func Scan(ctx context.Context, p *modbus.Probe, unit uint8) ([]sunspec.Found, error) {
	return sunspec.Scan(ctx, func(ctx context.Context, address, count uint16) ([]uint16, error) {
		return p.Read(ctx, unit, modbus.Area{Table: "holding", First: address, Count: count})
	}, modbus.IsAnswer)
}

// Rows returns the points of models in the order of their addresses. The name of a point is that of its model and its own, such as
// inverter_three_phase/W; a model that comes again has its number behind its name.
func Rows(found []sunspec.Found) []Row {
	var rows []Row
	times := map[string]int{}
	for i := range found {
		f := &found[i]
		if f.Model == nil {
			continue
		}
		model := f.Model.Group.Name
		times[model]++
		if n := times[model]; n > 1 {
			model += "_" + strconv.Itoa(n)
		}
		points := f.Points()
		present := map[string]bool{}
		for k := range points {
			present[points[k].Path] = points[k].Implemented()
		}
		for k := range points {
			p := &points[k]
			if e, ok := entry(model, p); ok {
				rows = append(rows, Row{e, present[p.Path] && (p.ScaleBy == "" || present[p.ScaleBy])})
			}
		}
	}
	return rows
}

// types are the types of registers by those of SunSpec. Addresses of networks and hardware are left out.
var types = map[string]string{
	"int16": "int16", "sunssf": "int16", "uint16": "uint16", "count": "uint16", "acc16": "uint16", "enum16": "uint16", "bitfield16": "uint16",
	"int32": "int32", "uint32": "uint32", "acc32": "uint32", "enum32": "uint32", "bitfield32": "uint32",
	"int64": "int64", "uint64": "uint64", "acc64": "uint64", "bitfield64": "uint64", "float32": "float32", "float64": "float64",
}

// units are units by their names in the definitions, where these are not the usual ones.
var units = map[string]string{"C": "degC", "Pct": "%", "Secs": "s", "Sec": "s", "Mins": "min", "Degrees": "deg", "Tms": "s"}

func entry(model string, p *sunspec.Placed) (modbus.Entry, bool) {
	kind, ok := types[p.Type]
	if p.Type == "string" {
		kind, ok = fmt.Sprintf("string[%d]", 2*p.Size), true
	}
	if !ok {
		return modbus.Entry{}, false
	}
	e := modbus.Entry{
		Name: nameOf(model, p.Path), Table: "holding", Address: strconv.Itoa(int(p.Address)), Type: kind,
		Unit: p.Units, Description: p.Label, Writable: strconv.FormatBool(p.Access == "RW"),
	}
	if u := units[p.Units]; u != "" {
		e.Unit = u
	}
	if e.Description == "" {
		e.Description = p.Desc
	}
	if raw, ok := sunspec.Missing(p.Type); ok && p.Type != "float32" {
		e.Missing = "0x" + strconv.FormatUint(raw, 16)
	}
	switch {
	case p.ScaleBy != "":
		e.Transform = "scale_reg_pow_10(" + nameOf(model, p.ScaleBy) + ")"
	case p.Exponent != 0:
		e.Scale = strconv.FormatFloat(math.Pow10(p.Exponent), 'g', -1, 64)
	}
	name(&e, p)
	return e, true
}

// name takes the names of states, or of bits, from the definition.
func name(e *modbus.Entry, p *sunspec.Placed) {
	var list []string
	seen := map[string]bool{}
	for _, s := range p.Symbols {
		if !seen[s.Name] {
			list = append(list, fmt.Sprintf("%d=%s", s.Value, s.Name))
		}
		seen[s.Name] = true
	}
	switch {
	case len(list) == 0:
	case strings.HasPrefix(p.Type, "enum"):
		e.States = strings.Join(list, "|")
	default:
		e.Description += "; bits " + strings.ReplaceAll(strings.Join(list, ", "), "=", " ")
	}
}

// nameOf makes a point's name of its path: groups that are there several times have their number behind their name.
func nameOf(model, path string) string {
	parts := strings.Split(path, ".")
	out := []string{model}
	for _, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			out[len(out)-1] += "_" + part
			continue
		}
		out = append(out, part)
	}
	return strings.Join(out, "/")
}

// Write writes a registry in CSV, as the Modbus driver reads it. Points that the device does not have are left out, unless all is true.
func Write(w io.Writer, rows []Row, all bool) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"name", "table", "address", "type", "transform", "scale", "missing", "states", "unit", "writable", "description"})
	for _, r := range rows {
		if e := r.Entry; r.Present || all {
			_ = out.Write([]string{e.Name, e.Table, e.Address, e.Type, e.Transform, e.Scale, e.Missing, e.States, e.Unit, e.Writable, e.Description})
		}
	}
	out.Flush()
	return out.Error()
}
