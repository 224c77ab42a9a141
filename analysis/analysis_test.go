package analysis_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/analysis"
	"voltbus/fault"
)

var start = time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)

func TestWhatIsWrongIsSaidWithItsField(t *testing.T) {
	long := strings.Repeat("x", 2001)
	note := func(change func(*analysis.Annotation)) error {
		a := analysis.Annotation{From: start, To: start, Text: "filter changed", Points: []string{"campus/fan"}}
		change(&a)
		return a.Validate()
	}
	view := func(name, link string) error { return (&analysis.View{Name: name, Link: link}).Validate() }
	report := func(change func(*analysis.Report)) error {
		r := analysis.Report{Name: "week", Title: "Plant", Points: []string{"campus/power"}}
		change(&r)
		return r.Validate()
	}
	for want, err := range map[string]error{
		"text: write 1 to":    note(func(a *analysis.Annotation) { a.Text = " \n" }),
		"text: write 1 to ":   note(func(a *analysis.Annotation) { a.Text = long }),
		"to: must not lie":    note(func(a *analysis.Annotation) { a.To = start.Add(-1) }),
		"to: is about":        note(func(a *analysis.Annotation) { a.To = start.AddDate(11, 0, 0) }),
		"points[1]: name":     note(func(a *analysis.Annotation) { a.Points = []string{"a/b", "a/b"} }),
		"points[0]":           note(func(a *analysis.Annotation) { a.Points = []string{"\x00"} }),
		"name: write 1 to":    view("a/b", "/explore?point=a"),
		"name: write 1 to 1":  view(" a", "/explore?point=a"),
		"link: write a path":  view("a", "https://example.org/explore?x"),
		"link: write a path ": view("a", "/explore?a\nb"),
		"name: write letters": report(func(r *analysis.Report) { r.Name = "../x" }),
		"title: write 1 to":   report(func(r *analysis.Report) { r.Title = "a\nb" }),
		"points: name 1 to":   report(func(r *analysis.Report) { r.Points = nil }),
		"view: name points":   report(func(r *analysis.Report) { r.View = "Night" }),
		"contacts[1]: name":   report(func(r *analysis.Report) { r.Contacts = []string{"ada", "ada"} }),
		"weekday: write":      report(func(r *analysis.Report) { r.Weekday = "mo" }),
		"at: write a time":    report(func(r *analysis.Report) { r.At = "25:00" }),
		"at: write a time ":   report(func(r *analysis.Report) { r.At = "6:00" }),
	} {
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for _, err := range []error{note(func(*analysis.Annotation) {}), view("Nacht & Tag", "/explore?point=a"), report(func(*analysis.Report) {})} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAReportIsDueByTheClockOfTheSite(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	r := analysis.Report{Weekday: "sunday", At: "05:30"}
	if got := r.Due(time.Date(2026, 3, 29, 0, 0, 0, 0, zone)).UTC().Format(time.RFC3339); got != "2026-03-29T03:30:00Z" || r.Day() != time.Sunday { // summer time began at 2:00
		t.Errorf("%s, %v", got, r.Day())
	}
	usual := analysis.Report{}
	if got := usual.Due(time.Date(2026, 3, 30, 0, 0, 0, 0, zone)).Format("15:04"); got != "06:00" || usual.Day() != time.Monday {
		t.Errorf("%s, %v", got, usual.Day())
	}
}

func TestAViewShowsPointsWithoutFormulas(t *testing.T) {
	v := analysis.View{Link: "/explore?point=a%2Fb&point=c%20d&point=a/b&formula=%27a%27%20*%202"}
	if points, more := v.Shows(); strings.Join(points, ";") != "a/b;c d" || !more {
		t.Errorf("%q, %v", points, more)
	}
}

func TestAnAnnotationIsAboutItsTimeAndPoints(t *testing.T) {
	a := analysis.Annotation{From: start, To: start.Add(time.Hour), Points: []string{"a", "b"}}
	moment := analysis.Annotation{From: start, To: start}
	for _, c := range []struct {
		about    bool
		a        *analysis.Annotation
		from, to time.Time
		points   []string
	}{
		{true, &a, start.Add(time.Hour), start.Add(2 * time.Hour), nil},
		{false, &a, start.Add(time.Hour + 1), start.Add(2 * time.Hour), nil},
		{false, &a, start.Add(-time.Hour), start, nil},
		{true, &a, start, start.Add(1), []string{"b", "c"}},
		{false, &a, start, start.Add(1), []string{"c"}},
		{true, &moment, start, start.Add(1), []string{"c"}},
	} {
		if got := c.a.About(c.from, c.to, c.points); got != c.about {
			t.Errorf("%v to %v of %v: %v", c.from, c.to, c.points, got)
		}
	}
}
