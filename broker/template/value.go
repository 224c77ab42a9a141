package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"voltbus/point"
)

var (
	errNumber = errors.New("is not a number")
	errBool   = errors.New("is neither true nor false; list its words in on and off")
	errText   = errors.New("is not a text of at most 64 KiB")
	errKind   = errors.New("is an object or a list, not a value")
)

// reading makes a reading of a value: a string, a json.Number, a bool or nil.
func (f *field) reading(v any) (Reading, error) {
	r := Reading{Unit: f.Unit}
	if v == nil || f.bad[shown(v)] {
		r.Quality = point.BadSensor
		return r, nil
	}
	var err error
	r.Value, err = f.byType(v)
	return r, err
}

// byType makes a value of the type that the point has.
func (f *field) byType(v any) (point.Value, error) {
	switch f.Type {
	case "bool":
		return f.truth(v)
	case "text":
		return text(shown(v))
	case "float", "int":
		return f.number(v)
	}
	return f.guess(v)
}

// guess makes a value of what was sent, if no type says what it is.
func (f *field) guess(v any) (point.Value, error) {
	switch v := v.(type) {
	case bool:
		return point.BoolOf(v), nil
	case json.Number:
		return f.number(v)
	case string:
		if n, err := f.number(v); err == nil {
			return n, nil
		}
		return text(v)
	}
	return point.Value{}, errKind
}

// shown is a value as it was written.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return string(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func text(s string) (point.Value, error) {
	if len(s) > maxText || !utf8.ValidString(s) {
		return point.Value{}, errText
	}
	return point.TextOf(s), nil
}

func (f *field) truth(v any) (point.Value, error) {
	s := strings.ToLower(shown(v))
	switch {
	case f.on[s]:
		return point.BoolOf(true), nil
	case f.off[s]:
		return point.BoolOf(false), nil
	}
	switch s {
	case "true", "on", "1":
		return point.BoolOf(true), nil
	case "false", "off", "0":
		return point.BoolOf(false), nil
	}
	return point.Value{}, errBool
}

func (f *field) number(v any) (point.Value, error) {
	if b, is := v.(bool); is {
		v = json.Number("0")
		if b {
			v = json.Number("1")
		}
	}
	s := shown(v)
	if f.Type == "int" && f.Scale == 1 && f.Offset == 0 {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return point.IntOf(n), nil
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return point.Value{}, errNumber
	}
	n = n*f.Scale + f.Offset
	if f.Type == "int" {
		if math.Abs(n) > 1<<62 {
			return point.Value{}, errNumber
		}
		return point.IntOf(int64(math.Round(n))), nil
	}
	return point.FloatOf(n), nil
}

// moment reads the time of a payload. Numbers are told apart by their size, which is unambiguous from 2001 to 2286.
func moment(v any) (time.Time, error) {
	switch v := v.(type) {
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05"} { // Tasmota writes no zone
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC(), nil
			}
		}
		return moment(json.Number(v))
	case json.Number:
		n, err := strconv.ParseFloat(string(v), 64)
		if err != nil || n < 0 || n > 1e19 {
			return time.Time{}, fmt.Errorf("%q is not a time", clip(string(v)))
		}
		unit := time.Second
		switch {
		case n >= 1e17:
			unit = time.Nanosecond
		case n >= 1e14:
			unit = time.Microsecond
		case n >= 1e11:
			unit = time.Millisecond
		}
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil { // exact
			return time.Unix(0, 0).UTC().Add(scaled(i, unit)), nil
		}
		whole, part := math.Modf(n)
		return time.Unix(0, 0).UTC().Add(scaled(int64(whole), unit) + time.Duration(part*float64(unit))), nil
	}
	return time.Time{}, errors.New("time is neither a number nor a text")
}

// scaled is n units, as far as a duration reaches: about the year 2262.
func scaled(n int64, unit time.Duration) time.Duration {
	if n > math.MaxInt64/int64(unit) {
		return math.MaxInt64
	}
	return time.Duration(n) * unit
}

// clip shortens what a stranger sent, before it is repeated.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
