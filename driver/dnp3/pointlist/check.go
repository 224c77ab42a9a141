package pointlist

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/driver/registry"
	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

// check converts an entry to an item, or reports what is wrong with each field.
func (e *Entry) check(operate string) (t Item, problems []error) {
	fail := func(field string, err error) {
		if err != nil {
			problems = append(problems, e.problem(field, err.Error()))
		}
	}
	t = Item{Name: e.Name, Path: point.Path(e.Name), unit: e.Unit, description: e.Description, tags: e.Tags}
	if t.Name == "" {
		fail("name", errors.New("is missing; write the name of the point"))
	} else {
		fail("name", t.Path.Validate())
	}
	var err error
	t.Kind, t.variation, err = e.object()
	fail("type", err)
	t.Index, err = e.index()
	fail("index", err)
	t.scale, err = number(e.Scale, 1)
	if err == nil && t.scale == 0 {
		err = errors.New("is 0; write a factor such as 0.1")
	}
	fail("scale", err)
	t.offset, err = number(e.Offset, 0)
	fail("offset", err)
	t.Writable, err = registry.Truth(e.Writable)
	if err == nil && t.Writable && t.Kind != 0 && t.Kind != object.KindBinaryOutput && t.Kind != object.KindAnalogOutput {
		err = errors.New("is true, but only binary_output and analog_output can be operated; write false")
	}
	fail("writable", err)
	t.operate, err = e.operation(operate)
	fail("operate", err)
	if t.scaled() && (t.Kind == object.KindBinaryInput || t.Kind == object.KindBinaryOutput || t.Kind == object.KindDoubleBitInput || t.Kind == object.KindOctetString) {
		fail("scale", fmt.Errorf("is not possible for a %s; leave scale and offset out", TypeName(t.Kind)))
	}
	t.presets = registry.PresetText{Default: e.Default, Min: e.Min, Max: e.Max}.Read(t.Writable, t.commanded, fail)
	return t, problems
}

// commanded reads a value of a point that can be operated.
func (t *Item) commanded(text string) (point.Value, error) {
	if t.Kind == object.KindBinaryOutput {
		on, err := registry.Truth(text)
		return point.BoolOf(on), err
	}
	x, err := number(text, 0)
	return point.FloatOf(x), err
}

// object returns the kind of the points named by type, or by group and variation.
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
		return kind, commandSize(kind, variation), nil // of an event or a command: the device chooses the variation of present values
	}
	if !object.Of(t.group, variation).Known() {
		return 0, 0, fmt.Errorf("variation %d of group %d is not known; write one that is, or leave it out", variation, t.group)
	}
	return kind, variation, nil
}

// commandSize keeps the variation of an analog command, numbered like that of present values; variations of
// events say nothing about present values.
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

// operation parses how the point is operated; unspecified fields are as in byDefault.
func (e *Entry) operation(byDefault string) (operation, error) {
	o := operation{how: byDefault, control: controlLatch, count: 1}
	if e.Operate != "" {
		o.how = e.Operate
	}
	if !slices.Contains([]string{OperateSBO, OperateDirect, OperateNoAnswer}, o.how) {
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
