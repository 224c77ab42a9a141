package identity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"voltbus/point"
)

// Constraints restricts arguments by name. A restricted argument must be given.
type Constraints map[string]Condition

// Condition restricts an argument: a string is a pattern of paths, {"min": …, "max": …} a range, a list the
// allowed values.
type Condition struct {
	Pattern point.Pattern // "" if it is not a pattern
	Min     *float64
	Max     *float64
	Values  []any // strings, numbers and booleans; nil if it is not a list
}

// check returns nil if the arguments satisfy the constraints; nil arguments always do.
func (w Constraints) check(args map[string]any) error {
	if args == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		value, given := args[name]
		if !given {
			return fmt.Errorf("the argument %s must be given, since it is restricted", name)
		}
		c := w[name]
		if err := c.check(value); err != nil {
			return fmt.Errorf("the argument %s %w", name, err)
		}
	}
	return nil
}

func (c *Condition) check(value any) error {
	switch {
	case c.Pattern != "":
		if s, ok := value.(string); ok && c.Pattern.Match(point.Path(s)) {
			return nil
		}
		return fmt.Errorf("must be a text that matches %s", c.Pattern)
	case c.Values != nil:
		for _, v := range c.Values {
			if equal(v, value) {
				return nil
			}
		}
		return fmt.Errorf("must be one of %v", c.Values)
	}
	n, ok := number(value)
	if !ok {
		return fmt.Errorf("must be a number %s", span(c.Min, c.Max))
	}
	return inside(c.Min, c.Max, n)
}

// between reports whether a value of a point is within the bounds.
func between(low, high *float64, value point.Value) error {
	if low == nil && high == nil {
		return nil
	}
	n, ok := value.Number()
	if !ok {
		return fmt.Errorf("the value must be a number %s", span(low, high))
	}
	if err := inside(low, high, n); err != nil {
		return fmt.Errorf("the value %w", err)
	}
	return nil
}

func inside(low, high *float64, n float64) error {
	if math.IsNaN(n) || (low != nil && n < *low) || (high != nil && n > *high) {
		return fmt.Errorf("must be a number %s", span(low, high))
	}
	return nil
}

func span(low, high *float64) string {
	switch {
	case low == nil && high == nil:
		return "of any size"
	case low == nil:
		return fmt.Sprintf("of at most %v", *high)
	case high == nil:
		return fmt.Sprintf("of at least %v", *low)
	}
	return fmt.Sprintf("from %v to %v", *low, *high)
}

// equal compares values from JSON and programs: 1 and 1.0 are the same number.
func equal(a, b any) bool {
	x, isNumber := number(a)
	y, alsoNumber := number(b)
	if isNumber && alsoNumber {
		return x == y
	}
	switch a.(type) {
	case string, bool:
		return a == b
	}
	return false
}

// number returns the value of any Go number.
func number(v any) (float64, bool) {
	if n, ok := v.(json.Number); ok {
		f, err := n.Float64()
		return f, err == nil
	}
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
		return 0, false
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

var (
	errCondition = errors.New("must be a pattern, a range such as {min: 10, max: 20}, or a list of the allowed values")
	errRange     = errors.New("a range needs min, max or both")
)

// bounds is the written form of a range.
type bounds struct {
	Min *float64 `json:"min,omitempty" yaml:"min,omitempty"`
	Max *float64 `json:"max,omitempty" yaml:"max,omitempty"`
}

// plain returns the written form of the condition.
func (c Condition) plain() any {
	switch {
	case c.Pattern != "":
		return string(c.Pattern)
	case c.Values != nil:
		return c.Values
	}
	return bounds{c.Min, c.Max}
}

// MarshalJSON implements json.Marshaler.
func (c Condition) MarshalJSON() ([]byte, error) { return json.Marshal(c.plain()) }

// MarshalYAML implements the interface of the YAML library.
func (c Condition) MarshalYAML() (any, error) { return c.plain(), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (c *Condition) UnmarshalJSON(b []byte) error {
	return c.read(func(to any) error {
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		return d.Decode(to)
	})
}

// UnmarshalYAML implements the interface of the YAML library.
func (c *Condition) UnmarshalYAML(decode func(any) error) error { return c.read(decode) }

func (c *Condition) read(decode func(any) error) error {
	var raw any
	if err := decode(&raw); err != nil {
		return err
	}
	switch v := raw.(type) {
	case string:
		*c = Condition{Pattern: point.Pattern(v)}
		return nil
	case []any:
		*c = Condition{Values: v}
		return nil
	case map[string]any:
		for key := range v {
			if key != "min" && key != "max" {
				return fmt.Errorf("%s: %w", key, errCondition)
			}
		}
		var r bounds
		if err := decode(&r); err != nil {
			return errCondition
		}
		*c = Condition{Min: r.Min, Max: r.Max}
		return nil
	}
	return errCondition
}
