// Package dashboard says what dashboards are: tiles on a grid, and what may be wrong with them. It is pure: where dashboards are kept, and
// who looks at them, it does not know.
package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/internal/problem"
	"voltbus/point"
)

// The grid.
const (
	Columns   = 12
	MostRows  = 1000
	MostTiles = 200
	mostHigh  = 40 // rows of a tile
	mostWords = 10_000
)

// Sharing of a dashboard.
const (
	SharedAll   = "all"
	SharedOwner = "owner"
)

// Dashboard is tiles on a grid of 12 columns.
type Dashboard struct {
	_ struct{} `api:"schema=Dashboard" doc:"Tiles on a grid of 12 columns"`

	Name        string `json:"name" api:"required,max=64" doc:"Small letters, digits, dots, hyphens and underscores; home is shown on the home page"`
	Title       string `json:"title,omitempty" api:"max=128" doc:"The name if left out"`
	Description string `json:"description,omitempty" api:"max=1024"`
	Sharing     string `json:"sharing,omitempty" api:"one-of=all|owner" doc:"Who sees it: all who may read its points, or its owner only; all if left out"`
	Tiles       []Tile `json:"tiles" api:"required,max=200"`
}

// Tile is a rectangle of a dashboard with something to see.
type Tile struct {
	_ struct{} `api:"schema=DashboardTile"`

	Kind     string    `json:"kind" api:"required,one-of=value|trend|gauge|bar|state|table|alarms|text|picture|map"`
	Title    string    `json:"title,omitempty" api:"max=128" doc:"The description or name of its point if left out"`
	X        int       `json:"x" api:"min=0,max=11" doc:"The column at the left"`
	Y        int       `json:"y" api:"min=0,max=1000" doc:"The row at the top"`
	W        int       `json:"w" api:"required,min=1,max=12" doc:"Columns"`
	H        int       `json:"h" api:"required,min=1,max=40" doc:"Rows"`
	Points   []string  `json:"points,omitempty" api:"max=100" doc:"Paths; one that is not there is shown as missing"`
	Range    string    `json:"range,omitempty" api:"one-of=15m|1h|1d|7d|30d" doc:"Of a trend; 1d if left out"`
	Min      *float64  `json:"min,omitempty" doc:"Where the scale of a gauge or bar begins; 0 if left out"`
	Max      *float64  `json:"max,omitempty" doc:"Where the scale of a gauge or bar ends; 100 if left out"`
	Low      *float64  `json:"low,omitempty" doc:"Values below are marked"`
	High     *float64  `json:"high,omitempty" doc:"Values above are marked"`
	Text     string    `json:"text,omitempty" api:"max=10000" doc:"Of a text; an empty line begins a paragraph"`
	Branch   string    `json:"branch,omitempty" api:"max=512" doc:"Of alarms: only those of points below; all if left out"`
	Drawing  string    `json:"drawing,omitempty" api:"max=64" doc:"The name of the picture, or of the background of a map"`
	Bindings []Binding `json:"bindings,omitempty" api:"max=500" doc:"Of a picture: which element shows which point"`
	Sites    []Site    `json:"sites,omitempty" api:"max=500" doc:"Of a map"`
}

// Binding lets an element of a picture show a point.
type Binding struct {
	_ struct{} `api:"schema=DashboardBinding"`

	Element string `json:"element" api:"required,max=200" doc:"The id of the element"`
	Point   string `json:"point" api:"required,max=512"`
	Show    string `json:"show,omitempty" api:"one-of=text|fill" doc:"Its value as the text of the element, or its state as the colour; text if left out"`
}

// Site is a place on a map.
type Site struct {
	_ struct{} `api:"schema=DashboardSite"`

	Name      string  `json:"name" api:"required,max=128"`
	Latitude  float64 `json:"latitude" doc:"Degrees north, WGS 84"`
	Longitude float64 `json:"longitude" doc:"Degrees east, WGS 84"`
	Branch    string  `json:"branch,omitempty" api:"max=512" doc:"Its alarms colour the place, and a click leads there"`
}

