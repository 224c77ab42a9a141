package api

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
)

const (
	maxParam = 1024 // bytes of one parameter
	maxTags  = 16
)

var (
	errTwice     = errors.New("stands twice; write it once")
	errText      = errors.New("must be UTF-8 of at most 1024 bytes")
	errNoPoints  = errors.New("name points with point=<path>, which may be repeated, or pattern=<pattern>")
	errBothWays  = errors.New("give either point= or pattern=, not both")
	errPage      = errors.New("pages are of the points of a pattern; named points come all at once")
	errTag       = errors.New("must be name=value; an empty value stands for any")
	errSwitch    = errors.New("must be true or false")
	errNoPattern = errors.New("a pattern needs at least one character here; ** selects everything")
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

func (r *reading) time(name, otherwise string) time.Time {
	text, ok := r.text(name)
	if !ok || text == "" {
		text = otherwise
	}
	t, err := query.ParseTime(text, r.now)
	if err != nil {
		r.fail(name, err)
	}
	return t
}

// selection returns the points named or the pattern. Without any of them everything is selected,
// if that is allowed.
func (r *reading) selection(everything bool) query.Selection {
	var sel query.Selection
	pattern, hasPattern := r.text("pattern")
	for _, p := range r.all("point") {
		if err := point.Path(p).Validate(); err != nil {
			r.fail("point", err)
		}
		sel.Points = append(sel.Points, point.Path(p))
	}
	sel.Pattern = point.Pattern(pattern)
	switch {
	case hasPattern && len(sel.Points) > 0:
		r.fail("point", errBothWays)
	case everything || len(sel.Points) > 0:
	case !hasPattern:
		r.fail("point", errNoPoints)
	case pattern == "":
		r.fail("pattern", errNoPattern)
	}
	return sel
}

// span returns the request for the selected points between from and to: the last hour if nothing
// else is said.
func (r *reading) span() query.Request {
	return query.Request{Selection: r.selection(false), From: r.time("from", "-1h"), To: r.time("to", "now")}
}

// paged is span for a pattern's points in pages.
func (r *reading) paged() query.Request {
	req := r.span()
	after, _ := r.text("after")
	req.Page, req.After = r.number("page", 0, 1, query.DefaultLimits().Points), point.Path(after)
	if len(req.Points) > 0 && (req.Page > 0 || after != "") {
		r.fail("page", errPage)
	}
	return req
}

// step returns the parameter of that name.
func (r *reading) step(otherwise string) query.Step {
	text, ok := r.text("step")
	if !ok || text == "" {
		text = otherwise
	}
	step, err := query.ParseStep(text)
	if err != nil && r.err == nil {
		r.err = err
	}
	return step
}

// zone returns the time zone, nil if none is named.
func (r *reading) zone() *time.Location {
	text, ok := r.text("zone")
	if !ok || text == "" {
		return nil
	}
	zone, err := query.ParseZone(text)
	if err != nil && r.err == nil {
		r.err = err
	}
	return zone
}

// functions returns those that are named, separated by commas.
func (r *reading) functions() []query.Function {
	text, ok := r.text("functions")
	if !ok || text == "" {
		return nil
	}
	list, err := query.ParseFunctions(strings.Split(text, ","))
	if err != nil && r.err == nil {
		r.err = err
	}
	return list
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
