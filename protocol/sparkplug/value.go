package sparkplug

import (
	"errors"
	"fmt"
	"math"

	"voltbus/protocol/sparkplug/payload"
)

// DataType is the type of a metric (chapter 6.4.16).
type DataType uint32

// The types whose values are handed over. Data sets, templates, files and arrays are not.
const (
	Int8     DataType = 1
	Int16    DataType = 2
	Int32    DataType = 3
	Int64    DataType = 4
	UInt8    DataType = 5
	UInt16   DataType = 6
	UInt32   DataType = 7
	UInt64   DataType = 8
	Float    DataType = 9
	Double   DataType = 10
	Boolean  DataType = 11
	String   DataType = 12
	DateTime DataType = 13
	Text     DataType = 14
	UUID     DataType = 15
)

// Known reports whether values of the type are handed over.
func (t DataType) Known() bool { return t >= Int8 && t <= UUID }

var (
	errType  = errors.New("has a type without a single value, such as a data set; it is left out")
	errValue = errors.New("has a value of another type than its birth says")
)

// ValueOf returns the value of a metric of a type: int64, uint64 for UInt64, float64, bool or string; nil for null.
func ValueOf(m *payload.Metric, t DataType) (any, error) {
	if m.GetIsNull() {
		return nil, nil //nolint:nilnil // null is a value
	}
	switch v := m.GetValue().(type) {
	case *payload.Metric_IntValue:
		return integerOf(uint64(v.IntValue), t)
	case *payload.Metric_LongValue:
		return integerOf(v.LongValue, t)
	case *payload.Metric_FloatValue:
		if t == Float || t == Double {
			return float64(v.FloatValue), nil
		}
	case *payload.Metric_DoubleValue:
		if t == Float || t == Double {
			return v.DoubleValue, nil
		}
	case *payload.Metric_BooleanValue:
		if t == Boolean {
			return v.BooleanValue, nil
		}
	case *payload.Metric_StringValue:
		if t == String || t == Text || t == UUID {
			return v.StringValue, nil
		}
	}
	if !t.Known() {
		return nil, errType
	}
	return nil, errValue
}

// integerOf reads two's complement of the type's width (chapter 6.4.17): some edge nodes extend the sign to 32 bits, and
// others leave it.
func integerOf(v uint64, t DataType) (any, error) {
	switch t {
	case Int8:
		return int64(int8(v)), nil //nolint:gosec // two's complement
	case Int16:
		return int64(int16(v)), nil //nolint:gosec // two's complement
	case Int32:
		return int64(int32(v)), nil //nolint:gosec // two's complement
	case Int64, DateTime:
		return int64(v), nil //nolint:gosec // two's complement
	case UInt8, UInt16, UInt32:
		return int64(v & math.MaxUint32), nil
	case UInt64:
		return v, nil
	case Float, Double, Boolean, String, Text, UUID:
		return nil, errValue
	}
	return nil, errType
}

// SetValue gives a metric a value of a type: float64 for numbers, bool or string. The error says why it does not fit.
func SetValue(m *payload.Metric, t DataType, v any) error {
	code := uint32(t)
	m.Datatype = &code
	switch v := v.(type) {
	case bool:
		if t == Boolean {
			m.Value = &payload.Metric_BooleanValue{BooleanValue: v}
			return nil
		}
	case string:
		if t == String || t == Text || t == UUID {
			m.Value = &payload.Metric_StringValue{StringValue: v}
			return nil
		}
	case float64:
		return setNumber(m, t, v)
	}
	return fmt.Errorf("%v does not fit a metric of type %d", v, t)
}

// span is which whole numbers a type holds.
var spans = map[DataType][2]float64{ //nolint:gochecknoglobals // a table
	Int8: {math.MinInt8, math.MaxInt8}, Int16: {math.MinInt16, math.MaxInt16}, Int32: {math.MinInt32, math.MaxInt32}, Int64: {-1 << 62, 1 << 62},
	UInt8: {0, math.MaxUint8}, UInt16: {0, math.MaxUint16}, UInt32: {0, math.MaxUint32}, UInt64: {0, 1 << 63}, DateTime: {0, 1 << 62},
}

func setNumber(m *payload.Metric, t DataType, v float64) error {
	span, whole := spans[t]
	switch {
	case t == Float:
		m.Value = &payload.Metric_FloatValue{FloatValue: float32(v)}
		return nil
	case t == Double:
		m.Value = &payload.Metric_DoubleValue{DoubleValue: v}
		return nil
	case t == Boolean && (v == 0 || v == 1):
		m.Value = &payload.Metric_BooleanValue{BooleanValue: v == 1}
		return nil
	case !whole:
		return fmt.Errorf("%v does not fit a metric of type %d", v, t)
	case v != math.Trunc(v) || v < span[0] || v > span[1]:
		return fmt.Errorf("%v does not fit; write a whole number from %g to %g", v, span[0], span[1])
	case t == Int64:
		m.Value = &payload.Metric_LongValue{LongValue: uint64(int64(v))} //nolint:gosec // two's complement
	case t == UInt64, t == DateTime:
		m.Value = &payload.Metric_LongValue{LongValue: uint64(v)}
	default:
		m.Value = &payload.Metric_IntValue{IntValue: uint32(int64(v))} //nolint:gosec // two's complement
	}
	return nil
}
