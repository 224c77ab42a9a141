package query

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

// Bounds of a heat map.
const (
	MaxSteps = 1000 // cells per row
	MaxRows  = 1000
)

// maxCells is how many counts of samples a heat map holds at once: it bounds the memory.
const maxCells = 2 << 20

// HeatMap requests the completeness of many points: a row for each branch of the tree, a cell for each time
// step.
type HeatMap struct {
	Pattern point.Pattern
	From    time.Time
	To      time.Time
	Steps   int        // requested cells per row, 1 to MaxSteps
	Depth   int        // segments of a row's path; 0 for a row for each device, or folder of points without one
	After   point.Path // only rows after it, in path order: Next of the previous page
	Rows    int        // maximum rows, 1 to MaxRows
}

// Heat is the answer to a HeatMap. Cell i covers the time from From + i·Step to From + (i+1)·Step.
type Heat struct {
	From, To time.Time
	Step     time.Duration
	Rows     []Branch
	Next     point.Path // After for the next page; "" on the last
}

// Branch is one row of a heat map.
type Branch struct {
	Path     point.Path
	Points   int       // points below it, whether or not their interval is known
	Expected int64     // samples expected from the intervals
	Present  int64     // of these, those with a usable value
	Cells    []float64 // completeness of each step, 0 to 1; NaN if nothing was expected
}

// Completeness returns for each branch and step how many of the expected samples exist. Steps of more than
// half an hour are rounded up to whole UTC hours, because a store knows hourly counts without reading the
// samples again; From and To are widened accordingly. Only whole intervals within a step count, so a step
// shorter than a point's interval expects nothing of it.
func (e *Engine) Completeness(ctx context.Context, m HeatMap) (Heat, error) {
	if err := m.check(); err != nil {
		return Heat{}, err
	}
	entries, err := e.known(ctx, m.Pattern)
	if err != nil {
		return Heat{}, err
	}
	h := m.frame()
	chosen := m.choose(&h, entries)
	fine := h.fine(len(chosen))
	steps := int(h.To.Sub(h.From) / fine)
	for part := range slices.Chunk(chosen, max(1, maxCells/steps)) {
		paths := make([]point.Path, len(part))
		for i := range part {
			paths[i] = part[i].entry.Path
		}
		whole := store.Range{Points: paths, From: h.From, To: h.To}
		list, err := e.store.Count(ctx, store.Query{Range: whole, Step: fine})
		if err != nil {
			return Heat{}, err
		}
		for i := range part {
			part[i].sheet.add(&h, part[i].entry, counts{h.From, fine, list[i]}, e.now())
		}
	}
	h.fill(chosen)
	return h, nil
}

func (m *HeatMap) check() error {
	const op = "query.Completeness"
	switch {
	case !m.From.Before(m.To):
		return fault.E(op, fault.Invalid, "from", errNothing)
	case m.Steps < 1 || m.Steps > MaxSteps:
		return fault.E(op, fault.Invalid, "steps", fmt.Errorf("must be from 1 to %d", MaxSteps))
	case m.Rows < 1 || m.Rows > MaxRows:
		return fault.E(op, fault.Invalid, "limit", fmt.Errorf("must be from 1 to %d", MaxRows))
	case m.Depth < 0:
		return fault.E(op, fault.Invalid, "depth", fmt.Errorf("must not be negative; 0 is a row for each device"))
	}
	return nil
}

// frame returns the times of the answer.
func (m *HeatMap) frame() Heat {
	h := Heat{From: m.From, Step: max(time.Millisecond, (m.To.Sub(m.From) / time.Duration(m.Steps)).Truncate(time.Microsecond))}
	if h.Step > 30*time.Minute {
		h.From = m.From.Truncate(time.Hour)
		h.Step = (h.Step + time.Hour - 1).Truncate(time.Hour)
	}
	steps := (m.To.Sub(h.From) + h.Step - 1) / h.Step
	h.To = h.From.Add(steps * h.Step)
	return h
}

// member is a point of a row.
type member struct {
	entry *catalog.Entry
	sheet *sheet
}

// choose adds the page's rows to the answer and returns their points.
func (m *HeatMap) choose(h *Heat, entries []catalog.Entry) []member {
	rows := make(map[point.Path][]int)
	var order []point.Path
	for i := range entries {
		row := m.row(&entries[i])
		if row <= m.After {
			continue
		}
		if rows[row] == nil {
			order = append(order, row)
		}
		rows[row] = append(rows[row], i)
	}
	slices.Sort(order)
	if len(order) > m.Rows {
		order, h.Next = order[:m.Rows], order[m.Rows-1]
	}
	var chosen []member
	cells := int(h.To.Sub(h.From) / h.Step)
	for _, row := range order {
		h.Rows = append(h.Rows, Branch{Path: row, Points: len(rows[row])})
		sheet := &sheet{expected: make([]int64, cells), present: make([]int64, cells)}
		for _, i := range rows[row] {
			chosen = append(chosen, member{&entries[i], sheet})
		}
	}
	return chosen
}

// row returns the path of the row that the point belongs to.
func (m *HeatMap) row(e *catalog.Entry) point.Path {
	if m.Depth == 0 {
		if e.Device != "" {
			return e.Device
		}
		if parent := e.Path.Parent(); parent != "" {
			return parent
		}
		return e.Path
	}
	end := 0
	for range m.Depth {
		i := strings.IndexByte(string(e.Path[end:]), '/')
		if i < 0 {
			return e.Path
		}
		end += i + 1
	}
	return e.Path[:end-1]
}

// sheet adds up a row.
type sheet struct {
	expected, present []int64
}

// add counts a point, given its samples in each step.
func (s *sheet) add(h *Heat, e *catalog.Entry, there counts, now time.Time) {
	if e.Interval <= 0 {
		return
	}
	from, to := lifetime(e, h.From, h.To, there.first(e, now), now)
	p := newPace(e.Interval)
	for i := max(0, int(from.Sub(h.From)/h.Step)); i < len(s.expected); i++ {
		begin := h.From.Add(time.Duration(i) * h.Step)
		if !begin.Before(to) {
			return
		}
		end := earlier(begin.Add(h.Step), to)
		begin = later(begin, from)
		n := due(e, begin, end)
		s.expected[i] += n
		s.present[i] += counted(n, there.between(&p, begin, end))
	}
}

// fill completes the rows; their points are grouped in the order of the rows.
func (h *Heat) fill(chosen []member) {
	for i := range h.Rows {
		row, sheet := &h.Rows[i], chosen[0].sheet
		chosen = chosen[row.Points:]
		row.Cells = make([]float64, len(sheet.expected))
		for j, n := range sheet.expected {
			row.Expected += n
			row.Present += sheet.present[j]
			row.Cells[j] = math.NaN()
			if n > 0 {
				row.Cells[j] = float64(sheet.present[j]) / float64(n)
			}
		}
	}
}
