package report

import (
	"fmt"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"

	"voltbus/lab/experiment"
)

// drawing is markup that is made here, with the text in it escaped.
type drawing string

// page builds the page of a result. Not by html/template: a program that links text/template keeps every exported method
// of every type that it uses, which made the one in which this ends a tenth larger.
type page struct{ strings.Builder }

// raw adds markup.
func (p *page) raw(markup string) { p.WriteString(markup) }

// markup adds markup with text for each %s. The text is escaped.
func (p *page) markup(format string, text ...string) {
	escaped := make([]any, len(text))
	for i, s := range text {
		escaped[i] = html.EscapeString(s)
	}
	fmt.Fprintf(p, format, escaped...)
}

// section adds a section with a heading, if there is something in it.
func (p *page) section(heading string, content bool, write func()) {
	if !content {
		return
	}
	p.markup("<section><h2>%s</h2>", heading)
	write()
	p.raw("</section>\n")
}

func (p *page) items(lists ...[]string) {
	p.raw("<ul>")
	for _, item := range slices.Concat(lists...) {
		p.markup("<li>%s</li>", item)
	}
	p.raw("</ul>")
}

func (p *page) figures(drawings []drawing) {
	for _, d := range drawings {
		p.raw("<figure>" + string(d) + "</figure>")
	}
}

// table adds a table whose cells are of a class, "" for none.
func (p *page) table(class string, head []string, rows [][]string) {
	p.raw(`<div class="wide"><table><thead><tr>`)
	for _, name := range head {
		p.markup(`<th scope="col">%s</th>`, name)
	}
	p.raw("</tr></thead>\n<tbody>")
	cell := "<td>%s</td>"
	if class != "" {
		cell = `<td class="` + class + `">%s</td>`
	}
	for _, row := range rows {
		p.raw("<tr>")
		for _, text := range row {
			p.markup(cell, text)
		}
		p.raw("</tr>")
	}
	p.raw("</tbody></table></div>")
}

// shades is how many colours a heat map has.
const shades = 10

// follows adds a table of what follows from the cases, with coloured cells if it is a heat map.
func (p *page) follows(t *experiment.Table) {
	p.raw(`<div class="wide"><table><thead><tr>`)
	for _, name := range t.Head {
		p.markup(`<th scope="col">%s</th>`, name)
	}
	p.raw("</tr></thead>\n<tbody>")
	for y, row := range t.Rows {
		p.raw("<tr>")
		for x, text := range row {
			class := ""
			if x > 0 && y < len(t.Shades) && x-1 < len(t.Shades[y]) {
				class = "h" + strconv.Itoa(int(min(max(t.Shades[y][x-1], 0), 1)*shades+0.5))
			}
			p.markup(`<td class="%s">%s</td>`, class, text)
		}
		p.raw("</tr>")
	}
	p.raw("</tbody></table></div>")
}

// write builds the page.
func (p *page) write(v *view) {
	p.head(v)
	p.section("Verdict", true, func() { p.verdict(v) })
	p.section("Figures", true, func() { p.cases(v) })
	p.section("Found", len(v.R.Findings) > 0, func() {
		var list []string
		for _, f := range v.R.Findings {
			list = append(list, f.Name+": "+findingWords(f))
		}
		p.items(list)
	})
	for i := range v.R.Tables {
		t := &v.R.Tables[i]
		p.section(t.Title, true, func() { p.follows(t) })
	}
	for i := range v.R.Plots {
		plot := &v.R.Plots[i]
		p.section(plot.Title, len(plot.Lines) > 0, func() { p.figures([]drawing{plotFollowing(plot)}) })
	}
	p.section("Beside the metric", len(v.Also) > 0, func() {
		p.table("text", []string{"case", "subject", "what", "median", "least", "most"}, v.Also)
	})
	p.section("Latency, from the time at which a request was due", len(v.Latency) > 0, func() {
		p.figures(v.Curves)
		p.table("", []string{"case", "subject", "requests", "mean", "50 %", "90 %", "99 %", "99.9 %", "most"}, v.Latency)
	})
	p.section("How it went", len(v.Courses) > 0, func() {
		p.raw(`<p class="dim">As the run told it, thinned where it was long.</p>`)
		p.figures(v.Courses)
	})
	p.section("Account", len(v.Accounts) > 0, func() {
		p.table("", []string{
			"case", "subject", "sent", "acknowledged", "refused", "no answer", "found", "lost", "repeated", "out of order", "never accepted", "interrupted",
		}, v.Accounts)
	})
	p.section("Was the load generator the bottleneck?", len(v.Generators) > 0, func() { p.items(v.Generators) })
	p.section("What it used", true, func() {
		p.table("text", []string{"case", "subject", "part", "cores", "processor time", "memory", "peak memory", "written"}, v.Usage)
		if len(v.Collected) > 0 {
			p.raw("<p>Of this process:</p>")
			p.items(v.Collected)
		}
	})
	p.section("What ran", len(v.Topology) > 0, func() {
		p.raw("<p>All on one machine; what passes between processes crosses its loopback network.</p>")
		p.items(v.Topology)
	})
	p.section("Method", true, func() { p.items(v.R.Method) })
	p.section("Limits", true, func() {
		var skipped []string
		for _, s := range v.R.Skipped {
			skipped = append(skipped, s.Peer+" did not run: "+s.Reason)
		}
		p.items(v.R.Limits, v.R.Notes, skipped)
	})
	p.section("Published figures", v.R.Source != "", func() { p.markup("<p>%s</p>", v.R.Source) })
	p.section("To repeat it", true, func() { p.repeat(v) })
	p.raw("</main>\n</body>\n</html>\n")
}

