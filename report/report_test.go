package report_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/report"
	"voltbus/testing/peers"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestTheWeekIsTheLastOneThatIsOver(t *testing.T) {
	zone := berlin(t)
	for now, want := range map[string]string{
		"2026-03-29T22:00:00Z": "2026-03-23T00:00:00+01:00 2026-03-30T00:00:00+02:00", // Monday 00:00, summer time has begun
		"2026-03-29T21:59:59Z": "2026-03-16T00:00:00+01:00 2026-03-23T00:00:00+01:00",
		"2026-11-26T12:00:00Z": "2026-11-16T00:00:00+01:00 2026-11-23T00:00:00+01:00",
		"2027-01-03T12:00:00Z": "2026-12-21T00:00:00+01:00 2026-12-28T00:00:00+01:00", // a Sunday
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		from, to := report.Week(at, zone, time.Monday)
		if got := from.Format(time.RFC3339) + " " + to.Format(time.RFC3339); got != want {
			t.Errorf("at %s: %s, want %s", now, got, want)
		}
	}
}

func TestTheWeekEndsWithTheDayOfTheReport(t *testing.T) {
	zone := berlin(t)
	now := time.Date(2026, 4, 2, 12, 0, 0, 0, time.UTC) // a Thursday
	for day, want := range map[time.Weekday]string{time.Thursday: "2026-03-26 2026-04-02", time.Friday: "2026-03-20 2026-03-27", time.Sunday: "2026-03-22 2026-03-29"} {
		from, to := report.Week(now, zone, day)
		if got := from.Format(time.DateOnly) + " " + to.Format(time.DateOnly); got != want {
			t.Errorf("%v: %s, want %s", day, got, want)
		}
	}
}

// made is a report with many points, a gap in one of them, and hostile texts.
func made(t *testing.T) *report.Report {
	zone := berlin(t)
	from, to := report.Week(time.Date(2026, 3, 30, 4, 0, 0, 0, time.UTC), zone, time.Monday)
	r := &report.Report{Title: "Plant (north) \\ week", Node: "plant-1", Zone: zone, From: from, To: to, Made: to.Add(6 * time.Hour), Opened: 123}
	for i := range 12 {
		s := report.Series{Point: fmt.Sprintf("campus/plant/boiler%d/supply_temp", i), Unit: "degC", Description: "Vorlauf für Süd", Statistics: report.Nothing(), Complete: 0.99999}
		for at := from; at.Before(to); at = at.Add(time.Hour) {
			if i == 0 && at.Weekday() == time.Wednesday {
				continue
			}
			v := 60 + 10*math.Sin(float64(at.Unix())/7200)
			s.Steps = append(s.Steps, report.Step{Start: at, Mean: v, Min: v - 2, Max: v + 2})
		}
		s.Count, s.Mean, s.Min, s.Max, s.Before = 604800, 60.125, 48, 72, math.NaN()
		r.Series = append(r.Series, s)
	}
	r.Series = append(r.Series, report.Series{Point: "campus/plant/nothing", Statistics: report.Nothing(), Complete: -1})
	for i := range 100 {
		r.Alarms = append(r.Alarms, report.Alarm{At: from.Add(time.Duration(i) * time.Hour), Priority: "high", Text: "too hot ) Tj", Point: "campus/plant/boiler1"})
	}
	return r
}

// TestOthersReadTheReport has a library of others open the file, page by page.
func TestOthersReadTheReport(t *testing.T) {
	text, _ := written(t, made(t))
	pages := strings.Split(text, "\f")
	if len(pages) < 5 {
		t.Fatalf("%d pages", len(pages))
	}
	for page, words := range map[int][]string{
		0: {
			"Plant (north) \\ week", "Mon 2026-03-23 to Sun 2026-03-29, times in Europe/Berlin", "campus/plant/boiler0/supply_temp [°C]", "60.12", "99.9 %",
			"Vorlauf für Süd", fmt.Sprintf("Page 1 of %d", len(pages)),
		},
		len(pages) - 1: {"too hot ) Tj (campus/plant/boiler1)", "and 23 more"},
	} {
		for _, want := range words {
			if !strings.Contains(pages[page], want) {
				t.Errorf("page %d lacks %q: %s", page+1, want, pages[page])
			}
		}
	}
	if all := strings.Join(pages, ""); !strings.Contains(all, "No samples in this time.") || !strings.Contains(all, "Alarms: 123 opened") || strings.Contains(all, "NaN") {
		t.Error("the report does not say what is missing")
	}
}

// written is a report as others read it, and the size of its file.
func written(t *testing.T, r *report.Report) (text string, size int) {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.pdf")
	if kept := os.Getenv("VOLTBUS_SHOTS"); kept != "" {
		file = filepath.Join(kept, strings.ReplaceAll(t.Name(), "/", "-")+".pdf")
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return peers.PDF(t, file), b.Len()
}
