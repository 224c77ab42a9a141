package setting

import (
	"errors"
	"strconv"
	"strings"
)

// Way leads to values in an object of JSON: names, places in lists and stars.
type Way []Step

// Step is one part of a way.
type Step struct {
	Key   string
	Index int  // of a list; -1 for a key or a star
	Star  bool // every member
}

// The longest way and the last place in a list that it may name.
const (
	maxSteps = 16
	maxIndex = 1000
)

var errWay = errors.New(`is not a way to a value; write such as sensor.temperature, values[0], *.Temperature or ["a.b"]`)

// ParseWay reads names with dots between them, [2] for an element of a list and ["name"] for a name with dots.
func ParseWay(text string) (Way, error) {
	var w Way
	for rest := text; rest != ""; {
		step, after, ok := cutStep(rest)
		if !ok {
			return nil, errWay
		}
		w, rest = append(w, step), after
		if strings.HasPrefix(rest, ".") {
			if rest = rest[1:]; rest == "" {
				return nil, errWay
			}
		}
	}
	if len(w) == 0 || len(w) > maxSteps {
		return nil, errWay
	}
	return w, nil
}

func cutStep(text string) (s Step, rest string, ok bool) {
	if quoted, is := strings.CutPrefix(text, `["`); is {
		s.Key, rest, ok = strings.Cut(quoted, `"]`)
		s.Index = -1
		return s, rest, ok
	}
	if text[0] == '[' {
		digits, rest, ok := strings.Cut(text[1:], "]")
		n, err := strconv.Atoi(digits)
		return Step{Index: n}, rest, ok && err == nil && n >= 0 && n <= maxIndex
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	return Step{Key: text[:end], Index: -1, Star: text[:end] == "*"}, text[end:], end > 0
}
