package destination

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"voltbus/point"
	"voltbus/sink/setting"
)

// shaper chooses points, and says what their rows look like. It is used by one goroutine.
type shaper struct {
	setting.Sink

	node  string
	unit  func(point.Path) string
	known map[point.Path]*Shape // nil for a point that is not sent
	made  time.Time             // not before
}

// maxShapes bounds the memory for shapes of points that are no more.
const maxShapes = 1_000_000

func newShaper(s setting.Sink, node string, unit func(point.Path) string) *shaper {
	return &shaper{Sink: s, node: node, unit: unit, known: map[point.Path]*Shape{}}
}

// shape returns the shape of a point, nil if it is not sent.
func (s *shaper) shape(path point.Path) *Shape {
	if shape, ok := s.known[path]; ok {
		return shape
	}
	if len(s.known) >= maxShapes {
		clear(s.known)
	}
	path = point.Path(strings.Clone(string(path)))
	shape := s.make(path)
	s.known[path] = shape
	return shape
}

// refreshEvery is how long a shape is used: the unit of a point may become known later than its first reading, or change.
const refreshEvery = time.Minute

// refresh has the shapes made anew when it is time.
func (s *shaper) refresh(now time.Time) {
	if now.Sub(s.made) < refreshEvery && !now.Before(s.made) {
		return
	}
	s.made = now
	clear(s.known)
}

func (s *shaper) make(path point.Path) *Shape {
	if !s.wants(path) {
		return nil
	}
	fill := s.filler(path)
	shape := &Shape{Point: path, Name: fill.Replace(s.Names), Unit: s.unit(path)}
	for _, name := range slices.Sorted(maps.Keys(s.Tags)) {
		if text := fill.Replace(s.Tags[name]); text != "" {
			shape.Tags = append(shape.Tags, Tag{name, text})
		}
	}
	if to, convert := s.Units[shape.Unit]; convert {
		shape.factor, shape.offset, _ = setting.Conversion(shape.Unit, to)
		shape.Unit = to
	}
	return shape
}

func (s *shaper) wants(path point.Path) bool {
	match := func(pattern string) bool { return point.Pattern(pattern).Match(path) }
	return slices.ContainsFunc(s.Points, match) && !slices.ContainsFunc(s.Except, match)
}

const maxSegments = 9 // placeholders for segments

func (s *shaper) filler(path point.Path) *strings.Replacer {
	segments := strings.Split(string(path), "/")
	pairs := []string{"{path}", string(path), "{node}", s.node, "{last}", segments[len(segments)-1]}
	for i := range maxSegments {
		text := ""
		if i < len(segments) {
			text = segments[i]
		}
		pairs = append(pairs, fmt.Sprintf("{%d}", i+1), text)
	}
	return strings.NewReplacer(pairs...)
}

// convert returns a value in the unit of the destination. A converted value is a Float; texts and truth values have no unit.
func (s *Shape) convert(v point.Value) point.Value {
	if s.factor == 0 || (v.Kind() != point.Float && v.Kind() != point.Int) {
		return v
	}
	n, _ := v.Number()
	return point.FloatOf(n*s.factor + s.offset)
}
