package ingest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/fault"
	"voltbus/ingest/jsontext"
	"voltbus/ingest/scalar"
	"voltbus/point"
)

// label is a field of a SenML record, by its number in CBOR (RFC 8428, section 6).
type label int8

const (
	baseVersion label = -1
	baseName    label = -2
	baseTime    label = -3
	baseUnit    label = -4
	baseValue   label = -5
	baseSum     label = -6
	labelName   label = 0
	labelUnit   label = 1
	labelValue  label = 2
	stringValue label = 3
	boolValue   label = 4
	labelSum    label = 5
	atTime      label = 6
	updateTime  label = 7
	dataValue   label = 8
	otherLabel  label = 127 // may be ignored
	vitalLabel  label = 126 // ends with "_": a reader that does not know it must stop
)

// senmlVersion is the version of SenML that RFC 8428 defines.
const senmlVersion = 10

// relativeBefore is the time in seconds below which times are relative to now (section 4.5.3).
const relativeBefore = 1 << 28

// sumName is the name of a point's sum below the point.
const sumName = "/sum"

var (
	errPack      = errors.New("must be an array of SenML records")
	errRecord    = errors.New("a SenML record must be a map of fields")
	errFieldType = errors.New("is of the wrong type")
	errVersion   = fmt.Errorf("is SenML of a version above %d, which is not known here", senmlVersion)
	errVital     = errors.New(`has a field whose name ends with "_", which must be understood and is not known here`)
	errTwoValues = errors.New("has several values; write one of v, vs, vb and vd")
	errRecordNot = errors.New("has neither a value nor a sum")
	errName      = errors.New("a SenML name begins with a letter or digit, and goes on with these and - : . / _")
	errData      = errors.New("vd must be base64 for URLs without padding")
)

// fieldContent is the content of a field.
type fieldContent struct {
	number point.Value // for a number or a bool
	text   []byte
	data   []byte // for bytes
}

// record is a SenML record as written, and base the base fields from earlier ones.
type record struct {
	name, unit    []byte
	value         point.Value
	values        int // number of values
	sum, time     float64
	hasSum, named bool
	hasBase       bool
	number        bool // the value is v
}

type base struct {
	name, unit       []byte
	time, value, sum float64
	hasValue         bool
}

// pack is the state of reading one SenML pack.
type pack struct {
	*Parser
	base   base
	record record
	joined []byte
}

// set sets a field of the record.
func (k *pack) set(l label, v *fieldContent) error {
	r := &k.record
	switch l {
	case baseName, labelName, baseUnit, labelUnit, stringValue:
		if v.text == nil {
			return errFieldType
		}
		return k.setText(l, v.text)
	case boolValue:
		if v.number.Kind() != point.Bool {
			return errFieldType
		}
		r.value = v.number
		r.values++
	case dataValue:
		data, err := v.base64()
		if err != nil {
			return err
		}
		r.values++
		r.value, err = scalar.Text(data)
		return err
	case vitalLabel:
		return errVital
	case otherLabel, updateTime:
	case baseVersion, baseTime, baseValue, baseSum, labelValue, labelSum, atTime:
		if v.number.Kind() != point.Float && v.number.Kind() != point.Int {
			return errFieldType
		}
		r.hasBase = r.hasBase || l < 0
		return k.setNumber(l, v.number)
	}
	return nil
}

func (k *pack) setText(l label, t []byte) (err error) {
	r := &k.record
	switch l {
	case baseName:
		k.base.name, r.hasBase = t, true
	case baseUnit:
		k.base.unit, r.hasBase = t, true
	case labelName:
		r.name, r.named = t, true
	case labelUnit:
		r.unit = t
	default: // stringValue
		r.values++
		r.value, err = scalar.Text(t)
	}
	return err
}

func (k *pack) setNumber(l label, v point.Value) error {
	r, b := &k.record, &k.base
	f, _ := v.Number()
	switch l {
	case baseVersion:
		if f > senmlVersion {
			return errVersion
		}
	case baseTime:
		b.time = f
	case baseValue:
		b.value, b.hasValue = f, true
	case baseSum:
		b.sum = f
	case labelSum:
		r.sum, r.hasSum = f, true
	case atTime:
		r.time = f
	default: // value
		r.value, r.number = v, true
		r.values++
	}
	return nil
}

// base64 returns data as URL-safe base64.
func (v *fieldContent) base64() ([]byte, error) {
	switch {
	case v.data != nil:
		return base64.RawURLEncoding.AppendEncode(nil, v.data), nil
	case v.text == nil:
		return nil, errFieldType
	}
	if _, err := base64.RawURLEncoding.DecodeString(string(v.text)); err != nil {
		return nil, errData
	}
	return v.text, nil
}

