package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"voltbus/lab/experiment"
)

// curve is a line of a plot.
type curve struct {
	label  string
	dots   []dot
	dashed bool // not from this run
	colour int
}

// dot is a place on a curve, with the spread of its repeats.
type dot struct{ x, y, least, most float64 }

// Size and margins of a plot, in the units of its view box.
const (
	width, height                = 900, 420
	left, right, top, bottom     = 70, 20, 16, 50
	legendLine                   = 18
	colours                      = 8
	dotRadius, whisker, tickRoom = 3.5, 4, 8
)

// plotCases draws the cases over the metric's axis, if they lie on one.
func plotCases(r *experiment.Result) []drawing {
	var curves []curve
	at := func(label string, dashed bool) *curve {
		i := slices.IndexFunc(curves, func(c curve) bool { return c.label == label && c.dashed == dashed })
		if i < 0 {
			i = len(curves)
			curves = append(curves, curve{label: label, dashed: dashed})
		}
		return &curves[i]
	}
	xs := map[float64]bool{}
	for i := range r.Cases {
		m := &r.Cases[i]
		line := ""
		if m.Case.Line != "" {
			line = ", " + m.Case.Line
		}
		xs[m.Case.X] = true
		c := at(m.Subject+line, false)
		c.dots = append(c.dots, dot{m.Case.X, m.Median, m.Least, m.Most})
		others := slices.Clone(m.Published)
		if m.Peer != nil {
			others = append(others, *m.Peer)
		}
		for _, f := range others {
			o := at(f.Label+line, true)
			o.dots = append(o.dots, dot{m.Case.X, f.Value, f.Value, f.Value})
		}
	}
	if len(xs) < 2 {
		return nil
	}
	return []drawing{draw(curves, axes{
		x: r.Metric.Axis, y: r.Metric.Name + ", " + r.Metric.Unit,
	})}
}

// plotLatency draws the distributions: latency over the share of requests beyond it.
func plotLatency(r *experiment.Result) []drawing {
	var curves []curve
	for _, m := range r.Cases {
		if m.Latency == nil {
			continue
		}
		c := curve{label: m.Subject + ", " + m.Case.Name}
		for _, s := range m.Latency.Curve {
			if s.Percent < 100 && s.Latency > 0 {
				c.dots = append(c.dots, dot{100 / (100 - s.Percent), s.Latency * 1000, 0, 0})
			}
		}
		if len(c.dots) > 1 {
			curves = append(curves, c)
		}
	}
	if len(curves) == 0 {
		return nil
	}
	return []drawing{draw(curves, axes{x: "one request in so many takes longer", y: "latency, ms"})}
}

// plotFollowing draws what follows from the cases.
func plotFollowing(p *experiment.Plot) drawing {
	colour := map[string]int{}
	curves := make([]curve, len(p.Lines))
	for i, l := range p.Lines {
		group := l.Group
		if group == "" {
			group = l.Label
		}
		if _, known := colour[group]; !known {
			colour[group] = len(colour)
		}
		curves[i] = curve{label: l.Label, dashed: l.Published, colour: colour[group]}
		for _, d := range l.Dots {
			curves[i].dots = append(curves[i].dots, dot{d.X, d.Y, d.Least, d.Most})
		}
	}
	return paint(curves, axes{x: p.X.Name, y: p.Y.Name, even: p.X.Even, evenY: p.Y.Even, from: p.X.From, fromY: p.Y.From})
}

// axes are the words at the axes. They are logarithmic, or even from a figure.
type axes struct {
	x, y        string
	even, evenY bool
	from, fromY float64
}

// scale maps a figure to a place.
type scale struct {
	from, to, least, most float64
	even                  bool // not logarithmic
}

func (s scale) at(v float64) float64 {
	if !s.even {
		v = math.Log10(v)
	}
	return s.from + (s.to-s.from)*(v-s.least)/(s.most-s.least)
}

// drawn says whether a figure has a place.
func (s scale) drawn(v float64) bool { return v > 0 && !s.even || s.even && v >= s.least }

// newEven covers what is from the least to the greatest figure.
func newEven(from, to, least float64, values []float64) scale {
	return scale{from: from, to: to, least: least, most: max(least+1e-3, slices.Max(append(values, 0))), even: true}
}

// newScale covers the figures, by whole or third decades.
func newScale(from, to float64, values []float64) scale {
	s := scale{from: from, to: to, least: math.Inf(1), most: math.Inf(-1)}
	for _, v := range values {
		if v > 0 {
			s.least, s.most = min(s.least, math.Log10(v)), max(s.most, math.Log10(v))
		}
	}
	if math.IsInf(s.least, 0) {
		s.least, s.most = 0, 1
	}
	const third = 3
	s.least, s.most = math.Floor(s.least*third-0.2)/third, math.Ceil(s.most*third+0.2)/third
	return s
}

