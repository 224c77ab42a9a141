package modbus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

// states names the values of a register.
type states struct {
	names  []string
	values []int64
}

// parseStates reads "off|low|high", which counts from 0, or "1=off|2=starting|7=fault".
func parseStates(text string, l layout.Layout, tr transform) (s states, err error) {
	switch {
	case text == "":
		return s, nil
	case l.Form != layout.Int && l.Form != layout.Uint:
		return s, errors.New("needs a type that is a whole number, such as uint16")
	case tr.op != asIs:
		return s, errors.New("stands beside scale, offset or transform; write only one of them")
	}
	for i, one := range strings.Split(text, "|") {
		value := int64(i)
		name := strings.TrimSpace(one)
		if number, rest, ok := strings.Cut(one, "="); ok {
			if value, err = strconv.ParseInt(strings.TrimSpace(number), 0, 64); err != nil {
				return s, fmt.Errorf("%q does not begin with a whole number; write such as 1=off|2=on", one)
			}
			name = strings.TrimSpace(rest)
		}
		if name == "" || slices.Contains(s.names, name) || slices.Contains(s.values, value) {
			return s, fmt.Errorf("%q has no name of its own or no value of its own; write such as off|on or 1=off|2=on", one)
		}
		s.names, s.values = append(s.names, name), append(s.values, value)
	}
	return s, nil
}

// name returns the name of a value; the number as text if it has none.
func (s states) name(v point.Value) (point.Value, bool) {
	n, ok := v.Int()
	if i := slices.Index(s.values, n); ok && i >= 0 {
		return point.TextOf(s.names[i]), true
	}
	return point.TextOf(strconv.FormatInt(n, 10)), ok
}

// number is the inverse of name. Upper and lower case are the same.
func (s states) number(v point.Value) (point.Value, error) {
	if f, ok := v.Number(); ok && f == math.Trunc(f) {
		return v, nil
	}
	text := v.Text()
	if v.Kind() != point.Text {
		text = v.String()
	}
	if i := slices.IndexFunc(s.names, func(name string) bool { return strings.EqualFold(name, text) }); i >= 0 {
		return point.IntOf(s.values[i]), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return point.IntOf(n), nil
	}
	return v, fmt.Errorf("%q is not a state of the point; write %s", text, strings.Join(s.names, ", "))
}

// parseMissing reads the raw value that stands for "no value"; nil for none.
func parseMissing(text string, l layout.Layout) (*uint64, error) {
	if text == "" {
		return nil, nil
	}
	if l.Form == layout.Text || l.Form == layout.Bool {
		return nil, errors.New("needs a type that is a number")
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if bits := l.BitCount(); err != nil || bits < 64 && n>>bits != 0 {
		return nil, fmt.Errorf("%q is no raw value of %d bits; write one such as 0x8000", text, l.BitCount())
	}
	return &n, nil
}
