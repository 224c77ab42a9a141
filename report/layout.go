package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/report/pdf"
)

// Measures in points.
const (
	margin  = 48.0
	inner   = pdf.Width - 2*margin
	bottom  = pdf.Height - 56
	plot    = 92.0
	gap     = 22.0
	rowHigh = 13.0
)

const (
	black pdf.Colour = 0x1a1f21
	quiet pdf.Colour = 0x667075
	ink   pdf.Colour = 0x0d6b73
	band  pdf.Colour = 0xc7e3e6
	grid  pdf.Colour = 0xdee3e6
)

// fonts are how texts are written.
type fonts struct{ title, head, text, small pdf.Font }

func usualFonts() fonts {
	return fonts{
		title: pdf.Font{Size: 18, Bold: true, Colour: black}, head: pdf.Font{Size: 11, Bold: true, Colour: black},
		text: pdf.Font{Size: 9, Colour: black}, small: pdf.Font{Size: 8, Colour: quiet},
	}
}

// layout is a report that is being laid out.
type layout struct {
	r    *Report
	doc  pdf.Document
	page *pdf.Page
	y    float64
	f    fonts
}

// Write writes a report as PDF.
func Write(to io.Writer, r *Report) error {
	l := &layout{r: r, f: usualFonts(), doc: pdf.Document{Title: r.Title, Author: r.Node, Created: r.Made}}
	l.next()
	l.page.Text(margin, l.y+14, l.f.title, pdf.Left, pdf.Fit(l.f.title, r.Title, inner))
	l.y += 30
	l.line(l.f.text, fmt.Sprintf("%s to %s, times in %s", l.date(r.From), l.date(r.To.Add(-time.Nanosecond)), r.Zone))
	l.line(l.f.small, fmt.Sprintf("Node %s, made %s", r.Node, r.Made.In(r.Zone).Format("2006-01-02 15:04")))
	for _, note := range append(r.Notes, boxed(r)...) {
		l.line(l.f.text, note)
	}
	l.y += 8
	l.summary()
	for i := range r.Series {
		l.series(&r.Series[i])
	}
	l.alarms()
	l.numbers()
	_, err := l.doc.WriteTo(to)
	return err
}

func (l *layout) date(t time.Time) string { return t.In(l.r.Zone).Format("Mon 2006-01-02") }

// next begins a page.
func (l *layout) next() {
	l.page, l.y = l.doc.Add(), margin
}

// room begins a page if so much does not fit any more.
func (l *layout) room(height float64) {
	if l.y+height > bottom {
		l.next()
	}
}

func (l *layout) line(f pdf.Font, s string) {
	l.room(rowHigh)
	l.page.Text(margin, l.y+10, f, pdf.Left, pdf.Fit(f, s, inner))
	l.y += rowHigh
}

// column is one of a table: where its right edge is, or its left one for texts.
type column struct {
	x     float64
	align pdf.Align
	name  string
}

// figures are the columns of the table of all points.
func figures() []column {
	return []column{
		{margin, pdf.Left, "Point"},
		{300, pdf.Right, "Mean"},
		{345, pdf.Right, "Min"},
		{390, pdf.Right, "Max"},
		{443, pdf.Right, "Week before"},
		{505, pdf.Right, "Integral"},
		{pdf.Width - margin, pdf.Right, "Complete"},
	}
}

// summary is the table of all points.
func (l *layout) summary() {
	if len(l.r.Series) == 0 {
		return
	}
	columns := figures()
	l.heads(columns)
	for i := range l.r.Series {
		s := &l.r.Series[i]
		integral := "–"
		if !math.IsNaN(s.Integral) {
			integral = number(s.Integral) + " " + s.IntegralUnit
		}
		name := pdf.Fit(l.f.text, s.Point+unitWords(s.Unit), 205)
		l.row(columns, name, number(s.Mean), number(s.Min), number(s.Max), number(s.Before), integral, share(s.Complete))
	}
	l.y += gap / 2
}

func (l *layout) heads(columns []column) {
	l.room(3 * rowHigh)
	for _, c := range columns {
		l.page.Text(c.x, l.y+10, l.f.small, c.align, c.name)
	}
	l.y += rowHigh
	l.page.Line(0.5, quiet, margin, l.y+1, pdf.Width-margin, l.y+1)
	l.y += 3
}

func (l *layout) row(columns []column, cells ...string) {
	l.room(rowHigh)
	for i, cell := range cells {
		l.page.Text(columns[i].x, l.y+10, l.f.text, columns[i].align, cell)
	}
	l.y += rowHigh
}

// series draws a point: its name, its curve, and its figures.
func (l *layout) series(s *Series) {
	l.room(plot + gap + 3*rowHigh)
	l.page.Text(margin, l.y+10, l.f.head, pdf.Left, pdf.Fit(l.f.head, s.Point+unitWords(s.Unit), inner))
	l.y += rowHigh + 2
	if s.Description != "" {
		l.line(l.f.small, s.Description)
	}
	l.curve(s)
	words := "No samples in this time."
	if s.Count > 0 {
		words = fmt.Sprintf("Median %s, 5 %% below %s, 5 %% above %s; %d samples, complete %s", number(s.Median), number(s.P5), number(s.P95), s.Count, share(s.Complete))
	}
	l.line(l.f.small, words)
	l.y += gap / 2
}

