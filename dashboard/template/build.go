package template

import (
	"cmp"
	"slices"
	"strings"

	"voltbus/dashboard"
	"voltbus/point"
)

// builder puts tiles side by side, in rows from the left to the right.
type builder struct {
	points []facts
	used   map[point.Path]bool
	list   []dashboard.Tile
}

// add adds the tile of a slot if points fit it, and reports that. Values and gauges are shown once.
func (b *builder) add(s *slot) bool {
	list := b.points
	if s.kind == "value" || s.kind == "gauge" {
		list = slices.DeleteFunc(slices.Clone(list), func(f facts) bool { return b.used[f.Path] })
	}
	found := s.found(list)
	if len(found) == 0 {
		return false
	}
	for _, p := range found {
		if s.kind == "value" || s.kind == "gauge" {
			b.used[point.Path(p)] = true
		}
	}
	t := dashboard.Tile{Kind: s.kind, Title: s.title, Points: found, W: s.w, H: s.h, Range: s.trend}
	if s.high != 0 {
		if s.kind == "gauge" {
			t.Max = &s.high
		} else {
			t.High = &s.high
		}
	}
	b.list = append(b.list, t)
	return true
}

// place adds to the titles of single points where these are.
func (b *builder) place() {
	for i := range b.list {
		t := &b.list[i]
		if t.Kind != "value" || len(t.Points) != 1 {
			continue
		}
		k := slices.IndexFunc(b.points, func(f facts) bool { return string(f.Path) == t.Points[0] })
		title := cmp.Or(b.points[k].Description, b.points[k].Path.Name()) + ", " + b.points[k].Path.Parent().Name()
		t.Title = strings.ToValidUTF8(title[:min(len(title), 120)], "")
	}
}

const mostRows = 100

// rest adds the alarms of a device, and a table of its points.
func (b *builder) rest(device string) {
	b.list = append(b.list, dashboard.Tile{Kind: "alarms", Title: "Alarms", Branch: device, W: 4, H: 5})
	if len(b.points) == 0 {
		return
	}
	table := dashboard.Tile{Kind: "table", Title: "All points", W: 8, H: 5}
	for _, f := range b.points[:min(len(b.points), mostRows)] {
		table.Points = append(table.Points, string(f.Path))
	}
	b.list = append(b.list, table)
}

// tiles places the tiles in rows, which they fill to the right edge.
func (b *builder) tiles() []dashboard.Tile {
	y := 0
	for begin := 0; begin < len(b.list); {
		end, width, high := begin, 0, 0
		for end < len(b.list) && width+b.list[end].W <= dashboard.Columns {
			width += b.list[end].W
			high = max(high, b.list[end].H)
			end++
		}
		spread(b.list[begin:end], width, y, high)
		begin, y = end, y+high
	}
	return b.list
}

// spread places tiles of a row, all equally high, and gives the columns that are left to them in turn.
func spread(row []dashboard.Tile, width, y, high int) {
	for i := 0; width < dashboard.Columns; i, width = i+1, width+1 {
		row[i%len(row)].W++
	}
	x := 0
	for i := range row {
		row[i].X, row[i].Y, row[i].H = x, y, high
		x += row[i].W
	}
}
