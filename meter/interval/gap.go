package interval

// Gap is consecutive intervals without a reading.
type Gap struct {
	First, Last int // counted from 0, both inside
}

// Count returns how many intervals are missing.
func (g Gap) Count() int { return g.Last - g.First + 1 }

// Gaps appends the gaps of a column to dst and returns it. There are n intervals; present says which have a
// reading.
func Gaps(dst []Gap, n int, present func(i int) bool) []Gap {
	first := -1
	for i := range n {
		switch missing := !present(i); {
		case missing && first < 0:
			first = i
		case !missing && first >= 0:
			dst = append(dst, Gap{first, i - 1})
			first = -1
		}
	}
	if first >= 0 {
		dst = append(dst, Gap{first, n - 1})
	}
	return dst
}

// Completeness is how much of a day has readings.
type Completeness struct {
	Have, Want int
	Gaps       []Gap
}

// Complete reports whether nothing is missing.
func (c Completeness) Complete() bool { return c.Have == c.Want }

// Completeness returns which intervals of the day lack a reading.
func (d Day) Completeness(present func(i int) bool) Completeness {
	c := Completeness{Want: d.Count()}
	c.Have = c.Want
	c.Gaps = Gaps(nil, c.Want, present)
	for _, g := range c.Gaps {
		c.Have -= g.Count()
	}
	return c
}
