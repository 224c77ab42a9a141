package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// expression is the part of a value template that is understood: {{ value }} or {{ value_json.a['b'][0] }}, with filters and one
// factor or divisor behind. Home Assistant's templates are programs; what is none of these is refused, not guessed.
type expression struct {
	json    bool
	steps   []step
	filters []filter
	factor  float64 // of the number, 0 for none
}

// step is a name, or a place in a list.
type step struct {
	key   string
	index int // -1 for a name
}

// filter is float, int, round, lower, upper, trim or default.
type filter struct {
	name     string
	argument string
}

var (
	braces   = regexp.MustCompile(`^\s*\{\{-?\s*(.*?)\s*-?\}\}\s*$`)
	accessor = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_]*)|\[\s*'([^']*)'\s*\]|\[\s*"([^"]*)"\s*\]|\[\s*([0-9]{1,4})\s*\])`)
	filtered = regexp.MustCompile(`^\|\s*([a-z]+)\s*(?:\(\s*('[^']*'|"[^"]*"|-?[0-9.]*)\s*\))?\s*`)
	scaled   = regexp.MustCompile(`^([*/])\s*([0-9]+(?:\.[0-9]+)?)\s*`)

	errTemplate = errors.New("is a template that is not understood: write {{ value }} or {{ value_json.name }}, with filters such as | float, " +
		"| int, | round(1), | default(0), or give the topic a template in mqtt.templates")
	errAbsent = errors.New("is not in the payload")
)

// maxFilters bounds an expression.
const maxFilters = 8

// parse reads a value template; "" is the payload itself.
func parse(text string) (e expression, err error) {
	if strings.TrimSpace(text) == "" {
		return e, nil
	}
	bad := fmt.Errorf("%q %w", clip(text), errTemplate)
	m := braces.FindStringSubmatch(text)
	if m == nil {
		return e, bad
	}
	rest := strings.TrimSpace(m[1])
	if strings.HasPrefix(rest, "(") { // ( … ) * 0.1
		inner, after, is := strings.Cut(rest[1:], ")")
		for is && strings.Count(inner, "(") > strings.Count(inner, ")") {
			var more string
			more, after, is = strings.Cut(after, ")")
			inner += ")" + more
		}
		if !is {
			return e, bad
		}
		rest = strings.TrimSpace(inner) + " " + strings.TrimSpace(after)
	}
	switch {
	case strings.HasPrefix(rest, "value_json"):
		e.json, rest = true, strings.TrimPrefix(rest, "value_json")
	case strings.HasPrefix(rest, "value"):
		rest = strings.TrimPrefix(rest, "value")
	default:
		return e, bad
	}
	for e.json {
		m := accessor.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		s := step{key: m[1] + m[2] + m[3], index: -1}
		if m[4] != "" {
			s.index, _ = strconv.Atoi(m[4]) // digits
		}
		e.steps, rest = append(e.steps, s), rest[len(m[0]):]
	}
	if !e.behind(strings.TrimSpace(rest)) {
		return expression{}, bad
	}
	return e, nil
}

// behind reads filters and a factor.
func (e *expression) behind(rest string) bool {
	for rest != "" {
		if m := filtered.FindStringSubmatch(rest); m != nil && len(e.filters) < maxFilters && known[m[1]] {
			e.filters, rest = append(e.filters, filter{m[1], strings.Trim(m[2], `'"`)}), rest[len(m[0]):]
			continue
		}
		m := scaled.FindStringSubmatch(rest)
		if m == nil || e.factor != 0 {
			return false
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil || n == 0 || math.IsInf(n, 0) {
			return false
		}
		if e.factor = n; m[1] == "/" {
			e.factor = 1 / n
		}
		rest = rest[len(m[0]):]
	}
	return true
}

//nolint:gochecknoglobals // a table
var known = map[string]bool{"float": true, "int": true, "round": true, "lower": true, "upper": true, "trim": true, "default": true, "string": true}

// of returns the value of a payload, as template.Value takes it.
func (e *expression) of(text string, object any) (any, error) {
	var v any = text
	if e.json {
		v = object
		for _, s := range e.steps {
			v = s.of(v)
		}
	}
	rounded, whole := -1, false
	for _, f := range e.filters {
		switch f.name {
		case "default":
			if v == nil {
				v = f.argument
			}
		case "lower", "upper", "trim":
			if s, is := v.(string); is {
				v = map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper, "trim": strings.TrimSpace}[f.name](s)
			}
		case "float", "int":
			if v == nil && f.argument != "" {
				v = f.argument
			}
			whole = whole || f.name == "int"
		case "round":
			rounded, _ = strconv.Atoi(f.argument) // round alone is round(0)
		}
	}
	if v == nil {
		return nil, errAbsent
	}
	if e.factor == 0 && rounded < 0 && !whole {
		return v, nil
	}
	return e.number(v, rounded, whole)
}

func (e *expression) number(v any, rounded int, whole bool) (any, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprint(v)), 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a number", clip(fmt.Sprint(v)))
	}
	if e.factor != 0 {
		n *= e.factor
	}
	if whole {
		n = math.Trunc(n)
	}
	const most = 9 // digits behind the point
	if rounded < 0 || rounded > most {
		rounded = most
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(n, 'f', rounded, 64), 64)
	return json.Number(strconv.FormatFloat(short, 'f', -1, 64)), err
}

func (s step) of(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if s.index < 0 {
			return v[s.key]
		}
	case []any:
		if s.index >= 0 && s.index < len(v) {
			return v[s.index]
		}
	}
	return nil
}