// curve draws means as a line, over the band from least to greatest.
func (l *layout) curve(s *Series) {
	left, right, top := margin+44, pdf.Width-margin, l.y+4
	low, high := bounds(s.Steps)
	x := func(t time.Time) float64 {
		return left + (right-left)*float64(t.Sub(l.r.From))/float64(l.r.To.Sub(l.r.From))
	}
	y := func(v float64) float64 { return top + plot - plot*(v-low)/(high-low) }
	for i := range 3 {
		v := low + (high-low)*float64(i)/2
		l.page.Line(0.4, grid, left, y(v), right, y(v))
		l.page.Text(left-4, y(v)+3, l.f.small, pdf.Right, number(v))
	}
	l.days(x, top)
	for _, run := range runs(s.Steps) {
		area, line := make([]float64, 0, 4*len(run)), make([]float64, 0, 2*len(run))
		for i := range run {
			area = append(area, x(run[i].Start), y(run[i].Max))
			line = append(line, x(run[i].Start), y(run[i].Mean))
		}
		for _, step := range slices.Backward(run) {
			area = append(area, x(step.Start), y(step.Min))
		}
		l.page.Area(band, area...)
		l.page.Line(1, ink, line...)
	}
	l.y = top + plot + 14
}

// days marks where days begin.
func (l *layout) days(x func(time.Time) float64, top float64) {
	from := l.r.From.In(l.r.Zone)
	many := int(l.r.To.Sub(l.r.From).Hours()/24) + 1
	every := max(1, many/8)
	for i := 0; ; i += every {
		day := time.Date(from.Year(), from.Month(), from.Day()+i, 0, 0, 0, 0, l.r.Zone)
		if !day.Before(l.r.To) {
			return
		}
		if day.Before(l.r.From) {
			continue
		}
		l.page.Line(0.4, grid, x(day), top, x(day), top+plot)
		l.page.Text(x(day)+2, top+plot+9, l.f.small, pdf.Left, day.Format("Mon 2 Jan"))
	}
}

// runs splits steps where some are missing.
func runs(steps []Step) [][]Step {
	if len(steps) == 0 {
		return nil
	}
	width := time.Duration(math.MaxInt64)
	for i := 1; i < len(steps); i++ {
		width = min(width, steps[i].Start.Sub(steps[i-1].Start))
	}
	var list [][]Step
	begin := 0
	for i := 1; i <= len(steps); i++ {
		if i == len(steps) || steps[i].Start.Sub(steps[i-1].Start) > width*3/2 {
			list = append(list, steps[begin:i])
			begin = i
		}
	}
	return list
}

// bounds are the least and the greatest value, with room where they are the same.
func bounds(steps []Step) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range steps {
		low, high = math.Min(low, steps[i].Min), math.Max(high, steps[i].Max)
	}
	switch {
	case low > high:
		return 0, 1
	case low == high:
		room := math.Max(math.Abs(low)*0.1, 1)
		return low - room, high + room
	}
	return low, high
}

// alarms lists those that opened.
func (l *layout) alarms() {
	l.room(4 * rowHigh)
	l.page.Text(margin, l.y+10, l.f.head, pdf.Left, fmt.Sprintf("Alarms: %d opened", l.r.Opened))
	l.y += rowHigh + 4
	if len(l.r.Alarms) == 0 {
		return
	}
	columns := []column{{margin, pdf.Left, "Opened"}, {148, pdf.Left, "Priority"}, {200, pdf.Left, "Alarm"}}
	l.heads(columns)
	for i := range l.r.Alarms {
		a := &l.r.Alarms[i]
		said := a.Text
		if a.Point != "" && !strings.Contains(said, a.Point) {
			said += " (" + a.Point + ")"
		}
		l.row(columns, a.At.In(l.r.Zone).Format("Mon 02 Jan 15:04"), a.Priority, pdf.Fit(l.f.text, said, pdf.Width-margin-200))
	}
	if more := l.r.Opened - len(l.r.Alarms); more > 0 {
		l.line(l.f.small, fmt.Sprintf("and %d more", more))
	}
}

// numbers puts the number of each page at its foot.
func (l *layout) numbers() {
	pages := l.doc.Pages()
	for i, p := range pages {
		p.Text(margin, pdf.Height-32, l.f.small, pdf.Left, pdf.Fit(l.f.small, l.r.Title, inner-80))
		p.Text(pdf.Width-margin, pdf.Height-32, l.f.small, pdf.Right, fmt.Sprintf("Page %d of %d", i+1, len(pages)))
	}
}

// unitWords is a unit as engineers write it, in brackets.
func unitWords(unit string) string {
	units := map[string]string{"degC": "°C", "degF": "°F", "percent": "%", "m3": "m³", "m3/h": "m³/h", "1": ""}
	if known, is := units[unit]; is {
		unit = known
	}
	if unit == "" {
		return ""
	}
	return " [" + unit + "]"
}

// number writes a figure with as many digits as its size deserves.
func number(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "–"
	case size >= 1e7 || (size < 1e-3 && v != 0):
		return strconv.FormatFloat(v, 'e', 2, 64)
	case size >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// share never rounds an imperfection up to 100 %.
func share(v float64) string {
	switch {
	case v < 0 || math.IsNaN(v):
		return "–"
	case v >= 1:
		return "100 %"
	}
	return strconv.FormatFloat(math.Floor(v*1000)/10, 'f', 1, 64) + " %"
}