// ticks are 1, 2 and 5 of each decade within the scale; only 1 if there are many.
func (s scale) ticks() []float64 {
	if s.even {
		return s.evenTicks()
	}
	steps := []float64{1, 2, 5}
	if s.most-s.least > 3 {
		steps = steps[:1]
	}
	var out []float64
	for e := math.Floor(s.least); e <= s.most; e++ {
		for _, step := range steps {
			if v := step * math.Pow(10, e); math.Log10(v) >= s.least-1e-9 && math.Log10(v) <= s.most+1e-9 {
				out = append(out, v)
			}
		}
	}
	return out
}

// evenTicks are at most about eight, at 1, 2 or 5 times a power of ten.
func (s scale) evenTicks() []float64 {
	span := s.most - s.least
	step := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, times := range []float64{1, 2, 5} {
		if span/(step*times) <= 8 {
			step *= times
			break
		}
	}
	var out []float64
	for i := math.Ceil(s.least / step); i*step <= s.most; i++ {
		out = append(out, i*step)
	}
	return out
}

// draw makes the SVG with a colour for each curve.
func draw(curves []curve, a axes) drawing {
	for i := range curves {
		curves[i].colour = i
	}
	return paint(curves, a)
}

// paint makes the SVG. All text in it is escaped.
func paint(curves []curve, a axes) drawing {
	var xs, ys []float64
	for _, c := range curves {
		for _, d := range c.dots {
			xs, ys = append(xs, d.x), append(ys, d.y, d.least, d.most)
		}
	}
	x, y := newScale(left, width-right, xs), newScale(height-bottom, top, ys)
	if a.even {
		x = newEven(left, width-right, a.from, xs)
	}
	if a.evenY {
		y = newEven(height-bottom, top, a.fromY, ys)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s over %s">`,
		width, height+legendLine*len(curves), html.EscapeString(a.y), html.EscapeString(a.x))
	frame(&b, x, y, a)
	for i, c := range curves {
		c.draw(&b, i, x, y)
	}
	b.WriteString("</svg>")
	return drawing(b.String())
}

func frame(b *strings.Builder, x, y scale, a axes) {
	for _, v := range x.ticks() {
		p := x.at(v)
		fmt.Fprintf(b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`,
			p, p, top, height-bottom, p, height-bottom+2*tickRoom, tick(v))
	}
	for _, v := range y.ticks() {
		p := y.at(v)
		fmt.Fprintf(b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`,
			left, width-right, p, p, left-tickRoom, p+4, tick(v))
	}
	fmt.Fprintf(b, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/><text x="%d" y="%d" text-anchor="middle">%s</text>`,
		left, width-right, height-bottom, height-bottom, (left+width-right)/2, height-tickRoom, html.EscapeString(a.x))
	fmt.Fprintf(b, `<text transform="translate(14 %d) rotate(-90)" text-anchor="middle">%s</text>`,
		(top+height-bottom)/2, html.EscapeString(a.y))
}

// tick writes a round figure.
func tick(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%g M", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%g k", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}

// draw adds the curve, its dots, their spread and its line of the legend.
func (c *curve) draw(b *strings.Builder, i int, x, y scale) {
	dots := slices.SortedFunc(slices.Values(c.dots), func(p, q dot) int {
		switch {
		case p.x < q.x:
			return -1
		case p.x > q.x:
			return 1
		}
		return 0
	})
	colour := c.colour % colours
	kind := fmt.Sprintf("line s%d", colour)
	if c.dashed {
		kind += " thin"
	}
	fmt.Fprintf(b, `<polyline class="%s" points="`, kind)
	for _, d := range dots {
		if x.drawn(d.x) && y.drawn(d.y) {
			fmt.Fprintf(b, "%.1f,%.1f ", x.at(d.x), y.at(d.y))
		}
	}
	b.WriteString(`"/>`)
	for _, d := range dots {
		if !x.drawn(d.x) || !y.drawn(d.y) {
			continue
		}
		px := x.at(d.x)
		if d.least > 0 && d.most > d.least {
			fmt.Fprintf(b, `<line class="s%d" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, colour, px, px, y.at(d.least), y.at(d.most))
		}
		if len(dots) <= 40 {
			fmt.Fprintf(b, `<circle class="f%d" cx="%.1f" cy="%.1f" r="%.1f"><title>%s: %s at %s</title></circle>`,
				colour, px, y.at(d.y), dotRadius, html.EscapeString(c.label), experiment.Round(d.y), tick(d.x))
		}
	}
	at := height + legendLine*i + 4
	fmt.Fprintf(b, `<line class="%s" x1="%d" x2="%d" y1="%d" y2="%d"/><text x="%d" y="%d">%s</text>`,
		kind, left, left+30, at, at, left+38, at+4, html.EscapeString(c.label))
}
