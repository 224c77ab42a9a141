// Package analysis keeps what analysts write: annotations of stretches of time, saved views, and the reports that people get. Each is a shared
// document with its history, below annotations/, views/ and reports/.
package analysis

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/point"
)

// Annotation is what somebody notes about a time.
type Annotation struct {
	// ID is made by the node.
	ID   string    `json:"id,omitempty" api:"max=64" doc:"Of the annotation to change; left out for a new one"`
	From time.Time `json:"from" api:"required"`
	To   time.Time `json:"to" api:"required" doc:"From for a moment"`
	Text string    `json:"text" api:"required,max=2000"`
	// Points are those that it is about.
	Points []string `json:"points,omitempty" api:"max=100" doc:"That it is about; all if left out"`
	By     string   `json:"by,omitempty" api:"max=256" doc:"Who wrote it; the node fills it in"`
}

// View is a saved view of the explorer.
type View struct {
	Name string `json:"name" api:"required,max=100"`
	Link string `json:"link" api:"required,max=8000" doc:"Path and query of the screen, such as /explore?point=campus/power&range=7d"`
	Note string `json:"note,omitempty" api:"max=2000" doc:"What it shows"`
}

const (
	mostText   = 2000
	mostLink   = 8000
	mostPoints = 100
	// longest is the longest time that an annotation is about.
	longest = 10 * 366 * 24 * time.Hour
)

var (
	errText   = fmt.Errorf("write 1 to %d bytes of text", mostText)
	errOrder  = errors.New("must not lie before from")
	errLong   = errors.New("is about at most ten years")
	errView   = errors.New("write 1 to 100 bytes in one line, which do not begin or end with a space and have no slash")
	errLink   = fmt.Errorf("write a path and query of the screen, such as /explore?point=campus/power, with at most %d bytes", mostLink)
	errPoints = fmt.Errorf("name 1 to %d points, each once", mostReported)
)

// Validate returns what is wrong with an annotation.
func (a *Annotation) Validate() error {
	const op = "annotation.put"
	switch {
	case strings.TrimSpace(a.Text) == "" || len(a.Text) > mostText || !utf8.ValidString(a.Text):
		return fault.E(op, fault.Invalid, "text", errText)
	case a.To.Before(a.From):
		return fault.E(op, fault.Invalid, "to", errOrder)
	case a.To.Sub(a.From) > longest:
		return fault.E(op, fault.Invalid, "to", errLong)
	}
	return checkPoints(op, a.Points, mostPoints)
}

// About reports whether an annotation is about a time, and about one of the points if any are named.
func (a *Annotation) About(from, to time.Time, points []string) bool {
	if a.To.Before(from) || !a.From.Before(to) {
		return false
	}
	return len(points) == 0 || len(a.Points) == 0 || slices.ContainsFunc(a.Points, func(p string) bool { return slices.Contains(points, p) })
}

// Validate returns what is wrong with a view.
func (v *View) Validate() error {
	const op = "view.put"
	switch {
	case !isLine(v.Name, 100) || strings.TrimSpace(v.Name) != v.Name || strings.Contains(v.Name, "/"):
		return fault.E(op, fault.Invalid, "name", errView)
	case len(v.Link) > mostLink || !isLine(v.Link, mostLink) || !strings.HasPrefix(v.Link, "/explore?"):
		return fault.E(op, fault.Invalid, "link", errLink)
	case len(v.Note) > mostText || !utf8.ValidString(v.Note):
		return fault.E(op, fault.Invalid, "note", errText)
	}
	return nil
}

func checkPoints(op string, points []string, most int) error {
	if len(points) > most {
		return fault.E(op, fault.Invalid, "points", errPoints)
	}
	for i, p := range points {
		if err := point.Path(p).Validate(); err != nil {
			return fault.E(op, fault.Invalid, fmt.Sprintf("points[%d]", i), err)
		}
		if slices.Contains(points[:i], p) {
			return fault.E(op, fault.Invalid, fmt.Sprintf("points[%d]", i), errPoints)
		}
	}
	return nil
}

// isLine reports whether a text is one line that people can read.
func isLine(text string, most int) bool {
	return text != "" && len(text) <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}
