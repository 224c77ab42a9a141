package strictyaml

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

func (d *decoder) decodeScalar(node *yaml.Node, key string, f field, v reflect.Value) {
	if node.Kind != yaml.ScalarNode {
		d.wrongKind(node, key, wanted(v), f.example)
		return
	}
	text := node.Value
	if f.enum != nil && !slices.Contains(f.enum, text) {
		d.report(node, key, "%s is not known; %s", quote(text), Suggest(text, f.enum))
		return
	}
	if set(v, node) {
		return
	}
	example := f.example
	if example == "" {
		example = exampleOf(v)
	}
	d.report(node, key, "%s", notOfType(node, v, example))
	d.problems[len(d.problems)-1].Kind = "is not " + wanted(v)
}

// notOfType explains why the scalar is not of v's type and what to write.
func notOfType(node *yaml.Node, v reflect.Value, example string) string {
	if isQuoted(node) && set(reflect.New(v.Type()).Elem(), &yaml.Node{Kind: yaml.ScalarNode, Value: node.Value}) {
		return quote(node.Value) + " is text; remove the quotes"
	}
	if v.Type() == reflect.TypeFor[time.Duration]() && node.ShortTag() == "!!int" {
		return node.Value + " has no unit; write " + node.Value + "s for seconds"
	}
	if v.Kind() == reflect.Bool {
		return quote(node.Value) + " is neither true nor false; write one of them"
	}
	return quote(node.Value) + " is not " + wanted(v) + "; write one such as " + example
}

func isQuoted(node *yaml.Node) bool {
	return node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
}

// set stores the scalar in v, and reports whether it is of v's type and fits.
func set(v reflect.Value, node *yaml.Node) bool {
	switch v.Type() {
	case reflect.TypeFor[time.Duration]():
		t, ok := ParseDuration(node.Value)
		return ok && assign(v, t)
	case reflect.TypeFor[time.Time]():
		t, ok := parseTime(node.Value)
		return ok && assign(v, t)
	}
	tag := node.ShortTag()
	switch v.Kind() {
	case reflect.String:
		return assign(v, node.Value)
	case reflect.Bool:
		known := node.Value == "true" || node.Value == "false"
		return known && tag == "!!bool" && assign(v, node.Value == "true")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(node.Value, 0, v.Type().Bits())
		return err == nil && tag == "!!int" && assign(v, i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		u, err := strconv.ParseUint(node.Value, 0, v.Type().Bits())
		return err == nil && tag == "!!int" && assign(v, u)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(node.Value, v.Type().Bits())
		finite := err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
		return finite && (tag == "!!int" || tag == "!!float") && assign(v, x)
	default:
		return false
	}
}

// assign sets v, whose kind fits, and returns true.
func assign(v reflect.Value, to any) bool {
	v.Set(reflect.ValueOf(to).Convert(v.Type()))
	return true
}

// ParseDuration parses a duration with a unit, as time.ParseDuration does, and days ("14d", "1d12h"). A bare
// 0 needs no unit.
func ParseDuration(text string) (time.Duration, bool) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		t, err := time.ParseDuration(text)
		return t, err == nil
	}
	const most = uint64(math.MaxInt64 / (24 * time.Hour))
	n, err := strconv.ParseUint(days, 10, 64)
	if err != nil || n > most {
		return 0, false
	}
	t := time.Duration(n) * 24 * time.Hour
	if rest == "" {
		return t, true
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || more > math.MaxInt64-t {
		return 0, false
	}
	return t + more, true
}

// FormatDuration is the inverse of ParseDuration, in the form that a person would write.
func FormatDuration(t time.Duration) string {
	const day = 24 * time.Hour
	if t >= 2*day && t%day == 0 {
		return strconv.Itoa(int(t/day)) + "d"
	}
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// wanted names the type for a person.
func wanted(v reflect.Value) string {
	switch v.Type() {
	case reflect.TypeFor[time.Duration]():
		return "a duration"
	case reflect.TypeFor[time.Time]():
		return "a time"
	}
	switch v.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		low := -1 << (v.Type().Bits() - 1)
		return "a whole number" + limits(v, strconv.Itoa(low), strconv.Itoa(-(low+1)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number" + limits(v, "0", strconv.FormatUint(math.MaxUint64>>(64-v.Type().Bits()), 10))
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "one value"
	}
}

// limits describes the range of a small type: the limits of 64 bits need no mention.
func limits(v reflect.Value, low, high string) string {
	if v.Type().Bits() == 64 && low != "0" {
		return ""
	}
	if v.Type().Bits() == 64 {
		return " from 0"
	}
	return " from " + low + " to " + high
}

func exampleOf(v reflect.Value) string {
	switch v.Type() {
	case reflect.TypeFor[time.Duration]():
		return "10s"
	case reflect.TypeFor[time.Time]():
		return "2026-01-31T12:00:00Z"
	}
	switch v.Kind() {
	case reflect.Bool:
		return "true"
	case reflect.Float32, reflect.Float64:
		return "21.5"
	default:
		return "10"
	}
}