func (p *page) head(v *view) {
	p.markup(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s — %s</title>
<style>`, v.R.Experiment, v.R.Title)
	p.raw(style)
	p.markup(`</style>
</head>
<body>
<header>
<h1>%s</h1>
<p class="question">%s</p>
<p class="dim">%s · %s · %s, %s cores · %s repeats`, v.R.Title, v.R.Question, v.R.Experiment,
		v.R.Started.Format("2006-01-02 15:04:05 MST"), v.R.Machine.CPU, strconv.Itoa(v.R.Machine.Cores), strconv.Itoa(v.R.Repeats))
	if v.R.Quick {
		p.raw(" · <strong>quick run: small cases, to see that it works</strong>")
	}
	p.raw("</p>\n</header>\n<main>\n")
}

func (p *page) verdict(v *view) {
	class := "verdict"
	if !v.Balanced {
		class += " bad"
	}
	p.markup(`<div class="%s">`, class)
	for _, line := range v.R.Verdict {
		p.markup("<p>%s</p>", line)
	}
	if len(v.R.Verdict) == 0 {
		p.raw("<p>There is no published figure for these cases; the table shows what was measured.</p>")
	}
	p.raw("</div>")
}

// cases shows the metric of all cases.
func (p *page) cases(v *view) {
	better := "less"
	if v.R.Metric.Higher {
		better = "more"
	}
	p.markup("\n"+`<p class="dim">%s in %s; %s is better. Measured figures are the median of the repeats, with the least and the most.</p>`+"\n",
		v.R.Metric.Name, v.R.Metric.Unit, better)
	p.figures(v.Plots)
	p.raw("\n" + `<div class="wide"><table>` + "\n" + `<thead><tr><th scope="col">case</th>`)
	from := func(label, what string) {
		p.markup(`<th scope="col">%s<br><span class="dim">%s</span></th>`, label, what)
	}
	for _, label := range v.Published {
		from(label, "published")
	}
	if v.HasPeer {
		from(v.PeerLabel, "measured earlier")
	}
	for _, label := range v.Subjects {
		from(label, "this run")
	}
	p.raw(`<th scope="col">voltbus against the others</th></tr></thead>` + "\n<tbody>")
	for i := range v.Rows {
		p.row(v, &v.Rows[i])
	}
	p.raw("</tbody></table></div>")
}

func (p *page) row(v *view, r *row) {
	p.markup("<tr><td>%s</td>", r.Case)
	for _, figure := range r.Published {
		p.markup("<td>%s</td>", figure)
	}
	if v.HasPeer {
		p.markup("<td>%s</td>", r.Peer)
	}
	for _, figure := range r.Measured {
		p.markup(`<td class="own">%s</td>`, figure)
	}
	p.raw(`<td class="text">`)
	for _, ratio := range r.Ratios {
		p.markup("%s<br>", ratio)
	}
	p.raw("</td></tr>\n")
}

// repeat says what it takes to measure the same again.
func (p *page) repeat(v *view) {
	p.markup("<pre>%s</pre>\n<dl>", v.Command)
	entry := func(name, value string) { p.markup("<dt>%s</dt><dd>%s</dd>", name, value) }
	entry("seed", strconv.FormatInt(v.R.Seed, 10))
	for _, name := range slices.Sorted(maps.Keys(v.R.Settings)) {
		entry(name, v.R.Settings[name])
	}
	m := &v.R.Machine
	processor := fmt.Sprintf("%s, %d cores, %s", m.CPU, m.Cores, m.Arch)
	if m.Quota != "" {
		processor += ", quota " + m.Quota
	}
	p.raw("\n")
	entry("version", v.R.Version+" "+v.R.Commit)
	entry("Go", m.Go)
	p.raw("\n")
	entry("processor", processor)
	p.raw("\n")
	entry("memory", Bytes(m.Memory))
	entry("disk", m.Disk+", "+Bytes(m.DiskFree)+" free")
	p.raw("\n")
	entry("system", m.System+", Linux "+m.Kernel)
	entry("open files", fmt.Sprintf("%v at most", m.Files))
	entry("load before", m.Load)
	p.raw("</dl>")
}
