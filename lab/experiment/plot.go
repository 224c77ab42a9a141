package experiment

// Plot is a drawing of what follows from the cases, as the document has it.
type Plot struct {
	Title string `json:"title"`
	X     Axis   `json:"x"`
	Y     Axis   `json:"y"`
	Lines []Line `json:"lines"`
}

// Axis is what a plot counts in one direction.
type Axis struct {
	Name string  `json:"name"`           // in words, with the unit
	Even bool    `json:"even,omitempty"` // whether its steps are even; else it is logarithmic
	From float64 `json:"from,omitempty"` // where an even one begins
}

// Line is a curve of a plot. Those of one group have one colour; "" for a colour of its own.
type Line struct {
	Label     string `json:"label"`
	Group     string `json:"group,omitempty"`
	Published bool   `json:"published,omitempty"` // the document's, not from this run
	Dots      []Dot  `json:"dots"`
}

// Dot is a place on a line, with the spread of its repeats; Least and Most are 0 if there is none.
type Dot struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Least float64 `json:"least,omitempty"`
	Most  float64 `json:"most,omitempty"`
}
