package promql

import (
	"context"
	"maps"
	"slices"

	"github.com/prometheus/prometheus/model/labels"

	"voltbus/catalog"
	"voltbus/point"
)

// selected calls each with the labels of the points that any of the selectors matches, under the requested
// names. Without selectors everything matches, under both of its names.
func (s *source) selected(ctx context.Context, selectors [][]*labels.Matcher, each func(labels.Labels)) error {
	if len(selectors) == 0 {
		selectors = [][]*labels.Matcher{nil}
	}
	for _, matchers := range selectors {
		entries, err := s.entries(ctx, matchers)
		if err != nil {
			return err
		}
		for i := range entries {
			for _, ls := range named(&entries[i], matchers) {
				each(ls)
			}
		}
	}
	return nil
}

// named returns the labels of a point under each of its names that matches.
func named(e *catalog.Entry, matchers []*labels.Matcher) []labels.Labels {
	var out []labels.Labels
	if e.Kind == point.Text {
		return nil
	}
	for _, name := range []string{metric, metricName(e.Path)} {
		if ls := labelsOf(e, name); match(ls, matchers) {
			out = append(out, ls)
		}
	}
	return out
}

func (s *source) labelNames(ctx context.Context, selectors [][]*labels.Matcher) ([]string, error) {
	found := make(map[string]bool)
	err := s.selected(ctx, selectors, func(ls labels.Labels) {
		ls.Range(func(l labels.Label) { found[l.Name] = true })
	})
	return slices.Sorted(maps.Keys(found)), err
}

func (s *source) labelValues(ctx context.Context, name string, selectors [][]*labels.Matcher) ([]string, error) {
	found := make(map[string]bool)
	err := s.selected(ctx, selectors, func(ls labels.Labels) {
		if v := ls.Get(name); v != "" {
			found[v] = true
		}
	})
	return slices.Sorted(maps.Keys(found)), err
}
