// Package stack chooses which units change so that their power meets a target with the least discomfort: a stack of priorities, as in Hao,
// Sanandaji, Poolla and Vincent (IEEE Transactions on Power Systems 30, 2015). The unit that would switch by itself next comes first.
package stack

import (
	"math"

	"voltbus/regulation"
)

// Change is what a unit has to do.
type Change struct {
	Unit  int // its place in the list
	On    bool
	Speed float64 // of a variable one
}

// Decision is what Decide found. Powers are in kW.
type Decision struct {
	Changes  []Change
	Expected float64 // the power after the changes
	// More and Less say by how much consumption could still rise and fall after the changes, with the units that may change now.
	More, Less float64
}

// Stack decides. Its zero value is ready; it keeps memory between decisions, and is for one goroutine.
type Stack struct{ heap []candidate }

type candidate struct {
	key  float64 // smaller: first
	unit int
}

// reserve keeps units from being switched that would switch back by themselves before the lock-out has ended: a share of the band.
const reserve = 0.1

// least is the speed of a fan below which it is not turned down, for fresh air.
const least = 0.2

// Decide finds changes that bring the power of all units to the target. A unit with Free above 0, or at the end of its band, does not change.
// Variable units take what the on/off units leave, each the same share of what it can.
func (s *Stack) Decide(units []regulation.Report, target float64) Decision {
	var d Decision
	s.heap = s.heap[:0]
	for i := range units {
		d.Expected += units[i].Power
	}
	up := target > d.Expected
	for i := range units {
		u := &units[i]
		more, less := Room(u)
		d.More, d.Less = d.More+more, d.Less+less
		if u.Variable {
			continue
		}
		switch p := u.Position(); {
		case up && more > 0:
			s.heap = append(s.heap, candidate{-p, i})
		case !up && less > 0:
			s.heap = append(s.heap, candidate{p, i})
		}
	}
	s.makeHeap()
	for len(s.heap) > 0 {
		u := &units[s.heap[0].unit]
		// One that would overshoot by more than it brings nearer stays; a smaller one further down may fit.
		missing := target - d.Expected
		if !up {
			missing = -missing
		}
		if missing < u.Rated/2 {
			if missing < u.Rated/8 || !s.anySmaller(units, missing) {
				break
			}
			s.pop()
			continue
		}
		d.take(u, s.pop(), up)
	}
	d.spread(units, target)
	return d
}

// anySmaller looks at the next few only.
func (s *Stack) anySmaller(units []regulation.Report, missing float64) bool {
	for _, c := range s.heap[:min(8, len(s.heap))] {
		if units[c.unit].Rated <= 2*missing {
			return true
		}
	}
	return false
}

// take switches an on/off unit.
func (d *Decision) take(u *regulation.Report, i int, on bool) {
	d.Changes = append(d.Changes, Change{Unit: i, On: on})
	if on {
		d.Expected += u.Rated - u.Power
		d.More -= u.Rated - u.Power
		return
	}
	d.Expected -= u.Power
	d.Less -= u.Power
}

// Room returns by how much a unit could raise and lower its power now.
func Room(u *regulation.Report) (more, less float64) {
	p := u.Position()
	switch {
	case u.Free > 0:
	case u.Variable:
		if p > 0 {
			more = max(0, u.Rated-u.Power)
		}
		if p < 1 {
			less = max(0, u.Power-u.Rated*least*least*least)
		}
	case u.On && p < 1-reserve:
		less = u.Power
	case !u.On && p > reserve:
		more = u.Rated
	}
	return more, less
}

// spread divides what is missing among the variable units.
func (d *Decision) spread(units []regulation.Report, target float64) {
	missing := target - d.Expected
	total := 0.0
	for i := range units {
		if units[i].Variable {
			total += roomToward(&units[i], missing)
		}
	}
	if total == 0 || missing == 0 {
		return
	}
	share := min(1, math.Abs(missing)/total)
	for i := range units {
		u := &units[i]
		if !u.Variable {
			continue
		}
		by := math.Copysign(share*roomToward(u, missing), missing)
		if by == 0 {
			continue
		}
		d.Changes = append(d.Changes, Change{Unit: i, On: true, Speed: math.Cbrt(min(1, max(0, (u.Power+by)/u.Rated)))})
		d.Expected += by
		d.More, d.Less = d.More-by, d.Less+by
	}
}

func roomToward(u *regulation.Report, missing float64) float64 {
	more, less := Room(u)
	if missing > 0 {
		return more
	}
	return less
}

// makeHeap orders the candidates so that the first is the smallest. A whole sort would cost more than the few that are taken.
func (s *Stack) makeHeap() {
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sink(i)
	}
}

func (s *Stack) pop() int {
	unit, last := s.heap[0].unit, len(s.heap)-1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	s.sink(0)
	return unit
}

func (s *Stack) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(s.heap) {
			return
		}
		if r := child + 1; r < len(s.heap) && before(s.heap[r], s.heap[child]) {
			child = r
		}
		if !before(s.heap[child], s.heap[i]) {
			return
		}
		s.heap[i], s.heap[child] = s.heap[child], s.heap[i]
		i = child
	}
}

// before orders candidates of equal keys by their place, so that a decision is the same each time.
func before(a, b candidate) bool {
	return a.key < b.key || a.key == b.key && a.unit < b.unit
}
