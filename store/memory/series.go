package memory

import (
	"slices"
	"time"

	"voltbus/point"
)

// series holds the samples of one point in time order, one for each time.
type series struct {
	samples []point.Sample
}

// put stores a sample and returns the one it replaces, if there is one with the same time.
func (s *series) put(sample point.Sample) (old point.Sample, replaced bool) {
	i, found := s.search(sample.Time)
	if found {
		old = s.samples[i]
		s.samples[i] = sample
		return old, true
	}
	s.samples = slices.Insert(s.samples, i, sample)
	return old, false
}

// search returns the index at which a sample of the time is or would be.
func (s *series) search(t time.Time) (int, bool) {
	if n := len(s.samples); n == 0 || s.samples[n-1].Time.Before(t) {
		return n, false
	}
	return slices.BinarySearchFunc(s.samples, t, func(e point.Sample, t time.Time) int {
		return e.Time.Compare(t)
	})
}

// between returns the samples with from ≤ time < to.
func (s *series) between(from, to time.Time) []point.Sample {
	first, _ := s.search(from.Truncate(time.Microsecond)) // of which every store counts whole ones
	last, _ := s.search(to.Truncate(time.Microsecond))
	return s.samples[first:max(first, last)]
}

// drop removes the samples with from ≤ time < to.
func (s *series) drop(from, to time.Time) {
	first, _ := s.search(from)
	last, _ := s.search(to)
	s.samples = slices.Delete(s.samples, first, max(first, last))
}
