package pointlist

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver/registry"
	"voltbus/point"
)

// Decode returns the value of a point; false for what is not of its kind, such as a structure.
func (t *Item) Decode(v *ua.Variant) (point.Value, bool) {
	if v == nil {
		return point.Value{}, false
	}
	raw := v.Value()
	if t.Element >= 0 {
		list := reflect.ValueOf(raw)
		if raw == nil || list.Kind() != reflect.Slice || t.Element >= list.Len() {
			return point.Value{}, false
		}
		raw = list.Index(t.Element).Interface()
	}
	natural, ok := naturalOf(raw)
	if !ok {
		return point.Value{}, false
	}
	return t.toKind(natural)
}

// naturalOf returns a value of a built-in type as a value of the kind that is nearest (Part 6, clause 5.1.2).
func naturalOf(raw any) (point.Value, bool) {
	switch x := raw.(type) {
	case bool:
		return point.BoolOf(x), true
	case int8, int16, int32, int64:
		return point.IntOf(reflect.ValueOf(x).Int()), true
	case uint8, uint16, uint32:
		return point.IntOf(int64(reflect.ValueOf(x).Uint())), true //nolint:gosec // 32 bits
	case uint64:
		if x > math.MaxInt64 {
			return point.FloatOf(float64(x)), true
		}
		return point.IntOf(int64(x)), true
	case float32:
		return finite(shortest(x))
	case float64:
		return finite(x)
	case ua.StatusCode:
		return point.IntOf(int64(x)), true
	}
	return textOf(raw)
}

// shortest returns the number that people read for a float32: 0.1, and not 0.10000000149.
func shortest(x float32) float64 {
	wide, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil {
		return float64(x)
	}
	return wide
}

func finite(x float64) (point.Value, bool) {
	return point.FloatOf(x), !math.IsNaN(x) && !math.IsInf(x, 0)
}

func textOf(raw any) (point.Value, bool) {
	switch x := raw.(type) {
	case string:
		return point.TextOf(x), true
	case *ua.LocalizedText:
		return point.TextOf(x.Text), true
	case *ua.QualifiedName:
		return point.TextOf(x.Name), true
	case ua.XMLElement:
		return point.TextOf(string(x)), true
	case time.Time:
		return point.TextOf(x.UTC().Format(time.RFC3339Nano)), true
	case *ua.GUID:
		return point.TextOf(x.String()), true
	case *ua.NodeID:
		return point.TextOf(x.String()), true
	case []byte:
		return point.TextOf(hex.EncodeToString(x)), true
	}
	return point.Value{}, false
}

// toKind converts a value to the kind of the point.
func (t *Item) toKind(v point.Value) (point.Value, bool) {
	n, number := v.Number()
	switch {
	case t.Kind == point.None || t.Kind == v.Kind():
		return v, true
	case t.Kind == point.Text:
		if whole, is := v.Int(); is || v.Kind() == point.Bool {
			if !is && v.Bool() {
				whole = 1
			}
			if text, known := t.States.Text(whole); known {
				return point.TextOf(text), true
			}
		}
		return point.TextOf(v.String()), true
	case !number:
		return point.Value{}, false
	case t.Kind == point.Bool:
		return point.BoolOf(n != 0), true
	case t.Kind == point.Int:
		return point.IntOf(int64(n)), n == math.Trunc(n) && math.Abs(n) < 1<<63
	}
	return point.FloatOf(n), true
}

