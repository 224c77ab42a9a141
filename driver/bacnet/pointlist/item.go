package pointlist

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode"

	"voltbus/driver/registry"
	"voltbus/point"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Item is one entry of the registry, checked: a point and where it is on the device.
type Item struct {
	Name     string
	Object   encoding.ObjectID
	Property enum.Property
	Index    constructed.Index
	Kind     point.Kind // what its values are; None for what the device has, which may be text
	States   []string   // texts of the states, from the first on
	Writable bool
	// Prioritized says that the object has a priority array (ASHRAE 135 clause 19.2). Priority is that of writes
	// without a level.
	Prioritized bool
	Priority    uint8
	COV         bool // changes may be subscribed to
	// TrendLog is the trend log of the device that logs the point, if the registry names one.
	TrendLog *encoding.ObjectID

	unit, description string
	presets           registry.Presets
	tags              map[string]string
}

// lowest is the priority of a write that says none (clause 19.2.1).
const lowest = constructed.Priorities

// IsPresentValue reports whether the point is the present value of its object.
func (t *Item) IsPresentValue() bool {
	return t.Property == enum.PropertyPresentValue && t.Index == constructed.Index{}
}

// Describe names the point and its object for people.
func (t *Item) Describe() string {
	if t.IsPresentValue() {
		return fmt.Sprintf("%s (%v)", t.Name, t.Object)
	}
	return fmt.Sprintf("%s (%v %v)", t.Name, t.Object, constructed.PropertyReference{Property: t.Property, Index: t.Index})
}

// Info describes the point.
func (t *Item) Info() point.Info {
	tags := maps.Clone(t.tags)
	if len(t.States) > 0 {
		if tags == nil {
			tags = make(map[string]string)
		}
		tags["states"] = strings.Join(t.States, "|")
	}
	return point.Info{
		Path: point.Path(t.Name), Kind: t.Kind, Unit: t.unit, Description: t.description, Writable: t.Writable,
		Tags: tags, Default: t.presets.Default, Min: t.presets.Min, Max: t.presets.Max,
	}
}

// check makes an item of an entry, or says what is wrong with each of its fields.
func (e *Entry) check() (t Item, problems []error) {
	fail := func(field string, err error) {
		if err != nil {
			problems = append(problems, e.problem(field, err.Error()))
		}
	}
	t = Item{Name: e.Name, unit: UnitOf(e.Unit), description: e.Description, tags: e.Tags, Property: enum.PropertyPresentValue, Priority: lowest}
	if t.Name == "" {
		fail("name", errors.New("is missing; write the name of the point"))
	} else {
		fail("name", point.Path(t.Name).Validate())
	}
	var err error
	t.Object, err = e.object()
	fail("object", err)
	if e.Property != "" {
		t.Property, err = enum.ParseProperty(Hyphenated(e.Property))
		fail("property", err)
	}
	t.Index, err = e.index()
	fail("array_index", err)
	fail("type", t.kind(e.Type))
	if e.States != "" {
		t.States = strings.Split(e.States, "|")
	}
	t.Writable, err = registry.Truth(e.Writable)
	fail("writable", err)
	fail("priority", t.priority(e.Priority))
	t.COV, err = t.cov(e.COV)
	fail("cov", err)
	t.TrendLog, err = trendLog(e.TrendLog)
	fail("trend_log", err)
	t.presets = registry.PresetText{Default: e.Default, Min: e.Min, Max: e.Max}.Read(t.Writable, t.commanded, fail)
	return t, problems
}

// object reads which object the entry means.
func (e *Entry) object() (encoding.ObjectID, error) {
	text := e.Object
	if text == "" {
		if e.ObjectType == "" || e.Instance == "" {
			return encoding.ObjectID{}, errors.New("is missing; write type and instance, such as analog-input:3")
		}
		text = e.ObjectType + ":" + e.Instance
	}
	kind, instance, _ := strings.Cut(strings.ReplaceAll(text, ",", ":"), ":")
	id, err := encoding.ParseObjectID(Hyphenated(strings.TrimSpace(kind)) + ":" + strings.TrimSpace(instance))
	if err == nil && id.Instance > encoding.MaxInstance {
		err = fmt.Errorf("%q has an instance that stands for none; write 0 to %d", text, encoding.MaxInstance)
	}
	return id, err
}

func (e *Entry) index() (constructed.Index, error) {
	if e.ArrayIndex == "" {
		return constructed.Index{}, nil
	}
	n, err := strconv.ParseUint(e.ArrayIndex, 10, 32)
	if err != nil {
		return constructed.Index{}, fmt.Errorf("%q is no index; write a number from 1, or 0 for the length of the array", e.ArrayIndex)
	}
	return constructed.At(uint32(n)), nil
}

// Hyphenated turns analogInput into analog-input, as the standard writes names in its clauses. Other forms stay.
func Hyphenated(name string) string {
	if strings.ContainsAny(name, "- _") {
		return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(name))
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (t *Item) kind(name string) error {
	t.Kind = naturalKind(t.Object.Type, t.Property)
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

func (t *Item) priority(text string) error {
	switch t.Object.Type {
	case enum.AnalogOutput, enum.BinaryOutput, enum.MultiStateOutput:
		t.Prioritized = t.IsPresentValue()
	default:
		t.Prioritized = t.IsPresentValue() && text != "" && t.Writable
	}
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(text, ".0"), 10, 8)
	if err != nil || n < 1 || n > constructed.Priorities {
		return fmt.Errorf("%q is no priority; write 1, the most urgent, to 16", text)
	}
	t.Priority = uint8(n)
	return nil
}

// cov reads whether changes are subscribed to; where nothing is said, those of present values of common types are.
func (t *Item) cov(text string) (bool, error) {
	if text == "" {
		return t.IsPresentValue() && hasCOV(t.Object.Type), nil
	}
	wanted, err := registry.Truth(text)
	if err == nil && wanted && !t.IsPresentValue() {
		err = errors.New("is true, but only the present value of an object is subscribed to; leave it out")
	}
	return wanted, err
}

// trendLog reads which object logs the point.
func trendLog(text string) (*encoding.ObjectID, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // none is named
	}
	if !strings.ContainsAny(text, ":,") {
		text = "trend-log:" + text
	}
	id, err := encoding.ParseObjectID(text)
	if err == nil && id.Type != enum.TrendLog {
		err = fmt.Errorf("%q is no trend log; write its type and instance, such as trend-log:3", text)
	}
	return &id, err
}

// commanded reads a value that commands may have.
func (t *Item) commanded(text string) (point.Value, error) {
	v, err := t.Parse(text)
	if err != nil {
		return point.Value{}, err
	}
	return t.Rounded(v)
}
