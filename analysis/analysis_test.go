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
