package node_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"voltbus/api/answer"
	api "voltbus/api/client"
	"voltbus/dashboard"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/dashboards"
	"voltbus/operation/documents"
)

func TestDashboardsAreKeptWithTheirHistoryAndCheckedWhenTheyAreWritten(t *testing.T) {
	r := run(t, load(t, t.TempDir(), rooms))
	put := func(title string, tiles ...dashboard.Tile) (dashboards.Kept, error) {
		return api.Do(wait(t), r.Client, dashboards.Put, dashboards.New{Dashboard: dashboard.Dashboard{Name: "plant", Title: title, Tiles: tiles}})
	}
	value := dashboard.Tile{Kind: "value", W: 3, H: 2, Points: []string{"b/none/temp"}} // a point that is not there is allowed
	if d, err := put("One", value); err != nil || d.Version != 1 || d.Dashboard.Sharing != "all" || d.By != "person:admin" {
		t.Fatalf("it is %+v, %v", d, err)
	}
	_, err := put("Wrong", value, value)
	if list, is := errors.AsType[answer.Problems](err); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "covers tiles.0") || (is && list[0].Path != "tiles.1") {
		t.Errorf("tiles that overlap give %v", err)
	}
	if d, err := put("Two", value, dashboard.Tile{Kind: "alarms", Y: 2, W: 12, H: 4}); err != nil || d.Version != 2 {
		t.Fatalf("then it is %+v, %v", d, err)
	}
	key := dashboards.Key{Name: "plant"}
	if h, err := api.Do(wait(t), r.Client, dashboards.History, key); err != nil || len(h.Versions) != 2 {
		t.Errorf("its history is %+v, %v", h, err)
	}
	if d, err := api.Do(wait(t), r.Client, dashboards.Restore, dashboards.Return{Key: key, Version: 1}); err != nil || d.Version != 3 || d.Dashboard.Title != "One" {
		t.Errorf("restored it is %+v, %v", d, err)
	}
	// Who writes the document itself is not checked; the list says what is wrong
	text := `{"name": "plant", "tiles": [{"kind": "clock", "w": 1, "h": 1}]}`
	doc := documents.Text{Key: documents.Key{Owner: "shared", Name: "dashboards/plant"}, Text: &text, Type: "json"}
	if _, err := api.Do(wait(t), r.Client, documents.Set, doc); err != nil {
		t.Fatal(err)
	}
	if list, err := api.Do(wait(t), r.Client, dashboards.List, struct{}{}); err != nil || len(list.Dashboards) != 1 || !strings.Contains(list.Dashboards[0].Wrong, "no kind of tile") {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if _, err := api.Do(wait(t), r.Client, dashboards.Delete, key); err != nil {
		t.Error(err)
	}
}

func TestADashboardOfItsOwnerIsSeenByNobodyElse(t *testing.T) {
	r := run(t, load(t, t.TempDir(), rooms))
	ada, _ := r.person("ada", identity.Viewer)
	bob, _ := r.person("bob", identity.Engineer)
	mine := dashboard.Dashboard{Name: "home", Sharing: "owner", Tiles: []dashboard.Tile{{Kind: "text", W: 12, H: 1, Text: "secret"}}}
	if d, err := api.Do(wait(t), ada, dashboards.Put, dashboards.New{Dashboard: mine}); err != nil || d.Dashboard.Sharing != "owner" {
		t.Fatalf("a viewer's own is %+v, %v", d, err)
	}
	all := mine
	all.Sharing = "all"
	if _, err := api.Do(wait(t), ada, dashboards.Put, dashboards.New{Dashboard: all}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "role operator") {
		t.Errorf("a viewer's for all gives %v", err)
	}
	if list, err := api.Do(wait(t), bob, dashboards.List, struct{}{}); err != nil || len(list.Dashboards) != 0 {
		t.Errorf("somebody else sees %+v, %v", list, err)
	}
	if _, err := api.Do(wait(t), bob, dashboards.Get, dashboards.Version{Key: dashboards.Key{Name: "home", Sharing: "owner"}}); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else reads it: %v", err)
	}
	key := documents.Key{Owner: "person/ada", Name: "dashboards/home"}
	if _, err := api.Do(wait(t), bob, documents.Get, documents.Version{Key: key}); !fault.Is(err, fault.Refused) {
		t.Errorf("somebody else reads its document: %v", err)
	}
	if list, err := api.Do(wait(t), bob, documents.List, documents.Owner{}); err != nil || len(list.Documents) != 0 {
		t.Errorf("somebody else lists its document: %+v, %v", list, err)
	}
	if list, err := api.Do(wait(t), ada, documents.List, documents.Owner{}); err != nil || len(list.Documents) != 1 {
		t.Errorf("the owner lists %+v, %v", list, err)
	}
	if _, err := api.Do(wait(t), bob, documents.Delete, documents.Deletion{Key: key}); !fault.Is(err, fault.Refused) {
		t.Errorf("somebody else deletes it: %v", err)
	}
}

func TestDrawingsAreMadeSafeWhenTheyAreWrittenAndWhenTheyAreRead(t *testing.T) {
	r := run(t, load(t, t.TempDir(), rooms))
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><!-- x --><text id="t1">21</text></svg>`
	d, err := api.Do(wait(t), r.Client, dashboards.PutDrawing, dashboards.NewDrawing{Name: "floor", SVG: svg})
	if err != nil || strings.Contains(d.SVG, "x --") || len(d.Elements) != 1 || d.Elements[0].Text != "21" {
		t.Fatalf("it is %+v, %v", d, err)
	}
	bad := strings.Replace(svg, "<text", "<script>alert(1)</script><text", 1)
	if _, err := api.Do(wait(t), r.Client, dashboards.PutDrawing, dashboards.NewDrawing{Name: "floor", SVG: bad}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "line 1, <script>: scripts") {
		t.Errorf("a script gives %v", err)
	}
	doc := documents.Text{Key: documents.Key{Owner: "shared", Name: "drawings/floor"}, Text: &bad, Type: "text"}
	if _, err := api.Do(wait(t), r.Client, documents.Set, doc); err != nil {
		t.Fatal(err)
	}
	if d, err := api.Do(wait(t), r.Client, dashboards.GetDrawing, dashboards.DrawingName{Drawing: "floor"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a script behind the check gives %+v, %v", d, err)
	}
}

func TestADeviceGetsADashboardByItself(t *testing.T) {
	r := run(t, load(t, t.TempDir(), rooms))
	eventually(t, "the room has a dashboard", func() bool {
		made, err := api.Do(wait(t), r.Client, dashboards.Template, dashboards.Subject{Device: "b/room1"})
		text, _ := json.Marshal(made)
		return err == nil && made.Equipment == "room" && strings.Contains(string(text), `"b/room1/setpoint"`)
	})
	if made, err := api.Do(wait(t), r.Client, dashboards.Template, dashboards.Subject{}); err != nil || len(made.Dashboard.Tiles) < 2 {
		t.Errorf("the home page is %+v, %v", made, err)
	}
	if _, err := api.Do(wait(t), r.Client, dashboards.Template, dashboards.Subject{Device: "b/none"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a device that is not there gives %v", err)
	}
}
