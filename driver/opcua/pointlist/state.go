package pointlist

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// State is a value of an enumeration with its text.
type State struct {
	Value int64
	Text  string
}

// States are those of an enumeration, in the order of their values.
type States []State

// ParseStates reads Off|On, whose values count from 0, or 1=Auto|4=Hand.
func ParseStates(text string) (list States, err error) {
	if text == "" {
		return nil, nil
	}
	for i, part := range strings.Split(text, "|") {
		s := State{Value: int64(i), Text: strings.TrimSpace(part)}
		if number, name, found := strings.Cut(part, "="); found {
			if n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64); err == nil {
				s = State{Value: n, Text: strings.TrimSpace(name)}
			}
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b State) int { return cmp.Compare(a.Value, b.Value) })
	for i := 1; i < len(list); i++ {
		if list[i].Value == list[i-1].Value {
			return nil, fmt.Errorf("%q has two texts for %d; write each value once", text, list[i].Value)
		}
	}
	return list, nil
}

// String returns the states as ParseStates reads them.
func (l States) String() string {
	plain := true
	for i, s := range l {
		plain = plain && s.Value == int64(i)
	}
	parts := make([]string, len(l))
	for i, s := range l {
		text := strings.NewReplacer("|", "/", "=", ":").Replace(s.Text)
		if parts[i] = text; !plain {
			parts[i] = strconv.FormatInt(s.Value, 10) + "=" + text
		}
	}
	return strings.Join(parts, "|")
}

// Text returns the text of a value; false if it has none.
func (l States) Text(value int64) (string, bool) {
	for _, s := range l {
		if s.Value == value {
			return s.Text, true
		}
	}
	return "", false
}

// Value returns the value of a text; false if there is none. The case of letters does not count.
func (l States) Value(text string) (int64, bool) {
	for _, s := range l {
		if strings.EqualFold(s.Text, text) {
			return s.Value, true
		}
	}
	return 0, false
}
