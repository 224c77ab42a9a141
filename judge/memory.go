package judge

import (
	"maps"
	"time"

	"voltbus/point"
)

// Memory is what a judge remembers, to be kept in a file.
type Memory struct {
	Points   map[point.Path]Traces `json:"points,omitempty"`
	Partners map[point.Path]*Trace `json:"partners,omitempty"` // last readings of points that others are compared with; nil for none yet
}

// Traces are readings that rules remember, by the name of the rule.
type Traces map[string]Trace

// Trace is a reading that is remembered.
type Trace struct {
	Time  int64   `json:"time"` // microseconds since 1970 UTC
	Value float64 `json:"value"`
	// Fit is what a rule of the check residual knows of residuals, beside their mean in Value.
	Fit Fit `json:"fit,omitzero"`
}

// Memory returns what is remembered now.
func (j *Judge) Memory() Memory {
	m := Memory{Points: make(map[point.Path]Traces, len(j.points)), Partners: make(map[point.Path]*Trace, len(j.partners))}
	maps.Copy(m.Points, j.saved)
	for path, p := range j.points {
		if p == nil {
			continue
		}
		for i := range p.checks {
			c := &p.checks[i]
			if !c.last.known {
				continue
			}
			if m.Points[path] == nil {
				m.Points[path] = Traces{}
			}
			m.Points[path][c.rule.Name] = Trace{c.last.time, c.last.value, c.fit}
		}
	}
	for path, t := range j.partners {
		m.Partners[path] = nil
		if t.known {
			m.Partners[path] = &Trace{Time: t.time, Value: t.value}
		}
	}
	return m
}

func span(micros int64) time.Duration { return time.Duration(micros) * time.Microsecond }
