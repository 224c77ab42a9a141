package exchange

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/fault"
)

const (
	maxParam = 1024 // bytes of one parameter
	maxTags  = 16
)

var (
	errTwice  = errors.New("stands twice; write it once")
	errText   = errors.New("must be UTF-8 of at most 1024 bytes")
	errTag    = errors.New("must be name=value; an empty value stands for any")
	errSwitch = errors.New("must be true or false")
)

// Reading parses the parameters of a request and keeps the first error.
type Reading struct {
	*Request
	Err error // the first that was found
}

// Read parses the parameters of a request.
func Read(r *Request) *Reading { return &Reading{Request: r} }

// Fail notes that a parameter is wrong.
func (r *Reading) Fail(name string, err error) {
	if r.Err == nil {
		r.Err = fault.E("api.query", fault.Invalid, name, err)
	}
}

// All returns the values of a parameter that may be repeated.
func (r *Reading) All(name string) []string {
	values := r.Params[name]
	for _, v := range values {
		if len(v) > maxParam || !utf8.ValidString(v) {
			r.Fail(name, errText)
			return nil
		}
	}
	return values
}

// Text returns the value of a parameter, and whether it is there.
func (r *Reading) Text(name string) (string, bool) {
	values := r.All(name)
	if len(values) > 1 {
		r.Fail(name, errTwice)
	}
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// Segment returns the part of the path that stands for the name in braces.
func (r *Reading) Segment(name string) string {
	v := r.PathValue(name)
	if len(v) > maxParam || !utf8.ValidString(v) {
		r.Fail(name, errText)
		return ""
	}
	return v
}

// Number returns a whole number between least and most, or otherwise if the parameter is absent.
func (r *Reading) Number(name string, otherwise, least, most int) int {
	text, ok := r.Text(name)
	if !ok || text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		r.Fail(name, fmt.Errorf("must be a whole number from %d to %d", least, most))
	}
	return n
}

// Truth returns a boolean parameter, false if it is absent.
func (r *Reading) Truth(name string) bool {
	text, ok := r.Text(name)
	switch {
	case ok && (text == "true" || text == "1"):
		return true
	case ok && text != "false" && text != "0" && text != "":
		r.Fail(name, errSwitch)
	}
	return false
}

// Tags returns the requested tags.
func (r *Reading) Tags() map[string]string {
	values := r.All("tag")
	if len(values) > maxTags {
		r.Fail("tag", fmt.Errorf("may be given %d times", maxTags))
		return nil
	}
	tags := make(map[string]string, len(values))
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			r.Fail("tag", errTag)
		}
		tags[name] = value
	}
	return tags
}
