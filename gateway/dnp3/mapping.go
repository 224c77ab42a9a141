// Package dnp3 serves points of a node to DNP3 masters (IEEE 1815): an outstation that gets its values from the node's API, first the
// newest ones and then every change.
//
//	node ─ Latest, Stream ─▶ Gateway ─▶ protocol/dnp3/outstation ─▶ masters
//
// A mapping file maps points to objects. Commands are refused.
package dnp3

import (
	"fmt"
	"math"
	"slices"

	"voltbus/internal/strictyaml"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// Mapping is a mapping file.
type Mapping struct {
	// Listen is the host:port that masters dial.
	Listen string `yaml:"listen" example:"127.0.0.1:20000"`
	// Outstation is the link address of the outstation.
	Outstation int `yaml:"outstation" example:"10"`
	// Masters are the link addresses of the masters; each receives every event.
	Masters []int `yaml:"masters" example:"[1]"`
	// Allow are the addresses, or ranges of addresses, that masters may dial from; empty for any.
	Allow []string `yaml:"allow" example:"[10.0.0.0/24]"`
	// TLS secures the line.
	TLS Secure `yaml:"tls"`
	// Points are the points to serve.
	Points []Point `yaml:"points"`
}

// Secure names the certificates of a secured line, all as PEM files.
type Secure struct {
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	// CA holds the authorities that the masters' certificates are checked against.
	CA string `yaml:"ca"`
}

// Point maps one point of the node to an object.
type Point struct {
	// Point is the path of the point.
	Point string `yaml:"point" example:"site/meter/power"`
	// Type is the type of the object.
	Type string `yaml:"type" enum:"binary_input,double_bit_input,binary_output,counter,analog_input,analog_output,octet_string"`
	// Index is the object's index, 0 to 65535, unique within the type.
	Index int `yaml:"index"`
	// Class is the event class, 1 to 3; 0 for no events.
	Class int `yaml:"class"`
	// Variation is the variation in which the present value is reported; 0 for the usual one.
	Variation int `yaml:"variation"`
	// EventVariation is the variation in which events are reported; 0 for the usual one.
	EventVariation int `yaml:"event_variation"`
	// Deadband is how much a number must change, scaled but not yet rounded to its variation, to cause an event; 0 for any change.
	Deadband float64 `yaml:"deadband"`
	// Scale and Offset convert the reported value: value × scale + offset. 0 means a scale of 1.
	Scale  float64 `yaml:"scale"`
	Offset float64 `yaml:"offset"`
}

// kindName is a type of objects that can be served.
type kindName struct {
	name          string
	kind          object.Kind
	static, event uint8 // groups
}

var kindTable = []kindName{
	{"binary_input", object.KindBinaryInput, 1, 2},
	{"double_bit_input", object.KindDoubleBitInput, 3, 4},
	{"binary_output", object.KindBinaryOutput, 10, 11},
	{"counter", object.KindCounter, 20, 22},
	{"analog_input", object.KindAnalogInput, 30, 32},
	{"analog_output", object.KindAnalogOutput, 40, 42},
	{"octet_string", object.KindOctetString, 110, 111},
}

func (p *Point) kind() *kindName {
	i := slices.IndexFunc(kindTable, func(k kindName) bool { return k.name == p.Type })
	if i < 0 {
		return nil
	}
	return &kindTable[i]
}

// ParseMapping parses a mapping file strictly. It returns every problem with its place.
func ParseMapping(file string, data []byte) (*Mapping, []strictyaml.Problem) {
	m := &Mapping{Listen: "127.0.0.1:20000", Outstation: 10, Masters: []int{1}}
	node, problem := strictyaml.Parse(file, data)
	if problem != nil {
		return nil, []strictyaml.Problem{*problem}
	}
	problems := strictyaml.Decode(file, "", node, m)
	if len(problems) == 0 {
		problems = m.check(file)
	}
	return m, problems
}

// check reports problems beyond the syntax.
func (m *Mapping) check(file string) (problems []strictyaml.Problem) {
	add := func(wrong bool, key, text string, args ...any) {
		if wrong {
			problems = append(problems, strictyaml.Problem{File: file, Key: key, Text: fmt.Sprintf(text, args...)})
		}
	}
	const highest = 65519
	add(m.Outstation < 0 || m.Outstation > highest, "outstation", "%d is no link address; write a number from 0 to %d", m.Outstation, highest)
	add(len(m.Masters) == 0 || len(m.Masters) > 100, "masters", "names %d masters; write the link addresses of 1 to 100", len(m.Masters))
	for i, a := range m.Masters {
		key := fmt.Sprintf("masters[%d]", i)
		add(a < 0 || a > highest || a == m.Outstation, key, "%d is no master's link address; write a number from 0 to %d that is not the outstation's", a, highest)
		add(slices.Contains(m.Masters[:i], a), key, "%d stands there twice", a)
	}
	for i, text := range m.Allow {
		if _, err := channel.ParseAllowed(text); err != nil {
			add(true, fmt.Sprintf("allow[%d]", i), "%v", err)
		}
	}
	secured := m.TLS != Secure{}
	add(secured && (m.TLS.Certificate == "" || m.TLS.Key == "" || m.TLS.CA == ""), "tls", "needs certificate, key and ca")
	add(len(m.Points) == 0, "points", "is empty; write one \"- {point: site/meter/power, type: analog_input, index: 0}\" for each point")
	type place struct {
		kind  string
		index int
	}
	seen := make(map[place]string)
	for i := range m.Points {
		p, key := &m.Points[i], fmt.Sprintf("points[%d]", i)
		at := place{p.Type, p.Index}
		add(p.Point == "", key+".point", "is missing; write the path of a point")
		add(p.kind() == nil, key+".type", "is missing; write a type such as analog_input")
		add(p.Index < 0 || p.Index > math.MaxUint16, key+".index", "%d is out of range; write a number from 0 to 65535", p.Index)
		add(p.Class < 0 || p.Class > 3, key+".class", "%d is no class; write 1, 2, 3, or 0 for no events", p.Class)
		add(p.Deadband < 0, key+".deadband", "%v is negative; write 0 or more", p.Deadband)
		add(seen[at] != "", key+".index", "%s %d is %s already; give each point its own index", p.Type, p.Index, seen[at])
		seen[at] = p.Point
		if k := p.kind(); k != nil {
			add(!fits(k.static, p.Variation), key+".variation", "g%dv%d is not known; write another, or leave it out", k.static, p.Variation)
			add(!fits(k.event, p.EventVariation), key+".event_variation", "g%dv%d is not known; write another, or leave it out", k.event, p.EventVariation)
		}
	}
	return problems
}

func fits(group uint8, number int) bool {
	return number == 0 || number > 0 && number < 255 && group < 110 && object.Of(group, uint8(number)).Known()
}

// configs returns the outstation's points.
func (m *Mapping) configs() []outstation.PointConfig {
	classes := [4]app.Classes{0, app.Class1, app.Class2, app.Class3}
	configs := make([]outstation.PointConfig, len(m.Points))
	for i := range m.Points {
		p := &m.Points[i]
		k := p.kind()
		configs[i] = outstation.PointConfig{
			Kind: k.kind, Index: uint32(p.Index), Class: classes[p.Class], Deadband: p.Deadband,
		}
		if p.Variation != 0 {
			configs[i].Static = object.Of(k.static, uint8(p.Variation))
		}
		if p.EventVariation != 0 {
			configs[i].Event = object.Of(k.event, uint8(p.EventVariation))
		}
	}
	return configs
}
