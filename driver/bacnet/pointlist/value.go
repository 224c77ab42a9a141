package pointlist

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"voltbus/driver/registry"
	"voltbus/point"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// shape is how the present value of a type of object is written.
type shape struct {
	kind point.Kind
	wire encoding.Kind
	cov  bool // clause 13.1: SubscribeCOV knows the type
}

// shapes are those of the standard's types with a present value (clause 12). Other types, those of vendors among
// them, have the values that the device sends.
var shapes = map[enum.ObjectType]shape{ //nolint:gochecknoglobals // a table
	enum.AnalogInput: {point.Float, encoding.KindReal, true}, enum.AnalogOutput: {point.Float, encoding.KindReal, true}, enum.AnalogValue: {point.Float, encoding.KindReal, true},
	enum.BinaryInput: {point.Bool, encoding.KindEnumerated, true}, enum.BinaryOutput: {point.Bool, encoding.KindEnumerated, true}, enum.BinaryValue: {point.Bool, encoding.KindEnumerated, true},
	enum.MultiStateInput: {point.Int, encoding.KindUnsigned, true}, enum.MultiStateOutput: {point.Int, encoding.KindUnsigned, true}, enum.MultiStateValue: {point.Int, encoding.KindUnsigned, true},
	enum.Loop: {point.Float, encoding.KindReal, true}, enum.Accumulator: {point.Int, encoding.KindUnsigned, false}, enum.PulseConverter: {point.Float, encoding.KindReal, true},
	enum.LargeAnalogValue: {point.Float, encoding.KindDouble, true}, enum.IntegerValue: {point.Int, encoding.KindSigned, true}, enum.PositiveIntegerValue: {point.Int, encoding.KindUnsigned, true},
	enum.CharacterstringValue: {point.Text, encoding.KindCharacterString, true}, enum.BitstringValue: {point.Text, encoding.KindBitString, true},
	enum.DateValue: {point.Text, encoding.KindDate, true}, enum.TimeValue: {point.Text, encoding.KindTime, true}, enum.OctetstringValue: {point.Text, encoding.KindOctetString, true},
	enum.Calendar: {point.Bool, encoding.KindBoolean, false}, enum.LightingOutput: {point.Float, encoding.KindReal, true}, enum.BinaryLightingOutput: {point.Bool, encoding.KindEnumerated, true},
}

func hasCOV(t enum.ObjectType) bool { return shapes[t].cov }

// naturalKind returns what the values of a property are; None where only the device knows.
func naturalKind(t enum.ObjectType, p enum.Property) point.Kind {
	switch p {
	case enum.PropertyPresentValue:
		return shapes[t].kind
	case enum.PropertyObjectName, enum.PropertyDescription, enum.PropertyLocation, enum.PropertyModelName, enum.PropertyVendorName, enum.PropertyFirmwareRevision:
		return point.Text
	case enum.PropertyOutOfService:
		return point.Bool
	case enum.PropertyHighLimit, enum.PropertyLowLimit, enum.PropertyCOVIncrement, enum.PropertyMaxPresValue, enum.PropertyMinPresValue:
		return point.Float
	default:
		return point.None
	}
}

// Decode returns the value of a point; false for what is not of its kind. What is constructed, and what a kind
// does not know, becomes text: raw data in hexadecimal.
func (t *Item) Decode(data encoding.Any) (point.Value, bool) {
	if text, known := constructed.Text(t.Property, data); known {
		return point.TextOf(text), t.Kind == point.Text || t.Kind == point.None
	}
	values, err := data.Values()
	if err != nil {
		return point.Value{}, false
	}
	if len(values) != 1 {
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = v.String()
		}
		return point.TextOf(strings.Join(texts, ", ")), t.Kind == point.Text || t.Kind == point.None
	}
	return t.decode(values[0])
}

