package report_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/report"
)

// TestNamesOfAllEuropeAreReadBack has a library of others read names back, in regular and bold letters.
func TestNamesOfAllEuropeAreReadBack(t *testing.T) {
	names := []string{
		"Zażółć gęślą jaźń", "Příliš žluťoučký kůň", "Θερμοκρασία ΨΩ", "Тепловий пункт Ґїє", "Ţară, İğne, Žižek, Ørsted", "Vorlauf → Rücklauf", "21 °C, m², m³, 5 €, CO₂ ≤ 800 µg", "½ ∆T ± 3 ‰ – „x“ …",
	}
	zone := berlin(t)
	from, to := report.Week(time.Date(2026, 3, 30, 4, 0, 0, 0, time.UTC), zone, time.Monday)
	r := &report.Report{Title: names[1], Node: "uzel", Zone: zone, From: from, To: to, Made: to}
	for _, name := range names {
		r.Series = append(r.Series, report.Series{Point: "b/" + name, Description: name, Statistics: report.Nothing(), Complete: -1})
	}
	// A letter and its accent apart are the same name
	r.Series = append(r.Series, report.Series{Point: "b/Pr\u030ci\u0301klad", Statistics: report.Nothing(), Complete: -1})
	text, size := written(t, r)
	if strings.Contains(text, "cannot print") || strings.Contains(text, "□") {
		t.Errorf("something is not printed: %s", text)
	}
	for _, want := range append(names, "b/Příklad") {
		if strings.Count(text, want) < 2 {
			t.Errorf("%q is not read back: %s", want, text)
		}
	}
	if size > 40_000 {
		t.Errorf("%d bytes: it has more than the used letters", size)
	}
}

func TestWhatCannotBePrintedIsNamed(t *testing.T) {
	r := made(t)
	r.Series = r.Series[:1]
	r.Series[0].Point = "campus/会議室/temp"
	r.Series[0].Description = "hot 🔥"
	text, _ := written(t, r)
	for _, want := range []string{"2 texts of this report have characters that it cannot print", "campus/□□□/temp (U+4F1A U+8B70 U+5BA4)", "hot □ (U+1F525)", "campus/□□□/temp [°C]"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q: %s", want, text)
		}
	}
}
