package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
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

// reading reads the parameters of a request and keeps the first error.
type reading struct {
	*request
	now time.Time
	err error
}

func (s *server) read(r *request) *reading { return &reading{request: r, now: s.cfg.Now()} }

func (r *reading) fail(name string, err error) {
	if r.err == nil {
		r.err = fault.E("api.query", fault.Invalid, name, err)
	}
}

// all returns the values of a parameter that may be repeated.
func (r *reading) all(name string) []string {
	values := r.params[name]
	for _, v := range values {
		if len(v) > maxParam || !utf8.ValidString(v) {
			r.fail(name, errText)
			return nil
		}
	}
	return values
}

// text returns the value of a parameter, and whether it is there.
func (r *reading) text(name string) (string, bool) {
	values := r.all(name)
	if len(values) > 1 {
		r.fail(name, errTwice)
	}
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

// segment returns the part of the path that stands for the name in braces.
func (r *reading) segment(name string) string {
	v := r.PathValue(name)
	if len(v) > maxParam || !utf8.ValidString(v) {
		r.fail(name, errText)
		return ""
	}
	return v
}

// number returns a whole number between least and most, or otherwise if there is none.
func (r *reading) number(name string, otherwise, least, most int) int {
	text, ok := r.text(name)
	if !ok || text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		r.fail(name, fmt.Errorf("must be a whole number from %d to %d", least, most))
	}
	return n
}

func (r *reading) truth(name string) bool {
	text, ok := r.text(name)
	switch {
	case ok && (text == "true" || text == "1"):
		return true
	case ok && text != "false" && text != "0" && text != "":
		r.fail(name, errSwitch)
	}
	return false
}

func (r *reading) tags() map[string]string {
	values := r.all("tag")
	if len(values) > maxTags {
		r.fail("tag", fmt.Errorf("may be given %d times", maxTags))
		return nil
	}
	tags := make(map[string]string, len(values))
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			r.fail("tag", errTag)
		}
		tags[name] = value
	}
	return tags
}
