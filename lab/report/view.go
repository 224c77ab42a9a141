package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"voltbus/lab/experiment"
)

// view is a result as the page shows it.
type view struct {
	R        *experiment.Result
	Balanced bool
	Command  string

	Published []string // labels of the document's columns
	Subjects  []string // voltbus first
	HasPeer   bool
	PeerLabel string
	Rows      []row

	Plots, Curves, Courses         []drawing
	Topology                       []string
	Also, Latency, Accounts, Usage [][]string
	Generators, Collected          []string
}

// row is a case of the table.
type row struct {
	Case, Peer                  string
	Published, Measured, Ratios []string
}

func newView(r *experiment.Result) *view {
	v := &view{R: r, Balanced: true, Command: Command(r.Command)}
	for i := range r.Cases {
		v.columns(&r.Cases[i])
	}
	for i := range r.Cases {
		v.add(&r.Cases[i])
		v.detail(&r.Cases[i])
	}
	v.Plots = plotCases(r)
	v.Curves, v.Courses, v.Topology = plotLatency(r), plotCourse(r), topology(r)
	return v
}

// Command writes a command line so that a shell reads it back.
func Command(args []string) string {
	var out []string
	for _, a := range args {
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return !strings.ContainsRune("-_=./:,+@%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

// columns notes which columns the table needs.
func (v *view) columns(m *experiment.Measured) {
	for _, f := range m.Published {
		if !slices.Contains(v.Published, f.Label) {
			v.Published = append(v.Published, f.Label)
		}
	}
	if !slices.Contains(v.Subjects, m.Subject) {
		v.Subjects = append(v.Subjects, m.Subject)
	}
	if m.Peer != nil {
		v.HasPeer, v.PeerLabel = true, m.Peer.Label
	}
}

// none stands for a figure that there is not.
const none = "–"

// add adds a measured case to its row.
func (v *view) add(m *experiment.Measured) {
	i := slices.IndexFunc(v.Rows, func(r row) bool { return r.Case == m.Case.Name })
	if i < 0 {
		i = len(v.Rows)
		r := row{Case: m.Case.Name, Peer: none, Published: dashes(len(v.Published)), Measured: dashes(len(v.Subjects))}
		v.Rows = append(v.Rows, r)
	}
	r := &v.Rows[i]
	r.Measured[slices.Index(v.Subjects, m.Subject)] = Spread(m)
	for _, f := range m.Published {
		r.Published[slices.Index(v.Published, f.Label)] = experiment.Round(f.Value)
	}
	if m.Peer != nil {
		r.Peer = experiment.Round(m.Peer.Value)
	}
	for _, ratio := range m.Ratios {
		text := experiment.Round(ratio.Times) + " × " + ratio.Against
		if ratio.SameRun {
			text += ", side by side"
		}
		r.Ratios = append(r.Ratios, text)
	}
}

func dashes(n int) []string { return slices.Repeat([]string{none}, n) }

// Spread writes a case's median with the least and the most of the repeats.
func Spread(m *experiment.Measured) string {
	if len(m.Values) < 2 {
		return experiment.Round(m.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", experiment.Round(m.Median), experiment.Round(m.Least), experiment.Round(m.Most))
}

// detail adds what stands beside the metric.
func (v *view) detail(m *experiment.Measured) {
	for _, a := range m.Also {
		sorted := slices.Sorted(slices.Values(a.Values))
		v.Also = append(v.Also, []string{
			m.Case.Name, m.Subject, strings.TrimSuffix(a.Name+", "+a.Unit, ", "), experiment.Round(sorted[len(sorted)/2]),
			experiment.Round(sorted[0]), experiment.Round(sorted[len(sorted)-1]),
		})
	}
	if l := m.Latency; l != nil {
		line := []string{m.Case.Name, m.Subject, strconv.FormatUint(l.Count, 10)}
		for _, s := range []float64{l.Mean, l.P50, l.P90, l.P99, l.P999, l.Most} {
			line = append(line, experiment.Round(s*1000)+" ms")
		}
		v.Latency = append(v.Latency, line)
	}
	if a := m.Account; a != nil {
		v.Balanced = v.Balanced && a.Balanced()
		line := []string{m.Case.Name, m.Subject}
		for _, n := range []uint64{
			a.Sent, a.Acknowledged, a.Refused, a.Unanswered, a.Found, a.Lost, a.Repeated, a.Reordered, a.Foreign, a.Interrupt,
		} {
			line = append(line, strconv.FormatUint(n, 10))
		}
		v.Accounts = append(v.Accounts, line)
	}
	if m.Generator != nil {
		v.Generators = append(v.Generators, m.Subject+", "+m.Case.Name+": "+m.Generator.Words())
	}
	if c := m.Collected; c != nil {
		v.Collected = append(v.Collected, fmt.Sprintf("%s, %s: %d garbage collections, %s ms of pauses in all",
			m.Subject, m.Case.Name, c.Count, experiment.Round(c.Pause*1000)))
	}
	for _, u := range m.Usage {
		v.Usage = append(v.Usage, []string{
			m.Case.Name, m.Subject, u.Part, experiment.Round(u.Usage.Cores()), experiment.Round(u.Usage.CPU) + " s",
			Bytes(u.Usage.Memory), Bytes(u.Usage.Peak), Bytes(u.Usage.Written),
		})
	}
}
