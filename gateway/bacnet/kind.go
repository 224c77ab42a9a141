package bacnet

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"voltbus/point"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

const characterString = "characterstring-value"

// family is what types of objects have in common.
type family uint8

const (
	analog family = iota
	binary
	multiState
	text
)

// objectKind is a type of objects that can be served.
type objectKind struct {
	name   string
	object enum.ObjectType
	family family
	output bool // it is always commandable
	input  bool // it never is
}

var objectKindTable = []objectKind{
	{"analog-input", enum.AnalogInput, analog, false, true},
	{"analog-output", enum.AnalogOutput, analog, true, false},
	{"analog-value", enum.AnalogValue, analog, false, false},
	{"binary-input", enum.BinaryInput, binary, false, true},
	{"binary-output", enum.BinaryOutput, binary, true, false},
	{"binary-value", enum.BinaryValue, binary, false, false},
	{"multi-state-input", enum.MultiStateInput, multiState, false, true},
	{"multi-state-output", enum.MultiStateOutput, multiState, true, false},
	{"multi-state-value", enum.MultiStateValue, multiState, false, false},
	{characterString, enum.CharacterstringValue, text, false, false},
}

func typeNames() []string {
	names := make([]string, len(objectKindTable))
	for i := range objectKindTable {
		names[i] = objectKindTable[i].name
	}
	return names
}

// kindOf returns the type of the object of a point: as the mapping says, otherwise by the kind of the point. An input is what is not
// commanded, a value what is.
func kindOf(p *Point, kind point.Kind, commandable bool) objectKind {
	if i := slices.IndexFunc(objectKindTable, func(k objectKind) bool { return k.name == p.Type }); i >= 0 {
		return objectKindTable[i]
	}
	of := analog
	switch {
	case kind == point.Text && len(p.States) == 0:
		return objectKindTable[len(objectKindTable)-1]
	case kind == point.Bool:
		of = binary
	case len(p.States) > 0:
		of = multiState
	}
	i := slices.IndexFunc(objectKindTable, func(k objectKind) bool { return k.family == of && !k.output && k.input != commandable })
	return objectKindTable[i]
}

// converter converts between values of a point and of its object.
type converter struct {
	family family
	kind   point.Kind // of the point; None if it is not known
	states []string
	first  int64 // value of the point in state 1
}

// initial is the value of an object that has none yet.
func (c *converter) initial() encoding.Value {
	switch c.family {
	case binary:
		return encoding.Enumerated(uint8(0))
	case multiState:
		return encoding.Unsigned(1)
	case text:
		return encoding.Text("")
	default:
		return encoding.Real(0)
	}
}

// toObject converts a value of the point; false if the object has no such value.
func (c *converter) toObject(v point.Value) (encoding.Value, bool) {
	if c.family == text {
		return encoding.Text(v.String()), v.Kind() != point.None
	}
	if v.Kind() == point.Text {
		i := slices.Index(c.states, v.String())
		if i < 0 {
			return encoding.Value{}, false
		}
		if c.family == binary {
			return encoding.Enumerated(uint8(i)), true
		}
		return encoding.Unsigned(uint64(i + 1)), c.family == multiState
	}
	number, ok := v.Number()
	if !ok || math.IsNaN(number) {
		return encoding.Value{}, false
	}
	return c.numberToObject(number)
}

// numberToObject is toObject for a number.
func (c *converter) numberToObject(number float64) (encoding.Value, bool) {
	switch c.family {
	case binary:
		on := uint8(0)
		if number != 0 {
			on = 1
		}
		return encoding.Enumerated(on), true
	case multiState:
		state := number - float64(c.first) + 1
		if state != math.Trunc(state) || state < 1 || state > float64(len(c.states)) {
			return encoding.Value{}, false
		}
		return encoding.Unsigned(uint64(state)), true
	case text:
		return encoding.Value{}, false
	default:
		return encoding.Real(float32(number)), math.Abs(number) <= math.MaxFloat32
	}
}

// toPoint converts what is written to the object into a value of a command, as JSON.
func (c *converter) toPoint(v encoding.Value) json.RawMessage {
	number, _ := v.Float()
	switch {
	case c.family == text:
		return quoted(v.Text())
	case c.kind == point.Text:
		i := int(number)
		if c.family == multiState {
			i--
		}
		if i < 0 || i >= len(c.states) {
			return nil
		}
		return quoted(c.states[i])
	case c.family == binary && c.kind != point.Float && c.kind != point.Int:
		return json.RawMessage(strconv.FormatBool(number != 0))
	case c.family == multiState:
		return json.RawMessage(strconv.FormatInt(int64(number)-1+c.first, 10))
	case c.kind == point.Bool:
		return json.RawMessage(strconv.FormatBool(number != 0))
	case c.kind == point.Int:
		return json.RawMessage(strconv.FormatFloat(math.Round(number), 'f', -1, 64))
	default:
		return json.RawMessage(strconv.FormatFloat(number, 'g', -1, 32)) // a real has 24 bits: 21.6, not 21.600000381
	}
}

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string is always encoded
	return b
}

// fromJSON converts a value of an answer of the node, null for none.
func (c *converter) fromJSON(raw json.RawMessage) (encoding.Value, bool) {
	var on bool
	var number float64
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return encoding.Value{}, false
	case json.Unmarshal(raw, &on) == nil:
		return c.toObject(point.BoolOf(on))
	case json.Unmarshal(raw, &number) == nil:
		return c.toObject(point.FloatOf(number))
	case json.Unmarshal(raw, &s) == nil:
		return c.toObject(point.TextOf(s))
	}
	return encoding.Value{}, false
}
