package dnp3

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

// item is one point of the registry, checked.
type item struct {
	name        string
	path        point.Path
	kind        object.Kind
	index       uint32
	variation   uint8 // of present values; 0 for the device's choice
	scale       float64
	offset      float64
	unit        string
	description string
	tags        map[string]string
	writable    bool
	operate     operation
	preset      point.Value // the registry's default; None if there is none
	min, max    *float64    // of what may be commanded, nil for none
}

// operation says how a point is operated.
type operation struct {
	how     string // sbo, direct, no_answer
	control string // latch, pulse, trip_close
	count   uint8
	on, off time.Duration
}

// The ways to switch a binary output.
const (
	controlLatch     = "latch"
	controlPulse     = "pulse"
	controlTripClose = "trip_close"
)

// typeName is a type of points as a registry names it.
type typeName struct {
	name   string
	kind   object.Kind
	group  uint8   // of present values
	others []uint8 // more groups that stand for the same points
	values point.Kind
}

var typeTable = []typeName{
	{"binary_input", object.KindBinaryInput, 1, []uint8{2}, point.Bool},
	{"double_bit_input", object.KindDoubleBitInput, 3, []uint8{4}, point.Int},
	{"binary_output", object.KindBinaryOutput, 10, []uint8{11, 12}, point.Bool},
	{"counter", object.KindCounter, 20, []uint8{22}, point.Int},
	{"frozen_counter", object.KindFrozenCounter, 21, []uint8{23}, point.Int},
	{"analog_input", object.KindAnalogInput, 30, []uint8{32}, point.Float},
	{"frozen_analog", object.KindFrozenAnalog, 31, []uint8{33}, point.Float},
	{"analog_output", object.KindAnalogOutput, 40, []uint8{41, 42}, point.Float},
	{"octet_string", object.KindOctetString, 110, []uint8{111}, point.Text},
}

func typeNames() []string {
	names := make([]string, len(typeTable))
	for i := range typeTable {
		names[i] = typeTable[i].name
	}
	return names
}

// typeOf returns the type of points of a kind, nil for objects that are no points.
func typeOf(k object.Kind) *typeName {
	for i := range typeTable {
		if typeTable[i].kind == k {
			return &typeTable[i]
		}
	}
	return nil
}

// TypeName returns how a registry names points of a kind, such as "analog_input"; "" for objects
// that are no points.
func TypeName(k object.Kind) string {
	if t := typeOf(k); t != nil {
		return t.name
	}
	return ""
}

// ParseType is the inverse of TypeName; false for an unknown name.
func ParseType(name string) (object.Kind, bool) {
	for i := range typeTable {
		if typeTable[i].name == name {
			return typeTable[i].kind, true
		}
	}
	return 0, false
}

func (t *item) scaled() bool { return t.scale != 1 || t.offset != 0 }

// static returns the variation in which the point's present value is asked for.
func (t *item) static() object.Variation {
	if t.kind == object.KindOctetString {
		return object.Of(typeOf(t.kind).group, 0) // its variation is its length
	}
	return object.Of(typeOf(t.kind).group, t.variation)
}

// rough reports whether a variation has whole numbers where the registry names one with fractions: as classes are read, the
// device chooses, and many choose whole numbers.
func (t *item) rough(got object.Variation) bool { return fractional(t.static()) && !fractional(got) }

// whole reports whether a value that came as a whole number may be the known one without its fraction, cut or rounded.
func (t *item) whole(known, got point.Value) bool {
	a, knows := known.Number()
	b, came := got.Number()
	a, b = (a-t.offset)/t.scale, (b-t.offset)/t.scale
	return knows && came && (math.Abs(math.Trunc(a)-b) < almost || math.Abs(math.Round(a)-b) < almost)
}

// fractional reports whether present values of a variation are floating-point numbers.
func fractional(v object.Variation) bool {
	return v == object.G30V5 || v == object.G30V6 || v == object.G31V7 || v == object.G31V8 || v == object.G40V3 || v == object.G40V4
}

// before reports whether the other point continues a range with this one.
func (t *item) before(other *item) bool {
	return t.static() == other.static() && t.index+1 == other.index
}

