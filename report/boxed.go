package report

import (
	"fmt"
	"slices"
	"strings"

	"voltbus/report/pdf"
)

// mostBoxed is how many texts are named that have boxes.
const mostBoxed = 8

// boxed says which texts of a report have characters that it cannot print, and which characters these are.
func boxed(r *Report) []string {
	texts := append([]string{r.Title, r.Node}, r.Notes...)
	for i := range r.Series {
		texts = append(texts, r.Series[i].Point, r.Series[i].Unit, r.Series[i].Description)
	}
	for i := range r.Alarms {
		texts = append(texts, r.Alarms[i].Text, r.Alarms[i].Point)
	}
	var list []string
	for _, text := range texts {
		if !pdf.Shown(text) && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("%d texts of this report have characters that it cannot print; boxes stand for them:", len(list))}
	for _, text := range list[:min(len(list), mostBoxed)] {
		lines = append(lines, "    "+text+" ("+codes(text)+")")
	}
	if more := len(list) - mostBoxed; more > 0 {
		lines = append(lines, fmt.Sprintf("    and %d more", more))
	}
	return lines
}

// codes names the first characters of a text that cannot be printed.
func codes(text string) string {
	const most = 6
	var list []string
	for _, r := range text {
		if code := fmt.Sprintf("U+%04X", r); !pdf.Shown(string(r)) && !slices.Contains(list, code) {
			list = append(list, code)
		}
	}
	if len(list) > most {
		list = append(list[:most], "…")
	}
	return strings.Join(list, " ")
}
