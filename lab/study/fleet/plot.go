package fleet

import (
	"cmp"
	"fmt"
	"slices"

	"voltbus/lab/experiment"
)

// plots draw what the cases of one broker found, with the document's figures beside them.
func plots(kind string, list []setup, cases []experiment.Measured) []experiment.Plot {
	var out []experiment.Plot
	if lines := distributions(list, cases); len(lines) > 0 {
		out = append(out, experiment.Plot{
			Title: "Response times of all experiments, cumulative: " + kind,
			X:     experiment.Axis{Name: "response time, ms"}, Y: experiment.Axis{Name: "share of the messages answered by then, %", Even: true}, Lines: lines,
		})
	}
	if lines := multiples(kind, list, cases); len(lines) > 0 {
		out = append(out, experiment.Plot{
			Title: "Clients served over the experiments: " + kind,
			X:     experiment.Axis{Name: "experiment", Even: true}, Y: experiment.Axis{Name: "clients, × experiment 1", Even: true}, Lines: lines,
		})
	}
	return out
}

// distributions are the shares of messages that were answered in time, and the mean that the document has for each experiment as an
// upright line: it draws distributions, but names no figures of them.
func distributions(list []setup, cases []experiment.Measured) (lines []experiment.Line) {
	for i := range list {
		s := &list[i]
		m := measured(s, cases)
		if m == nil || m.Latency == nil || len(m.Latency.Curve) == 0 {
			continue
		}
		line := experiment.Line{Label: fmt.Sprintf("%s, mean %s ms", s.kase().Name, number(m.Latency.Mean*1e3)), Group: s.kase().Name}
		for _, share := range m.Latency.Curve {
			line.Dots = append(line.Dots, experiment.Dot{X: share.Latency * 1e3, Y: share.Percent})
		}
		lines = append(lines, line, experiment.Line{
			Label: fmt.Sprintf("experiment %d, mean %s ms, %s", s.number, number(s.response), published), Group: line.Group, Published: true,
			Dots: []experiment.Dot{{X: s.response, Y: 0}, {X: s.response, Y: 100}},
		})
	}
	return lines
}

// multiples are how many times the clients of the first experiment were served. There are none without the first.
func multiples(kind string, list []setup, cases []experiment.Measured) []experiment.Line {
	i := slices.IndexFunc(list, func(s setup) bool { return s.number == 1 })
	if i < 0 {
		return nil
	}
	first, _, _ := clientsServed(measured(&list[i], cases))
	if first == 0 {
		return nil
	}
	ours := experiment.Line{Label: fmt.Sprintf("%s; 1 are %.0f clients", kind, first)}
	theirs := experiment.Line{Label: published, Published: true}
	for i := range list {
		s := &list[i]
		theirs.Dots = append(theirs.Dots, experiment.Dot{X: float64(s.number), Y: s.clients})
		if median, least, most := clientsServed(measured(s, cases)); median > 0 {
			ours.Dots = append(ours.Dots, experiment.Dot{X: float64(s.number), Y: median / first, Least: least / first, Most: most / first})
		}
	}
	byNumber := func(a, b experiment.Dot) int { return cmp.Compare(a.X, b.X) }
	slices.SortFunc(ours.Dots, byNumber)
	slices.SortFunc(theirs.Dots, byNumber)
	return []experiment.Line{ours, theirs}
}

// courses are the mean response times over the number of clients.
func courses(kind string, list []setup, steps map[int][]step) experiment.Plot {
	p := experiment.Plot{
		Title: "Mean response time over the number of clients: " + kind,
		X:     experiment.Axis{Name: "clients"}, Y: experiment.Axis{Name: "mean response time, ms"},
	}
	for i := range list {
		s := &list[i]
		line := experiment.Line{Label: s.kase().Name}
		for _, at := range steps[s.number] {
			line.Dots = append(line.Dots, experiment.Dot{X: float64(at.clients), Y: at.mean})
		}
		if len(line.Dots) > 0 {
			p.Lines = append(p.Lines, line)
		}
	}
	return p
}

// measured is the case of a set-up, nil if it was not measured.
func measured(s *setup, cases []experiment.Measured) *experiment.Measured {
	i := slices.IndexFunc(cases, func(m experiment.Measured) bool { return m.Case.Name == s.kase().Name && len(m.Values) > 0 })
	if i < 0 {
		return nil
	}
	return &cases[i]
}

// clientsServed are the clients of a case: the median of its repeats with the least and the most; 0 if it was not measured.
func clientsServed(m *experiment.Measured) (median, least, most float64) {
	if m == nil {
		return 0, 0, 0
	}
	i := slices.IndexFunc(m.Also, func(e experiment.Extra) bool { return e.Name == served })
	if i < 0 || len(m.Also[i].Values) == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(m.Also[i].Values))
	return sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]
}
