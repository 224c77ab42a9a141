package postgres

import (
	"voltbus/point"
)

// numbers appends the numbers of the points, of which each has one.
func (s *appends) numbers(ids []int32, points []point.Path, fresh map[point.Path]int32) []int32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range points {
		id, ok := s.ids[p]
		if !ok {
			id = fresh[p]
		}
		ids = append(ids, id)
	}
	return ids
}
