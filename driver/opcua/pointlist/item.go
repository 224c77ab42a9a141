package pointlist

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"voltbus/driver/registry"
	"voltbus/point"
)

// Item is one entry of the registry, checked: a point and where it is on the server.
type Item struct {
	Name     string
	Node     Node
	Element  int        // of an array; -1 for the whole value
	Kind     point.Kind // what its values are; None for what the node has
	States   States
	Writable bool
	Sampling time.Duration // 0: that of the device
	Deadband Deadband

	unit, description string
	presets           registry.Presets
	tags              map[string]string
}

// Deadband is the least change of a value that is reported. The zero Deadband reports any.
type Deadband struct {
	Value   float64
	Percent bool // of the range of the node
}

// Describe names the point and its node for people.
func (t *Item) Describe() string {
	if t.Element >= 0 {
		return fmt.Sprintf("%s (%v, element %d)", t.Name, t.Node, t.Element)
	}
	return fmt.Sprintf("%s (%v)", t.Name, t.Node)
}

// Info describes the point.
func (t *Item) Info() point.Info {
	tags := maps.Clone(t.tags)
	if len(t.States) > 0 {
		if tags == nil {
			tags = make(map[string]string)
		}
		tags["states"] = t.States.String()
	}
	return point.Info{
		Path: point.Path(t.Name), Kind: t.Kind, Unit: t.unit, Description: t.description, Writable: t.Writable,
		Tags: tags, Default: t.presets.Default, Min: t.presets.Min, Max: t.presets.Max,
	}
}

// The range of samplings that are accepted.
const (
	leastSampling = 10 * time.Millisecond
	mostSampling  = 24 * time.Hour
)

// check makes an item of an entry, or says what is wrong with each of its fields.
func (e *Entry) check() (t Item, problems []error) {
	fail := func(field string, err error) {
		if err != nil {
			problems = append(problems, e.problem(field, err.Error()))
		}
	}
	t = Item{Name: e.Name, Element: -1, unit: UnitOf(e.Unit), description: e.Description, tags: e.Tags}
	if t.Name == "" {
		fail("name", errors.New("is missing; write the name of the point"))
	} else {
		fail("name", point.Path(t.Name).Validate())
	}
	var err error
	t.Node, err = ParseNode(e.Node)
	fail("node", err)
	fail("element", t.element(e.Element))
	fail("type", t.kind(e.Type))
	t.States, err = ParseStates(e.States)
	fail("states", err)
	t.Writable, err = registry.Truth(e.Writable)
	fail("writable", err)
	fail("sampling", t.sampling(e.Sampling))
	t.Deadband, err = parseDeadband(e.Deadband)
	fail("deadband", err)
	t.presets = registry.PresetText{Default: e.Default, Min: e.Min, Max: e.Max}.Read(t.Writable, t.commanded, fail)
	return t, problems
}

func (t *Item) element(text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no element of an array; write a number from 0", text)
	}
	t.Element = int(n)
	return nil
}

func (t *Item) kind(name string) error {
	if name == "" {
		return nil
	}
	kind, ok := point.ParseKind(strings.ToLower(name))
	if !ok || kind == point.None {
		return fmt.Errorf("%q is no type of a point; write float, int, bool or text, or leave it out", name)
	}
	t.Kind = kind
	return nil
}

func (t *Item) sampling(text string) error {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < leastSampling || d > mostSampling {
		return fmt.Errorf("%q is no time from 10ms to 24h; write one such as 500ms", text)
	}
	t.Sampling = d
	return nil
}

func parseDeadband(text string) (Deadband, error) {
	if text == "" {
		return Deadband{}, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) || percent && x > 100 {
		return Deadband{}, fmt.Errorf("%q is no change; write a number such as 0.5, or a part of the range such as 2%%", text)
	}
	return Deadband{Value: x, Percent: percent}, nil
}

// commanded reads a value that commands may have.
func (t *Item) commanded(text string) (point.Value, error) {
	v, err := t.Parse(text)
	if err != nil {
		return point.Value{}, err
	}
	return t.Fit(v)
}
