package report

import (
	"fmt"
	"slices"
	"strings"

	"voltbus/lab/experiment"
)

// plotCourse draws how fast it went and how long requests took, over the time of each case's last
// repeat.
func plotCourse(r *experiment.Result) []drawing {
	clients := courses(r, "", func(m *experiment.Moment) float64 { return float64(m.Clients) })
	rates := courses(r, "", func(m *experiment.Moment) float64 { return m.Rate })
	latencies := append(
		courses(r, ", median", func(m *experiment.Moment) float64 { return m.P50 * 1000 }),
		courses(r, ", 99 %", func(m *experiment.Moment) float64 { return m.P99 * 1000 })...)
	var out []drawing
	const seconds = "seconds of the last repeat"
	if len(clients) > 0 {
		out = append(out, draw(clients, axes{x: seconds, y: "clients", even: true}))
	}
	if len(rates) > 0 {
		out = append(out, draw(rates, axes{x: seconds, y: "a second", even: true}))
	}
	if len(latencies) > 0 {
		out = append(out, draw(latencies, axes{x: seconds, y: "latency, ms", even: true}))
	}
	return out
}

// mostCourses is how many curves one plot shows; more hide each other.
const mostCourses = 12

// courses are the curves of one figure. A case that reported it once only has none.
func courses(r *experiment.Result, of string, figure func(*experiment.Moment) float64) []curve {
	var out []curve
	for i := range r.Cases {
		m := &r.Cases[i]
		c := curve{label: m.Subject + ", " + m.Case.Name + of}
		for j := range m.Course {
			at := &m.Course[j]
			if v := figure(at); v > 0 && at.Repeat == m.Course[len(m.Course)-1].Repeat {
				c.dots = append(c.dots, dot{x: at.At, y: v})
			}
		}
		if len(c.dots) > 1 && len(out) < mostCourses {
			out = append(out, c)
		}
	}
	return out
}

// topology says which processes each subject's cases were made of.
func topology(r *experiment.Result) []string {
	var subjects []string
	parts := map[string][]string{}
	for i := range r.Cases {
		m := &r.Cases[i]
		if _, known := parts[m.Subject]; !known {
			subjects = append(subjects, m.Subject)
			parts[m.Subject] = nil
		}
		for _, u := range m.Usage {
			if !slices.Contains(parts[m.Subject], u.Part) {
				parts[m.Subject] = append(parts[m.Subject], u.Part)
			}
		}
	}
	var out []string
	for _, s := range subjects {
		if len(parts[s]) > 0 {
			out = append(out, fmt.Sprintf("%s: %s", s, strings.Join(parts[s], " ↔ ")))
		}
	}
	return out
}