// Problem is one thing that is wrong.
type Problem struct {
	Path string // such as tiles.2.points
	Text string
}

// Problems is everything that is wrong.
type Problems []Problem

// Error returns the first problem, and how many there are more.
func (p Problems) Error() string {
	if len(p) == 0 {
		return "the dashboard is wrong"
	}
	return problem.First(0, p[0].Path, p[0].Text, len(p))
}

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// ValidName returns what is wrong with the name of a dashboard or of a drawing.
func ValidName(s string) error {
	if !name.MatchString(s) {
		return fault.E("dashboard", fault.Invalid, "name", fmt.Errorf("%.80q is no such name; write 1 to 64 small letters, digits, dots, hyphens and underscores, such as first-floor", s))
	}
	return nil
}

// Parse reads and checks the text of a document.
func Parse(text []byte) (Dashboard, error) {
	var d Dashboard
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return Dashboard{}, fault.E("dashboard.Parse", fault.Invalid, "text", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Dashboard{}, fault.E("dashboard.Parse", fault.Invalid, "text", errors.New("there is more after the dashboard; a document holds one"))
	}
	return d, d.Validate()
}

// Validate returns what is wrong with a dashboard: fault.Invalid with Problems as the cause.
func (d *Dashboard) Validate() error {
	var c checker
	if err := ValidName(d.Name); err != nil {
		return err
	}
	c.words("title", d.Title, 128)
	c.words("description", d.Description, 1024)
	if d.Sharing != "" && d.Sharing != SharedAll && d.Sharing != SharedOwner {
		c.add("sharing", "%.80q is no sharing; write all or owner", d.Sharing)
	}
	if len(d.Tiles) > MostTiles {
		c.add("tiles", "are more than %d; make a second dashboard", MostTiles)
		return c.err(d.Name)
	}
	for i := range d.Tiles {
		c.tile(fmt.Sprintf("tiles.%d", i), &d.Tiles[i])
	}
	for i := range d.Tiles {
		for k := range d.Tiles[:i] {
			if d.Tiles[i].overlaps(&d.Tiles[k]) {
				c.add(fmt.Sprintf("tiles.%d", i), "covers tiles.%d at column %d, row %d; move one of them", k, max(d.Tiles[i].X, d.Tiles[k].X), max(d.Tiles[i].Y, d.Tiles[k].Y))
			}
		}
	}
	return c.err(d.Name)
}

func (t *Tile) overlaps(o *Tile) bool {
	return t.X < o.X+o.W && o.X < t.X+t.W && t.Y < o.Y+o.H && o.Y < t.Y+t.H
}

// checker gathers problems.
type checker struct{ list Problems }

const mostProblems = 50

func (c *checker) add(path, format string, args ...any) {
	if len(c.list) < mostProblems {
		c.list = append(c.list, Problem{path, fmt.Sprintf(format, args...)})
	}
}

func (c *checker) err(name string) error {
	if len(c.list) == 0 {
		return nil
	}
	return fault.E("dashboard.Validate", fault.Invalid, name, c.list)
}

func (c *checker) words(path, text string, most int) {
	if len(text) > most || !utf8.ValidString(text) {
		c.add(path, "must be UTF-8 of at most %d bytes", most)
	}
}

// need is what a kind of tile shows.
type need struct {
	least, most int // points
	words       string
}

var kinds = map[string]need{
	"value": {1, 1, "one point"}, "gauge": {1, 1, "one point"}, "trend": {1, 8, "1 to 8 points"}, "bar": {1, 20, "1 to 20 points"},
	"state": {1, 50, "1 to 50 points"}, "table": {1, 100, "1 to 100 points"}, "alarms": {0, 0, "no points, but a branch"},
	"text": {0, 0, "no points, but a text"}, "picture": {0, 0, "no points, but bindings of its elements"}, "map": {0, 0, "no points, but sites"},
}