// finish resolves the record with the base fields, and appends its readings.
func (k *pack) finish(n int) error {
	r, b := &k.record, &k.base
	if r.values == 0 && !r.hasSum && (r.hasBase && !r.named) {
		return nil // it only sets base fields for the following ones
	}
	k.joined = append(append(k.joined[:0], b.name...), r.name...)
	switch {
	case r.values > 1:
		return errTwoValues
	case r.values == 0 && !r.hasSum:
		return errRecordNot
	case !validName(k.joined):
		return errName
	}
	at, err := k.resolveTime(b.time + r.time)
	if err != nil {
		return err
	}
	u := r.unit
	if u == nil {
		u = b.unit
	}
	if r.values == 1 {
		if err := k.emit(n, at, k.resolveValue(), u); err != nil {
			return err
		}
	}
	if !r.hasSum {
		return nil
	}
	k.joined = append(k.joined, sumName...)
	return k.emit(n, at, point.FloatOf(r.sum+b.sum), nil)
}

func (k *pack) resolveValue() point.Value {
	if !k.record.number || !k.base.hasValue {
		return k.record.value
	}
	f, _ := k.record.value.Number()
	return point.FloatOf(f + k.base.value)
}

func (k *pack) emit(n int, at int64, v point.Value, u []byte) error {
	if f, ok := v.Number(); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
		return scalar.ErrTooLarge
	}
	path, err := k.names.path(k.joined)
	if err != nil {
		return err
	}
	k.unitOf(path, u)
	k.add(n, &point.Sample{Point: path, Time: sampleTime(at), Value: v})
	return nil
}

// resolveTime converts seconds to microseconds. Small ones are relative to now.
func (k *pack) resolveTime(seconds float64) (int64, error) {
	if seconds >= relativeBefore {
		return scalar.FloatMicros(seconds, time.Second)
	}
	if seconds < -relativeBefore*32 { // centuries
		return 0, scalar.ErrTimeRange
	}
	return scalar.InRange(k.now + int64(math.Round(seconds*1e6)))
}

// validName reports whether a resolved name has only characters that RFC 8428 allows.
func validName(b []byte) bool {
	for i, c := range b {
		switch {
		case c-'0' <= 9 || (c|0x20)-'a' <= 'z'-'a':
		case i > 0 && (c == '-' || c == ':' || c == '.' || c == '/' || c == '_'):
		default:
			return false
		}
	}
	return len(b) > 0
}

// close ends a record, whose fields led to err, and refuses it if it is wrong. Only an unknown version ends
// the pack.
func (k *pack) close(n int, err error) error {
	if errors.Is(err, errVersion) || errors.Is(err, errVital) {
		return fault.E("ingest.Parse", fault.Invalid, fmt.Sprintf("record %d", n), err)
	}
	if err == nil {
		err = k.finish(n)
	}
	if err != nil {
		k.refuse(n, string(k.base.name)+string(k.record.name), err)
	}
	k.record = record{}
	return k.spill()
}

// parseSenML parses SenML as JSON.
func (p *Parser) parseSenML(body []byte) error {
	s := jsontext.New(body)
	if err := s.Check(); err != nil {
		return err
	}
	if !s.Accept('[') {
		return fault.E("ingest.Parse", fault.Invalid, "body", errPack)
	}
	k := &pack{Parser: p}
	for n := 1; s.Item(); n++ {
		if err := k.close(n, k.readJSON(s)); err != nil {
			return err
		}
	}
	return nil
}

// readJSON reads the fields of a record. It always consumes the whole record.
func (k *pack) readJSON(s *jsontext.Scanner) (err error) {
	if s.Peek() != '{' {
		s.Raw()
		return errRecord
	}
	s.Accept('{')
	for field, ok := s.Key(); ok; field, ok = s.Key() {
		raw := s.Raw()
		l := labelOf(field)
		if l == otherLabel {
			continue
		}
		v, e := senmlValue(raw)
		if e == nil {
			e = k.set(l, &v)
		}
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", clip(string(field)), e)
		}
	}
	return err
}

func senmlValue(raw []byte) (v fieldContent, err error) {
	switch raw[0] {
	case '"':
		v.text = jsontext.Unquote(raw)
	case 't', 'f':
		v.number = point.BoolOf(raw[0] == 't')
	case 'n', '{', '[':
		return v, errFieldType
	default:
		v.number, err = scalar.Number(raw)
	}
	return v, err
}

// labelOf returns the label of a JSON field name.
func labelOf(field []byte) label {
	switch string(field) {
	case "bn":
		return baseName
	case "bt":
		return baseTime
	case "bu":
		return baseUnit
	case "bv":
		return baseValue
	case "bs":
		return baseSum
	case "bver":
		return baseVersion
	case "n":
		return labelName
	case "u":
		return labelUnit
	case "v":
		return labelValue
	case "vs":
		return stringValue
	case "vb":
		return boolValue
	case "vd":
		return dataValue
	case "s":
		return labelSum
	case "t":
		return atTime
	}
	if len(field) > 0 && field[len(field)-1] == '_' {
		return vitalLabel
	}
	return otherLabel
}