// Parse reads a value that a person wrote: a number, true or false, or the text of a state.
func (t *Item) Parse(text string) (point.Value, error) {
	if n, known := t.States.Value(text); known && t.Kind != point.Text {
		return point.IntOf(n), nil
	}
	switch t.Kind {
	case point.Text:
		return point.TextOf(text), nil
	case point.Bool:
		on, err := registry.Truth(text)
		return point.BoolOf(on), err
	default:
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && t.Kind != point.Float {
		return point.IntOf(n), nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return point.FloatOf(x), nil
	}
	if t.Kind != point.None {
		return point.Value{}, fmt.Errorf("%q is no %v", text, t.Kind)
	}
	if on, err := registry.Truth(text); err == nil {
		return point.BoolOf(on), nil
	}
	return point.TextOf(text), nil
}

// The reasons why a point cannot accept a value.
var (
	errNoValue = errors.New("is no value; write one")
	errNoText  = errors.New("is a number, and the point a text")
	errText    = errors.New("is text, and the point a number")
	errWhole   = errors.New("is no whole number, and the point takes no other")
	errTruth   = errors.New("is neither 0 nor 1, and the point takes no other")
)

// Fit returns what a point of the kind has after accepting a value, or why it cannot accept it.
func (t *Item) Fit(v point.Value) (point.Value, error) {
	n, number := v.Number()
	switch {
	case v.Kind() == point.None, number && (math.IsNaN(n) || math.IsInf(n, 0)):
		return v, errNoValue
	case t.Kind == point.None:
		return v, nil
	case t.Kind == point.Text && len(t.States) > 0:
		if _, known := t.States.Value(v.Text()); !known {
			return v, fmt.Errorf("is none of the states of the point; write one of %s", strings.ReplaceAll(t.States.String(), "|", ", "))
		}
		return v, nil
	case t.Kind == point.Text && number:
		return v, errNoText
	case t.Kind == point.Text:
		return v, nil
	case !number:
		if state, known := t.States.Value(v.Text()); known && t.Kind == point.Int {
			return point.IntOf(state), nil
		}
		return v, errText
	case t.Kind == point.Int && n != math.Trunc(n):
		return v, errWhole
	case t.Kind == point.Bool && n != 0 && n != 1:
		return v, errTruth
	}
	fitted, ok := t.toKind(v)
	if !ok {
		return v, errWhole
	}
	return fitted, nil
}

// Encode returns a value as a variant of a built-in type of OPC UA, or why it does not fit.
func (t *Item) Encode(v point.Value, typ ua.TypeID) (*ua.Variant, error) {
	v, err := t.Fit(v)
	if err != nil {
		return nil, err
	}
	if t.Kind == point.Text && len(t.States) > 0 && typ != ua.TypeIDString && typ != ua.TypeIDLocalizedText {
		state, _ := t.States.Value(v.Text())
		v = point.IntOf(state)
	}
	raw, err := rawOf(v, typ)
	if err != nil {
		return nil, err
	}
	if t.Element >= 0 { // an index range takes an array, of one element
		list := reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(raw)), 1, 1)
		list.Index(0).Set(reflect.ValueOf(raw))
		if bytes, is := reflect.TypeAssert[[]byte](list); is {
			return ua.NewVariant(ua.ByteArray(bytes))
		}
		raw = list.Interface()
	}
	return ua.NewVariant(raw)
}

// whole are the ranges of the integer types.
var whole = map[ua.TypeID]struct { //nolint:gochecknoglobals // a table
	min, max float64
	like     any
}{
	ua.TypeIDSByte: {math.MinInt8, math.MaxInt8, int8(0)}, ua.TypeIDByte: {0, math.MaxUint8, uint8(0)},
	ua.TypeIDInt16: {math.MinInt16, math.MaxInt16, int16(0)}, ua.TypeIDUint16: {0, math.MaxUint16, uint16(0)},
	ua.TypeIDInt32: {math.MinInt32, math.MaxInt32, int32(0)}, ua.TypeIDUint32: {0, math.MaxUint32, uint32(0)},
	ua.TypeIDInt64: {math.MinInt64, math.MaxInt64, int64(0)}, ua.TypeIDUint64: {0, math.MaxInt64, uint64(0)},
}

func rawOf(v point.Value, typ ua.TypeID) (any, error) {
	n, number := v.Number()
	if limits, is := whole[typ]; is {
		switch {
		case !number:
			return nil, errText
		case n != math.Trunc(n):
			return nil, errWhole
		case n < limits.min || n > limits.max:
			return nil, fmt.Errorf("%v is out of the range of the node, a %v; write %.0f to %.0f", v, typ, limits.min, limits.max)
		}
		i, is := v.Int()
		if !is {
			i = int64(n)
		}
		return reflect.ValueOf(i).Convert(reflect.TypeOf(limits.like)).Interface(), nil
	}
	switch typ {
	case ua.TypeIDBoolean:
		if !number {
			return nil, errText
		}
		if n != 0 && n != 1 {
			return nil, errTruth
		}
		return n == 1, nil
	case ua.TypeIDFloat:
		if number && math.Abs(n) > math.MaxFloat32 {
			return nil, fmt.Errorf("%v is out of the range of the node, a Float; write up to 3.4e38", v)
		}
		if number {
			return float32(n), nil
		}
		return nil, errText
	case ua.TypeIDDouble:
		if number {
			return n, nil
		}
		return nil, errText
	default:
		return rawText(v, typ)
	}
}

func rawText(v point.Value, typ ua.TypeID) (any, error) {
	if v.Kind() != point.Text {
		return nil, fmt.Errorf("is a number, and the node a %v; write text", typ)
	}
	switch typ {
	case ua.TypeIDString:
		return v.Text(), nil
	case ua.TypeIDLocalizedText:
		return ua.NewLocalizedText(v.Text()), nil
	case ua.TypeIDDateTime:
		at, err := time.Parse(time.RFC3339Nano, v.Text())
		if err != nil {
			return nil, fmt.Errorf("%q is no time; write one such as 2026-03-01T12:00:00Z", v.Text())
		}
		return at, nil
	case ua.TypeIDByteString:
		data, err := hex.DecodeString(v.Text())
		if err != nil {
			return nil, fmt.Errorf("%q are no bytes; write them as hexadecimal digits", v.Text())
		}
		return data, nil
	default:
		return nil, fmt.Errorf("the node is a %v, which cannot be written from here", typ)
	}
}
