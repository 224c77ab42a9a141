package sunspec

import (
	"encoding/json"
	"strconv"
)

// Placed is a point of a device.
type Placed struct {
	*Point
	Path    string // groups and name, such as "module.2.DCA"
	Address uint16
	Words   []uint16 // what it held when the device was scanned

	ScaleBy  string // path of the point that holds its scale factor; "" if there is none
	Exponent int    // its scale factor, if that is fixed
}

// Points returns the points of a model in the order of their addresses, without its ID, its length and what only fills space. A model that is
// shorter than its definition, as of an older edition, has fewer. It is empty for a model without a definition.
func (f *Found) Points() []Placed {
	if f.Model == nil {
		return nil
	}
	p := &placing{found: f}
	p.group(&f.Model.Group, "", nil)
	return p.list
}

// placing goes through a model.
type placing struct {
	found *Found
	at    int // registers behind the ID
	list  []Placed
}

// scope is the points of a group and those around it, by name.
type scope struct {
	points map[string]int // index in the list
	outer  *scope
}

func (s *scope) find(name string) (int, bool) {
	for ; s != nil; s = s.outer {
		if i, ok := s.points[name]; ok {
			return i, true
		}
	}
	return 0, false
}

func (p *placing) group(g *Group, path string, outer *scope) {
	s := &scope{map[string]int{}, outer}
	first := len(p.list)
	for i := range g.Points {
		d := &g.Points[i]
		if p.at+d.Size > len(p.found.Words) {
			p.at = len(p.found.Words)
			break
		}
		words := p.found.Words[p.at : p.at+d.Size]
		address := p.found.Address + uint16(p.at)
		p.at += d.Size
		if d.Type == "pad" || outer == nil && (d.Name == "ID" || d.Name == "L") {
			continue
		}
		s.points[d.Name] = len(p.list)
		p.list = append(p.list, Placed{Point: d, Path: path + d.Name, Address: address, Words: words})
	}
	for i := first; i < len(p.list); i++ {
		p.scale(&p.list[i], s)
	}
	for i := range g.Groups {
		inner := &g.Groups[i]
		n, numbered := p.count(inner, s)
		for k := 1; k <= n && p.at < len(p.found.Words); k++ {
			name := path + inner.Name + "."
			if numbered {
				name += strconv.Itoa(k) + "."
			}
			p.group(inner, name, s)
		}
	}
}

// scale notes the scale factor of a point.
func (p *placing) scale(of *Placed, s *scope) {
	var name string
	if json.Unmarshal(of.Scale, &of.Exponent) == nil || json.Unmarshal(of.Scale, &name) != nil {
		return
	}
	if i, ok := s.find(name); ok {
		of.ScaleBy = p.list[i].Path
	}
}

// count returns how often a group is there, and whether it may be there several times.
func (p *placing) count(g *Group, s *scope) (n int, numbered bool) {
	var name string
	switch {
	case len(g.Count) == 0:
		return 1, false
	case json.Unmarshal(g.Count, &n) == nil && n > 0:
		return n, n > 1
	case json.Unmarshal(g.Count, &name) == nil:
		if i, ok := s.find(name); ok && len(p.list[i].Words) == 1 && p.list[i].Implemented() {
			return int(p.list[i].Words[0]), true
		}
		return 0, true
	}
	return len(p.found.Words), true // until the registers end
}

// Implemented reports whether the device has the point: its value is not the one that stands for "not implemented" (Device Information
// Model Specification 1.2, 5.1). An accumulator of zero counts as implemented.
func (p *Placed) Implemented() bool {
	missing, ok := Missing(p.Type)
	if p.Type == "string" {
		return len(p.Words) > 0 && p.Words[0] != 0
	}
	if !ok {
		return true
	}
	var raw uint64
	for _, w := range p.Words {
		raw = raw<<16 | uint64(w)
	}
	if p.Type == "float32" {
		return raw&0x7f800000 != 0x7f800000 || raw&0x7fffff == 0 // any NaN
	}
	return raw != missing
}

// Missing returns the value that stands for "not implemented" in a type; false for a type without one.
func Missing(kind string) (uint64, bool) {
	switch kind {
	case "int16", "sunssf":
		return 0x8000, true
	case "uint16", "enum16", "bitfield16", "count":
		return 0xffff, true
	case "int32":
		return 0x8000_0000, true
	case "uint32", "enum32", "bitfield32":
		return 0xffff_ffff, true
	case "float32":
		return 0x7fc0_0000, true
	case "int64":
		return 0x8000_0000_0000_0000, true
	case "uint64", "bitfield64":
		return 0xffff_ffff_ffff_ffff, true
	case "ipaddr":
		return 0, true
	}
	return 0, false
}
