package analysis

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
)

// Report is a weekly report: of points that it names, or of those that a saved view shows when the report is made.
type Report struct {
	Name   string   `json:"name" api:"required,max=64" doc:"Letters, digits, - and _"`
	Title  string   `json:"title" api:"required,max=200"`
	Points []string `json:"points,omitempty" api:"max=50" doc:"In the order of the report; left out if view is given"`
	View   string   `json:"view,omitempty" api:"max=100" doc:"The name of a saved view whose points the report has, without its formulas"`
	// Contacts get it by e-mail each week.
	Contacts []string `json:"contacts,omitempty" api:"max=50" doc:"Names of contacts with by: email in the document escalation, who get it by e-mail each week"`
	Weekday  string   `json:"weekday,omitempty" api:"one-of=monday|tuesday|wednesday|thursday|friday|saturday|sunday" doc:"The day on which it is sent; monday if left out"`
	At       string   `json:"at,omitempty" api:"max=5" doc:"The time of day at which it is sent, such as 06:00, in the time zone of the site; 06:00 if left out"`
}

const (
	mostTitle    = 200
	mostReported = 50
	mostContacts = 50
	clock        = "15:04"
)

var (
	errName     = errors.New("write letters, digits, - and _, up to 64")
	errTitle    = fmt.Errorf("write 1 to %d bytes in one line", mostTitle)
	errWhat     = errors.New("name points or a saved view, not both")
	errNoView   = errors.New("is no saved view; view.list names them")
	errContacts = fmt.Errorf("name at most %d contacts, each once", mostContacts)
	errWeekday  = errors.New("write monday to sunday")
	errAt       = errors.New("write a time of day such as 06:00")
)

// Validate returns what is wrong with a report.
func (r *Report) Validate() error {
	const op = "report.put"
	switch {
	case !isName(r.Name):
		return fault.E(op, fault.Invalid, "name", errName)
	case !isLine(r.Title, mostTitle):
		return fault.E(op, fault.Invalid, "title", errTitle)
	case len(r.Points) > 0 && r.View != "":
		return fault.E(op, fault.Invalid, "view", errWhat)
	case len(r.Points) == 0 && r.View == "", len(r.Points) > mostReported:
		return fault.E(op, fault.Invalid, "points", errPoints)
	}
	if err := r.checkSending(op); err != nil {
		return err
	}
	return checkPoints(op, r.Points, mostReported)
}

func (r *Report) checkSending(op string) error {
	if len(r.Contacts) > mostContacts {
		return fault.E(op, fault.Invalid, "contacts", errContacts)
	}
	for i, c := range r.Contacts {
		if !isLine(c, mostTitle) || slices.Contains(r.Contacts[:i], c) {
			return fault.E(op, fault.Invalid, fmt.Sprintf("contacts[%d]", i), errContacts)
		}
	}
	if _, known := weekdays()[r.Weekday]; !known {
		return fault.E(op, fault.Invalid, "weekday", errWeekday)
	}
	if _, err := time.Parse(clock, r.Clock()); err != nil || len(r.Clock()) != len(clock) {
		return fault.E(op, fault.Invalid, "at", errAt)
	}
	return nil
}

// Clock returns the time of day at which a report is sent.
func (r *Report) Clock() string {
	if r.At == "" {
		return "06:00"
	}
	return r.At
}

// Day returns the day on which a valid report is sent.
func (r *Report) Day() time.Weekday { return weekdays()[r.Weekday] }

// Due returns when a valid report is sent on the day that begins at midnight.
func (r *Report) Due(midnight time.Time) time.Time {
	at, err := time.Parse(clock, r.Clock())
	if err != nil {
		return midnight
	}
	return time.Date(midnight.Year(), midnight.Month(), midnight.Day(), at.Hour(), at.Minute(), 0, 0, midnight.Location())
}

func weekdays() map[string]time.Weekday {
	days := map[string]time.Weekday{"": time.Monday}
	for day := time.Sunday; day <= time.Saturday; day++ {
		days[strings.ToLower(day.String())] = day
	}
	return days
}

// Shows returns the points of a view, at most as many as a report may have, and whether the view has more than a report can have of it: points or formulas.
func (v *View) Shows() (points []string, more bool) {
	link, err := url.Parse(v.Link)
	if err != nil {
		return nil, false
	}
	query := link.Query()
	for _, p := range query["point"] {
		if !slices.Contains(points, p) {
			points = append(points, p)
		}
	}
	more = len(query["formula"]) > 0 || len(points) > mostReported
	return points[:min(len(points), mostReported)], more
}

func isName(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}