func (t *Item) decode(v encoding.Value) (point.Value, bool) {
	kind := t.Kind
	if kind == point.None {
		kind = kindOf(v.Kind())
	}
	x, isNumber := v.Float()
	switch kind {
	case point.Float:
		return point.FloatOf(x), isNumber
	case point.Bool:
		return point.BoolOf(x != 0), isNumber && v.Kind() != encoding.KindReal && v.Kind() != encoding.KindDouble
	case point.Int:
		return integer(v)
	case point.Text:
		if n, ok := v.Float(); ok && len(t.States) > 0 {
			if i := int(n) - t.firstState(); i >= 0 && i < len(t.States) {
				return point.TextOf(t.States[i]), true
			}
		}
		return point.TextOf(v.String()), true
	case point.None:
	}
	return point.Value{}, false
}

func integer(v encoding.Value) (point.Value, bool) {
	switch v.Kind() {
	case encoding.KindSigned:
		return point.IntOf(v.Int()), true
	case encoding.KindBoolean, encoding.KindUnsigned, encoding.KindEnumerated:
		return point.IntOf(int64(v.Uint())), v.Uint() <= math.MaxInt64
	default:
		return point.Value{}, false
	}
}

// kindOf returns what values of a type of BACnet are where nobody has said it.
func kindOf(k encoding.Kind) point.Kind {
	switch k {
	case encoding.KindBoolean:
		return point.Bool
	case encoding.KindUnsigned, encoding.KindSigned, encoding.KindEnumerated:
		return point.Int
	case encoding.KindReal, encoding.KindDouble:
		return point.Float
	case encoding.KindNull:
		return point.None
	default:
		return point.Text
	}
}

// firstState is the number of the first state: binary objects count from 0, multi-state objects from 1.
func (t *Item) firstState() int {
	if shapes[t.Object.Type].kind == point.Int {
		return 1
	}
	return 0
}

// wire returns the type that the device wants; KindNull where only the device knows.
func (t *Item) wire() encoding.Kind {
	if t.Property == enum.PropertyPresentValue {
		return shapes[t.Object.Type].wire
	}
	switch t.Kind {
	case point.Text:
		return encoding.KindCharacterString
	case point.Bool:
		return encoding.KindBoolean
	case point.Float:
		return encoding.KindReal
	default:
		return encoding.KindNull
	}
}

// Unknown reports whether only a reading tells the type in which the device wants values.
func (t *Item) Unknown() bool { return t.wire() == encoding.KindNull }

// Reasons why a value does not fit.
var (
	errNoNumber = errors.New("is no number; write one")
	errNoValue  = errors.New("is no value; write one")
	errShape    = errors.New("values of this type cannot be written")
)

// Encode returns a value as the device wants it. like is the type of the present value, for points whose type only
// the device knows. The error says what to write instead.
func (t *Item) Encode(v point.Value, like encoding.Kind) (encoding.Value, error) {
	kind := t.wire()
	if kind == encoding.KindNull {
		kind = like
	}
	if v.Kind() == point.None {
		return encoding.Value{}, errNoValue
	}
	if v.Kind() == point.Text {
		return t.encodeText(v.Text(), kind)
	}
	x, ok := v.Number()
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return encoding.Value{}, fmt.Errorf("%v %w", v, errNoNumber)
	}
	return encodeNumber(x, v, kind)
}

func encodeNumber(x float64, v point.Value, kind encoding.Kind) (encoding.Value, error) {
	switch kind {
	case encoding.KindReal:
		if math.Abs(x) > math.MaxFloat32 {
			return encoding.Value{}, fmt.Errorf("%v does not fit a real of 32 bits; write at most %g", v, math.MaxFloat32)
		}
		return encoding.Real(float32(x)), nil
	case encoding.KindDouble:
		return encoding.Double(x), nil
	case encoding.KindBoolean:
		if x != 0 && x != 1 {
			return encoding.Value{}, fmt.Errorf("%v is neither 0 nor 1", v)
		}
		return encoding.Boolean(x != 0), nil
	default:
		return encodeWhole(x, v, kind)
	}
}

