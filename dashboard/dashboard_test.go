package dashboard_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"voltbus/dashboard"
	"voltbus/fault"
)

const right = `{"name": "plant", "title": "Plant <b>", "tiles": [
	{"kind": "value", "x": 0, "y": 0, "w": 3, "h": 2, "points": ["b1/t"]},
	{"kind": "gauge", "x": 3, "y": 0, "w": 3, "h": 2, "points": ["b1/none"], "min": -10, "max": 40, "low": 0, "high": 30},
	{"kind": "picture", "x": 0, "y": 2, "w": 12, "h": 6, "drawing": "floor", "bindings": [{"element": "t1", "point": "b1/t"}]},
	{"kind": "map", "x": 6, "y": 0, "w": 6, "h": 2, "sites": [{"name": "North", "latitude": 52.5, "longitude": 13.4}]}
]}`

func TestADashboardThatIsRightIsRead(t *testing.T) {
	d, err := dashboard.Parse([]byte(right))
	if err != nil || len(d.Tiles) != 4 || *d.Tiles[1].Min != -10 {
		t.Fatalf("it is %+v, %v", d, err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := dashboard.Parse(text); err != nil || len(again.Tiles) != 4 {
		t.Errorf("written and read again it is %+v, %v", again, err)
	}
}

func TestWhatIsWrongIsSaidWithItsPlace(t *testing.T) {
	for _, c := range []struct{ was, is, path, want string }{
		{`"value"`, `"clock"`, "tiles.0.kind", "is no kind of tile; write value, trend"},
		{`"x": 3, "y": 0`, `"x": 2, "y": 0`, "tiles.1", "covers tiles.0 at column 2, row 0"},
		{`"x": 3, "y": 0, "w": 3`, `"x": 3, "y": 0, "w": 10`, "tiles.1", "does not fit the grid; it has 12 columns"},
		{`["b1/t"]`, `[]`, "tiles.0.points", "are 0; a tile of the kind value shows one point"},
		{`["b1/t"]`, `["b1/../t"]`, "tiles.0.points.0", "must not have the segment"},
		{`"min": -10`, `"min": 40`, "tiles.1.min", "40 is not below max, 40"},
		{`"low": 0`, `"low": 31`, "tiles.1.low", "31 is above high, 30"},
		{`"floor"`, `"../floor"`, "tiles.2.drawing", "drawing.list lists them"},
		{`"element": "t1"`, `"element": ""`, "tiles.2.bindings.0.element", "write the id"},
		{`52.5`, `252.5`, "tiles.3.sites.0", "is no place"},
		{`"title": "Plant <b>"`, `"sharing": "world"`, "sharing", "write all or owner"},
		{`"h": 2, "points"`, `"h": 2, "range": "2w", "points"`, "tiles.0.range", "write 15m, 1h"},
	} {
		_, err := dashboard.Parse([]byte(strings.Replace(right, c.was, c.is, 1)))
		list, is := errors.AsType[dashboard.Problems](err)
		if !fault.Is(err, fault.Invalid) || !is || list[0].Path != c.path || !strings.Contains(list[0].Text, c.want) {
			t.Errorf("%s gives %v, %v; want %s: %s", c.is, list, err, c.path, c.want)
		}
	}
	for text, want := range map[string]string{
		`{"name": "Plant 1", "tiles": []}`: "first-floor", `{"name": "a", "tiles": [], "colour": 1}`: "colour",
		`{"name": "a", "tiles": []} {}`: "there is more after", `nonsense`: "invalid character",
	} {
		if _, err := dashboard.Parse([]byte(text)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v", text, err)
		}
	}
}
