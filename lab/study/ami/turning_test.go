package ami

import "testing"

func TestTheTurningPointIsBracketedAndHalved(t *testing.T) {
	for _, tt := range []struct {
		name        string
		limit       int
		halvings    int
		least, most int
		found       bool
		triesAtMost int
	}{
		{"far inside", 1000, 4, 700, 1000, true, 10},
		{"without halving", 1000, 0, 400, 400, true, 5},
		{"at the first size", 50, 3, 0, 50, true, 5},
		{"none up to the largest", 1 << 30, 3, 6400, 6400, false, 5},
	} {
		tries := 0
		good, found, err := turning(100, 6400, tt.halvings, kept, func(size int) (float64, error) {
			tries++
			return min(1, float64(tt.limit)/float64(size)), nil
		})
		if err != nil || found != tt.found || good < tt.least || good > int(float64(tt.most)/kept) || tries > tt.triesAtMost {
			t.Errorf("%s: %d, %v after %d tries, %v", tt.name, good, found, tries, err)
		}
	}
}

func TestAHeatMapHasAColumnForEachRateAndKeepsTheWorst(t *testing.T) {
	h := newHeat("x")
	h.add("b = 1", map[int]float64{200: 1.5, 100: 1})
	h.add("b = 1", map[int]float64{200: 1.2})
	h.add("b = 2", map[int]float64{100: 3})
	got := h.table()
	if len(got.Head) != 3 || got.Head[1] != "100" || got.Rows[0][2] != "1.50" || got.Rows[1][2] != "–" || got.Shades[0][1] != 0.5 || got.Shades[1][0] != 1 {
		t.Errorf("%+v", got)
	}
}
