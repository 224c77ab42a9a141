package promql

import (
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"voltbus/catalog"
	"voltbus/point"
)

// metric is the metric name common to all points.
const metric = "voltbus_point"

// series is a point under one of its names.
type series struct {
	entry  *catalog.Entry
	labels labels.Labels
}

// choose returns the entries that match, under the name that the matchers request.
func choose(entries []catalog.Entry, matchers []*labels.Matcher) []series {
	var out []series
	for i := range entries {
		e := &entries[i]
		if e.Kind == point.Text {
			continue
		}
		for _, name := range []string{metric, metricName(e.Path)} {
			if ls := labelsOf(e, name); match(ls, matchers) {
				out = append(out, series{e, ls})
				break
			}
		}
	}
	return out
}

func match(ls labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}

func labelsOf(e *catalog.Entry, name string) labels.Labels {
	device := e.Device
	if device == "" {
		device = e.Path.Parent()
	}
	b := labels.NewScratchBuilder(6 + len(e.Tags))
	add := func(name, value string) {
		if value != "" {
			b.Add(name, value)
		}
	}
	add(model.MetricNameLabel, name)
	add("path", string(e.Path))
	add("device", string(device))
	add("point", e.Path.Name())
	add("unit", e.Unit)
	if e.Kind != point.None {
		add("kind", e.Kind.String())
	}
	seen := make(map[string]bool, len(e.Tags))
	for k, v := range e.Tags {
		// Two tags may differ only in characters that a label cannot contain; then neither is shown.
		if name := "tag_" + clean(k); !seen[name] {
			seen[name] = true
			add(name, v)
		}
	}
	b.Sort()
	return b.Labels()
}

// metricName returns the last segment of the path as a metric name.
func metricName(p point.Path) string {
	name := clean(p.Name())
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// clean replaces everything that a label name may not contain by "_".
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, s)
}

// narrow returns a filter of the catalogue for what the matchers at least require.
func narrow(matchers []*labels.Matcher) catalog.Filter {
	f := catalog.Filter{Removed: true}
	for _, m := range matchers {
		if m.Type != labels.MatchEqual || m.Value == "" {
			continue
		}
		switch m.Name {
		case "unit":
			f.Unit = m.Value
		case "path":
			if !strings.Contains(m.Value, "*") {
				f.Pattern = point.Pattern(m.Value)
			}
		}
	}
	return f
}
