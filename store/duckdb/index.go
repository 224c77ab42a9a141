package duckdb

import "slices"

// hasText reports whether one of the points may have a text in a table.
func (s *index) hasText(ids []uint32) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(ids, s.cat.Last.Worded)
}