// encodeWhole returns a value of a type that holds whole numbers.
func encodeWhole(x float64, v point.Value, kind encoding.Kind) (encoding.Value, error) {
	least, most := 0.0, float64(math.MaxUint32)
	if kind == encoding.KindSigned {
		least, most = math.MinInt32, math.MaxInt32
	}
	if x != math.Trunc(x) || x < least || x > most {
		return encoding.Value{}, fmt.Errorf("%v does not fit; write a whole number from %.0f to %.0f", v, least, most)
	}
	switch kind {
	case encoding.KindEnumerated:
		return encoding.Enumerated(uint32(x)), nil
	case encoding.KindUnsigned:
		return encoding.Unsigned(uint64(x)), nil
	case encoding.KindSigned:
		return encoding.Signed(int64(x)), nil
	default:
		return encoding.Value{}, fmt.Errorf("%v: %w", v, errShape)
	}
}

func (t *Item) encodeText(text string, kind encoding.Kind) (encoding.Value, error) {
	switch kind {
	case encoding.KindCharacterString:
		return encoding.Text(text), nil
	case encoding.KindOctetString:
		return encoding.OctetString([]byte(text)), nil
	case encoding.KindEnumerated, encoding.KindUnsigned:
		i := slices.IndexFunc(t.States, func(state string) bool { return strings.EqualFold(state, text) })
		if i < 0 {
			if n, err := strconv.ParseUint(text, 10, 32); err == nil {
				return encodeNumber(float64(n), point.IntOf(int64(n)), kind)
			}
			return encoding.Value{}, fmt.Errorf("%q is no state of the point; write %s", text, t.stateList())
		}
		return encodeNumber(float64(i+t.firstState()), point.IntOf(int64(i)), kind)
	default:
		return encoding.Value{}, fmt.Errorf("%q %w", text, errNoNumber)
	}
}

func (t *Item) stateList() string {
	if len(t.States) == 0 {
		return "its number"
	}
	return strings.Join(t.States, ", ")
}

// Rounded returns what the point reports once it has taken a value. Where only the device knows, it is the value itself.
func (t *Item) Rounded(v point.Value) (point.Value, error) {
	if t.Unknown() {
		if x, ok := v.Number(); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			return point.Value{}, fmt.Errorf("%v %w", v, errNoNumber)
		}
		return v, nil
	}
	w, err := t.Encode(v, encoding.KindNull)
	if err != nil {
		return point.Value{}, err
	}
	if shapes[t.Object.Type].kind == point.Bool && t.IsPresentValue() && w.Uint() > 1 {
		return point.Value{}, fmt.Errorf("%v is no state; write 0 for inactive or 1 for active", v)
	}
	if t.firstState() == 1 && t.IsPresentValue() && w.Kind() == encoding.KindUnsigned && isMultiState(t.Object.Type) && w.Uint() == 0 {
		return point.Value{}, errors.New("0 is no state; states count from 1")
	}
	if rounded, ok := t.decode(w); ok {
		return rounded, nil
	}
	return v, nil
}

func isMultiState(t enum.ObjectType) bool {
	return t == enum.MultiStateInput || t == enum.MultiStateOutput || t == enum.MultiStateValue
}

// Parse reads a value that somebody wrote for the point.
func (t *Item) Parse(text string) (point.Value, error) {
	switch t.Kind {
	case point.Bool:
		on, err := registry.Truth(text)
		if err != nil {
			if i := slices.Index(t.States, text); i >= 0 {
				return point.BoolOf(i == 1), nil
			}
			return point.Value{}, err
		}
		return point.BoolOf(on), nil
	case point.Text:
		return point.TextOf(text), nil
	case point.Int, point.Float, point.None:
		if i := slices.Index(t.States, text); i >= 0 {
			return point.IntOf(int64(i + t.firstState())), nil
		}
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil && t.Kind == point.None:
			return point.TextOf(text), nil
		case err != nil:
			return point.Value{}, fmt.Errorf("%q %w", text, errNoNumber)
		case t.Kind == point.Int && x == math.Trunc(x):
			return point.IntOf(int64(x)), nil
		}
		return point.FloatOf(x), nil
	}
	return point.Value{}, errShape
}