func (t *item) info() point.Info {
	kind := typeOf(t.kind).values
	if kind == point.Int && t.scaled() {
		kind = point.Float
	}
	return point.Info{
		Path: t.path, Kind: kind, Unit: t.unit, Description: t.description, Writable: t.writable, Tags: t.tags,
		Default: t.preset, Min: t.min, Max: t.max,
	}
}

// compile checks the registry, once.
func (c *Config) compile() {
	if c.compiled {
		return
	}
	c.compiled, c.items, c.problems = true, nil, nil
	names, objects := make(map[string]bool), make(map[key]string)
	for i := range c.Registry.Entries {
		e := &c.Registry.Entries[i]
		if e.at.Key == "" {
			e.at.Key = fmt.Sprintf("registry[%d]", i)
		}
		t, problems := e.check(c.Operate)
		if len(problems) == 0 && names[t.name] {
			problems = append(problems, e.problem("name", fmt.Sprintf("%q stands there twice; give each point its own name", t.name)))
		}
		if other := objects[keyOf(t.kind, t.index)]; len(problems) == 0 && other != "" {
			problems = append(problems, e.problem("index", fmt.Sprintf("is the same %s as %q; remove one of them", TypeName(t.kind), other)))
		}
		c.problems = append(c.problems, problems...)
		if len(problems) == 0 {
			names[t.name], objects[keyOf(t.kind, t.index)] = true, t.name
			c.items = append(c.items, t)
		}
	}
}

// check makes an item of an entry, or says what is wrong with each of its fields.
func (e *Entry) check(operate string) (t item, problems []error) {
	fail := func(field string, err error) {
		if err != nil {
			problems = append(problems, e.problem(field, err.Error()))
		}
	}
	t = item{name: e.Name, path: point.Path(e.Name), unit: e.Unit, description: e.Description, tags: e.Tags}
	if t.name == "" {
		fail("name", errors.New("is missing; write the name of the point"))
	} else {
		fail("name", t.path.Validate())
	}
	var err error
	t.kind, t.variation, err = e.object()
	fail("type", err)
	t.index, err = e.index()
	fail("index", err)
	t.scale, err = number(e.Scale, 1)
	if err == nil && t.scale == 0 {
		err = errors.New("is 0; write a factor such as 0.1")
	}
	fail("scale", err)
	t.offset, err = number(e.Offset, 0)
	fail("offset", err)
	t.writable, err = truth(e.Writable)
	if err == nil && t.writable && t.kind != 0 && t.kind != object.KindBinaryOutput && t.kind != object.KindAnalogOutput {
		err = errors.New("is true, but only binary_output and analog_output can be operated; write false")
	}
	fail("writable", err)
	t.operate, err = e.operation(operate)
	fail("operate", err)
	if t.scaled() && (t.kind == object.KindBinaryInput || t.kind == object.KindBinaryOutput || t.kind == object.KindDoubleBitInput || t.kind == object.KindOctetString) {
		fail("scale", fmt.Errorf("is not possible for a %s; leave scale and offset out", TypeName(t.kind)))
	}
	t.presets(e, fail)
	return t, problems
}

// presets reads what commands go back to, and their bounds.
func (t *item) presets(e *Entry, fail func(field string, err error)) {
	if e.Default+e.Min+e.Max != "" && !t.writable {
		fail("default", errors.New("and min and max are for points that may be written; leave them out, or write true for writable"))
		return
	}
	var err error
	t.preset, err = presetOf(e.Default, t.kind)
	fail("default", err)
	for _, end := range []struct {
		name, text string
		into       **float64
	}{{"min", e.Min, &t.min}, {"max", e.Max, &t.max}} {
		if end.text == "" {
			continue
		}
		x, err := number(end.text, 0)
		*end.into = &x
		fail(end.name, err)
	}
}

// presetOf reads a value of a point that can be operated; None for none.
func presetOf(text string, kind object.Kind) (point.Value, error) {
	if text == "" {
		return point.Value{}, nil
	}
	if kind == object.KindBinaryOutput {
		on, err := truth(text)
		return point.BoolOf(on), err
	}
	x, err := number(text, 0)
	return point.FloatOf(x), err
}