func (c *checker) tile(path string, t *Tile) {
	kind, known := kinds[t.Kind]
	if !known {
		c.add(path+".kind", "%.80q is no kind of tile; write value, trend, gauge, bar, state, table, alarms, text, picture or map", t.Kind)
		return
	}
	if t.W < 1 || t.H < 1 || t.H > mostHigh || t.X < 0 || t.Y < 0 || t.Y > MostRows || t.X+t.W > Columns {
		c.add(path, "x %d, y %d, w %d, h %d does not fit the grid; it has %d columns, %d rows, and tiles of 1 to %d rows", t.X, t.Y, t.W, t.H, Columns, MostRows, mostHigh)
	}
	if len(t.Points) < kind.least || len(t.Points) > kind.most {
		c.add(path+".points", "are %d; a tile of the kind %s shows %s", len(t.Points), t.Kind, kind.words)
	}
	for i, p := range t.Points {
		if err := point.Path(p).Validate(); err != nil {
			c.add(fmt.Sprintf("%s.points.%d", path, i), "%v", err)
		}
	}
	c.words(path+".title", t.Title, 128)
	c.words(path+".text", t.Text, mostWords)
	switch t.Range {
	case "", "15m", "1h", "1d", "7d", "30d":
	default:
		c.add(path+".range", "%.80q is no range; write 15m, 1h, 1d, 7d or 30d", t.Range)
	}
	c.scale(path, t)
	c.picture(path, t)
}

func (c *checker) scale(path string, t *Tile) {
	for _, n := range []*float64{t.Min, t.Max, t.Low, t.High} {
		if n != nil && (math.IsNaN(*n) || math.IsInf(*n, 0)) {
			c.add(path, "min, max, low and high must be finite numbers")
			return
		}
	}
	if t.Min != nil && t.Max != nil && *t.Min >= *t.Max {
		c.add(path+".min", "%v is not below max, %v", *t.Min, *t.Max)
	}
	if t.Low != nil && t.High != nil && *t.Low > *t.High {
		c.add(path+".low", "%v is above high, %v", *t.Low, *t.High)
	}
}

func (c *checker) picture(path string, t *Tile) {
	if t.Branch != "" {
		c.path(path+".branch", t.Branch)
	}
	if t.Kind == "picture" || t.Drawing != "" {
		if err := ValidName(t.Drawing); err != nil {
			c.add(path+".drawing", "%.80q is not the name of a drawing; drawing.list lists them", t.Drawing)
		}
	}
	if len(t.Bindings) > 500 || len(t.Sites) > 500 {
		c.add(path, "has more than 500 bindings or sites; make a second tile")
		return
	}
	for i, b := range t.Bindings {
		at := fmt.Sprintf("%s.bindings.%d", path, i)
		if b.Element == "" || len(b.Element) > 200 {
			c.add(at+".element", "write the id of an element of the drawing")
		}
		c.path(at+".point", b.Point)
		if b.Show != "" && b.Show != "text" && b.Show != "fill" {
			c.add(at+".show", "%.80q is no way to show a value; write text or fill", b.Show)
		}
	}
	for i, s := range t.Sites {
		at := fmt.Sprintf("%s.sites.%d", path, i)
		c.words(at+".name", s.Name, 128)
		if !(math.Abs(s.Latitude) <= 90) || !(math.Abs(s.Longitude) <= 180) {
			c.add(at, "latitude %v, longitude %v is no place; write degrees from -90 to 90 and from -180 to 180", s.Latitude, s.Longitude)
		}
		if s.Branch != "" {
			c.path(at+".branch", s.Branch)
		}
	}
}

func (c *checker) path(at, p string) {
	if err := point.Path(p).Validate(); err != nil {
		c.add(at, "%v", err)
	}
}
