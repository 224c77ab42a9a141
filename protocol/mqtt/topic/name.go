package topic

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLength is how many bytes a topic name or filter has at most [MQTT-4.7.3-3].
const MaxLength = 65_535

// Error says which rule a topic name or filter breaks.
type Error struct {
	Clause string // such as "MQTT-4.7.1-1"
	Text   string
}

// Error implements error.
func (e *Error) Error() string { return e.Text + " [" + e.Clause + "]" }

// Check reports what is wrong with a topic name. It has at most levels levels, 0 for as many as
// fit into [MaxLength] bytes.
func Check[T ~string | ~[]byte](name T, levels int) error {
	n, wild, err := scan(name)
	switch {
	case err != nil:
		return err
	case wild >= 0:
		return &Error{"MQTT-4.7.0-1", fmt.Sprintf("topic name has the wildcard %q at byte %d", name[wild], wild+1)}
	case levels > 0 && n > levels:
		return tooDeep(n, levels)
	}
	return nil
}

// CheckFilter reports what is wrong with a topic filter without the prefix of a shared
// subscription. It has at most levels levels, 0 for as many as fit.
func CheckFilter[T ~string | ~[]byte](filter T, levels int) error {
	n, wild, err := scan(filter)
	if err != nil {
		return err
	}
	if levels > 0 && n > levels {
		return tooDeep(n, levels)
	}
	if wild < 0 {
		return nil
	}
	for i := wild; i < len(filter); i++ {
		switch filter[i] {
		case '#':
			if i != len(filter)-1 || i > 0 && filter[i-1] != '/' {
				return &Error{"MQTT-4.7.1-1", fmt.Sprintf("%q at byte %d is not the last level by itself", '#', i+1)}
			}
		case '+':
			if i > 0 && filter[i-1] != '/' || i+1 < len(filter) && filter[i+1] != '/' {
				return &Error{"MQTT-4.7.1-2", fmt.Sprintf("%q at byte %d is not a level by itself", '+', i+1)}
			}
		}
	}
	return nil
}

// scan checks what holds for names and filters. It returns the number of levels and where the
// first wildcard is, -1 for none.
func scan[T ~string | ~[]byte](s T) (levels, wild int, err error) {
	if len(s) == 0 {
		return 0, -1, &Error{"MQTT-4.7.3-1", "topic is empty"}
	}
	if len(s) > MaxLength {
		return 0, -1, &Error{"MQTT-4.7.3-3", fmt.Sprintf("topic has %d bytes, more than %d", len(s), MaxLength)}
	}
	levels, wild = 1, -1
	ascii := true
	for i := range len(s) {
		switch c := s[i]; {
		case c == '/':
			levels++
		case c == '+' || c == '#':
			if wild < 0 {
				wild = i
			}
		case c == 0:
			return 0, -1, &Error{"MQTT-4.7.3-2", fmt.Sprintf("topic has the null character at byte %d", i+1)}
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii && !valid(s) {
		return 0, -1, &Error{"MQTT-1.5.4-1", "topic is not UTF-8"}
	}
	return levels, wild, nil
}

func valid[T ~string | ~[]byte](s T) bool {
	switch s := any(s).(type) {
	case string:
		return utf8.ValidString(s)
	case []byte:
		return utf8.Valid(s)
	default:
		return utf8.ValidString(string(s.(T)))
	}
}

func tooDeep(n, levels int) error {
	return &Error{"§4.7.3", fmt.Sprintf("topic has %d levels, more than the %d allowed here", n, levels)}
}

// shared is how the filter of a shared subscription begins.
const shared = "$share/"

// Filter is a topic filter as a client subscribes to it.
type Filter struct {
	Share string // the name of the shared subscription, "" for a subscription of its own
	Topic string // the filter without the prefix
}

// Parse takes a topic filter of a SUBSCRIBE or UNSUBSCRIBE apart and checks it, see [CheckFilter].
// The strings are parts of s.
func Parse(s string, levels int) (Filter, error) {
	f := Filter{Topic: s}
	if rest, ok := strings.CutPrefix(s, shared); ok {
		f.Share, f.Topic, ok = strings.Cut(rest, "/")
		switch {
		case f.Share == "":
			return Filter{}, &Error{"MQTT-4.8.2-1", "shared subscription has no name: write $share/name/filter"}
		case strings.ContainsAny(f.Share, "+#"):
			return Filter{}, &Error{"MQTT-4.8.2-2", fmt.Sprintf("name %q of a shared subscription has a wildcard", f.Share)}
		case !ok || f.Topic == "":
			return Filter{}, &Error{"MQTT-4.8.2-2", "shared subscription has no filter: write $share/name/filter"}
		}
		if _, _, err := scan(f.Share); err != nil {
			return Filter{}, err
		}
	} else if s == strings.TrimSuffix(shared, "/") {
		return Filter{}, &Error{"MQTT-4.8.2-1", "shared subscription has no name: write $share/name/filter"}
	}
	if err := CheckFilter(f.Topic, levels); err != nil {
		return Filter{}, err
	}
	return f, nil
}

// String returns the filter as a client writes it.
func (f Filter) String() string {
	if f.Share == "" {
		return f.Topic
	}
	return shared + f.Share + "/" + f.Topic
}

// Wild reports whether a valid filter has a wildcard.
func Wild[T ~string | ~[]byte](filter T) bool {
	for i := range len(filter) {
		if filter[i] == '+' || filter[i] == '#' {
			return true
		}
	}
	return false
}

// Match reports whether a valid name matches a valid filter without the prefix of a shared
// subscription. Names that begin with $ match no filter that begins with a wildcard [MQTT-4.7.2-1].
func Match(filter, name string) bool {
	if name != "" && name[0] == '$' && filter != "" && (filter[0] == '+' || filter[0] == '#') {
		return false
	}
	for {
		level, filterRest, moreFilter := strings.Cut(filter, "/")
		if level == "#" {
			return true
		}
		part, nameRest, moreName := strings.Cut(name, "/")
		if level != "+" && level != part {
			return false
		}
		if !moreName { // "a/#" matches "a" too, §4.7.1.2
			return !moreFilter || filterRest == "#"
		}
		if !moreFilter {
			return false
		}
		filter, name = filterRest, nameRest
	}
}

// cut returns the first level of a topic and what follows it.
func cut(s []byte) (level, rest []byte, more bool) { return bytes.Cut(s, []byte("/")) }