// object returns the kind of the points that type, or group and variation, name.
func (e *Entry) object() (object.Kind, uint8, error) {
	kind := object.Kind(0)
	group, err := small(e.Group, "group")
	if err != nil {
		return 0, 0, err
	}
	for i := range typeTable {
		t := &typeTable[i]
		if e.Group != "" && (t.group == group || slices.Contains(t.others, group)) || e.Type == t.name {
			if kind != 0 && kind != t.kind {
				return 0, 0, fmt.Errorf("is %s, but group %d is another type; leave one of them out", e.Type, group)
			}
			kind = t.kind
		}
	}
	switch {
	case kind == 0 && e.Type == "" && e.Group == "":
		return 0, 0, errors.New("is missing; write a type such as analog_input, or a group such as 30")
	case kind == 0 && e.Type != "", e.Type != "" && !slices.Contains(typeNames(), e.Type):
		return 0, 0, fmt.Errorf("%q is not known; write %s", e.Type, strings.Join(typeNames(), ", "))
	case kind == 0:
		return 0, 0, fmt.Errorf("group %d holds no points; write one of 1, 3, 10, 20, 21, 30, 31, 40, 110", group)
	}
	variation, err := small(e.Variation, "variation")
	if err != nil || variation == 0 || kind == object.KindOctetString {
		return kind, 0, err
	}
	t := typeOf(kind)
	if e.Group != "" && group != t.group {
		return kind, commandSize(kind, variation), nil // of an event or a command: present values come as the device likes
	}
	if !object.Of(t.group, variation).Known() {
		return 0, 0, fmt.Errorf("variation %d of group %d is not known; write one that is, or leave it out", variation, t.group)
	}
	return kind, variation, nil
}

// commandSize keeps the variation of an analog command, which are numbered like those of the
// present values; other variations of events say nothing about those.
func commandSize(kind object.Kind, variation uint8) uint8 {
	if kind == object.KindAnalogOutput && variation <= 4 {
		return variation
	}
	return 0
}

func (e *Entry) index() (uint32, error) {
	n, err := strconv.ParseUint(e.Index, 0, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is not an index; write a number from 0 to 65535", e.Index)
	}
	return uint32(n), nil
}

// operation reads how the point is operated; what is not said is as in byDefault.
func (e *Entry) operation(byDefault string) (operation, error) {
	o := operation{how: byDefault, control: controlLatch, count: 1}
	if e.Operate != "" {
		o.how = e.Operate
	}
	if !slices.Contains([]string{operateSBO, operateDirect, operateNoAnswer}, o.how) {
		return o, fmt.Errorf("%q is not known; write sbo, direct or no_answer", o.how)
	}
	if e.Control != "" {
		o.control = e.Control
	}
	if !slices.Contains([]string{controlLatch, controlPulse, controlTripClose}, o.control) {
		return o, fmt.Errorf("control %q is not known; write latch, pulse or trip_close", o.control)
	}
	if o.control != controlLatch {
		o.on = time.Second
	}
	var err error
	if e.Count != "" {
		if o.count, err = small(e.Count, "count"); err == nil && o.count == 0 {
			err = errors.New("count is 0; write how often the operation is done, 1 to 255")
		}
	}
	if err == nil {
		o.on, err = pulse(e.OnTime, "on_time", o.on)
	}
	if err == nil {
		o.off, err = pulse(e.OffTime, "off_time", 0)
	}
	return o, err
}

func pulse(text, field string, byDefault time.Duration) (time.Duration, error) {
	if text == "" {
		return byDefault, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > math.MaxUint32*time.Millisecond {
		return 0, fmt.Errorf("%s %q is not a duration; write one such as 500ms", field, text)
	}
	return d, nil
}

func small(text, field string) (uint8, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not a number from 0 to 255", field, text)
	}
	return uint8(n), nil
}

func number(text string, byDefault float64) (float64, error) {
	if text == "" {
		return byDefault, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%q is not a number; write one such as 0.1", text)
	}
	return x, nil
}

func truth(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "", "false", "no", "0":
		return false, nil
	case "true", "yes", "1":
		return true, nil
	}
	return false, fmt.Errorf("%q is neither true nor false; write one of them", text)
}
