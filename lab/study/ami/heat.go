package ami

import (
	"fmt"
	"slices"
	"strconv"

	"voltbus/lab/experiment"
)

// heat is a heat map of stabilities. The columns are the rates that were tried.
type heat struct {
	title string
	names []string
	rows  []map[int]float64
	rates []int
}

func newHeat(title string) *heat { return &heat{title: title} }

// add adds what was found; of a row that is there the worst counts.
func (h *heat) add(name string, by map[int]float64) {
	i := slices.Index(h.names, name)
	if i < 0 {
		i = len(h.names)
		h.names, h.rows = append(h.names, name), append(h.rows, map[int]float64{})
	}
	for rate, stability := range by {
		h.rows[i][rate] = max(h.rows[i][rate], stability)
		if !slices.Contains(h.rates, rate) {
			h.rates = append(h.rates, rate)
		}
	}
}

// table returns the map: the darker, the less stable, from 1 to 2.
func (h *heat) table() experiment.Table {
	slices.Sort(h.rates)
	t := experiment.Table{Title: h.title, Head: []string{"readings/s"}}
	for _, rate := range h.rates {
		t.Head = append(t.Head, strconv.Itoa(rate))
	}
	for i, name := range h.names {
		row, shades := []string{name}, []float64{}
		for _, rate := range h.rates {
			text, shade := "–", 0.0
			if v, there := h.rows[i][rate]; there {
				text, shade = fmt.Sprintf("%.2f", v), v-1
			}
			row, shades = append(row, text), append(shades, min(max(shade, 0), 1))
		}
		t.Rows, t.Shades = append(t.Rows, row), append(t.Shades, shades)
	}
	return t
}
