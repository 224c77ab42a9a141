// Package dashboards declares and carries out the operations on dashboards and on the drawings that they show.
package dashboards

import (
	"context"
	"strings"

	"voltbus/catalog"
	"voltbus/dashboard"
	"voltbus/document"
	"voltbus/identity"
	"voltbus/operation"
)

// Where the documents are.
const (
	Folder   = "dashboards/"
	Drawings = "drawings/" // among the shared documents
)

// Documents keep dashboards and drawings with their history. See document.Store.
type Documents interface {
	List(ctx context.Context, owner string) ([]document.Document, error)
	Get(ctx context.Context, k document.Key, version int) (document.Document, error)
	Set(ctx context.Context, d document.Document, expect int) (document.Document, error)
	Delete(ctx context.Context, k document.Key, by, note string, expect int) error
	History(ctx context.Context, k document.Key) ([]document.Document, error)
	Rollback(ctx context.Context, k document.Key, version int, by string, expect int) (document.Document, error)
}

// Points lists points, as package catalog does.
type Points interface {
	Search(ctx context.Context, f catalog.Filter) (catalog.Page, error)
}

// The arguments.
type (
	// Key names a dashboard.
	Key struct {
		Name    string `json:"name" api:"required,query,max=64"`
		Sharing string `json:"sharing" api:"query,one-of=all|owner" doc:"owner for one of the caller's own; all if left out"`
	}
	// Version names a version of a dashboard.
	Version struct {
		Key

		Version int `json:"version" api:"query,min=1" doc:"The newest if left out"`
	}
	// New is a dashboard to write.
	New struct {
		dashboard.Dashboard

		Note   string `json:"note" api:"max=1024" doc:"Why, for the history of the document"`
		Expect *int   `json:"expect" api:"min=-1" doc:"The version that it was made from, 0 for a dashboard that is not there, -1 for whatever"`
	}
	// Return names the version to restore.
	Return struct {
		Key

		Version int  `json:"version" api:"required,min=1"`
		Expect  *int `json:"expect" api:"min=-1" doc:"The version that is meant to be replaced; whatever is there if left out"`
	}
	// Subject is what a template is for.
	Subject struct {
		Device string `json:"device" api:"query,max=512" doc:"The path of a device; the home page if left out"`
	}
	// DrawingName names a drawing.
	DrawingName struct {
		Drawing string `json:"drawing" api:"required,max=64"`
		Note    string `json:"note" api:"query,max=1024" doc:"Why, for the history of the document"`
	}
	// NewDrawing is a drawing to write.
	NewDrawing struct {
		Name string `json:"name" api:"required,max=64" doc:"Small letters, digits, dots, hyphens and underscores"`
		SVG  string `json:"svg" api:"required,max=1048576" doc:"A picture in SVG"`
		Note string `json:"note" api:"max=1024" doc:"Why, for the history of the document"`
	}
)

const (
	smallBody = 4 << 10
	largeBody = 2 << 20
	svgBody   = 6*document.MaxText + 64<<10 // room for JSON escapes
)

// The operations.
var (
	List = operation.Declare[struct{}, Dashboards](operation.Spec{
		Name: "dashboard.list", ID: "listDashboards", HTTP: "GET /dashboards", Role: identity.Viewer,
		Summary: "List the dashboards, without their tiles", Result: "Those that are shared, and the caller's own, by name",
	})
	Get = operation.Declare[Version, Kept](operation.Spec{
		Name: "dashboard.get", ID: "getDashboard", HTTP: "GET /dashboards/one", Role: identity.Viewer,
		Summary: "Read a dashboard", Result: "The dashboard",
	})
	Put = operation.Declare[New, Kept](operation.Spec{
		Name: "dashboard.put", ID: "putDashboard", HTTP: "PUT /dashboards", Role: identity.Viewer, Audited: true, Body: largeBody,
		Summary: "Write a dashboard", Result: "The dashboard",
		Doc: "It is kept as the document dashboards/<name>, shared or of the caller, with its history. One that is shared needs the role operator. " +
			"400 with all problems, such as tiles that overlap; points need not be there. 409 if expect is another version.",
	})
	Delete = operation.Declare[Key, operation.None](operation.Spec{
		Name: "dashboard.delete", ID: "deleteDashboard", HTTP: "DELETE /dashboards", Role: identity.Viewer, Audited: true,
		Summary: "Delete a dashboard, whose history stays", Doc: "One that is shared needs the role operator.",
	})
	History = operation.Declare[Key, Versions](operation.Spec{
		Name: "dashboard.history", ID: "getDashboardHistory", HTTP: "GET /dashboards/history", Role: identity.Viewer,
		Summary: "List the versions of a dashboard", Result: "The newest first",
	})
	Restore = operation.Declare[Return, Kept](operation.Spec{
		Name: "dashboard.restore", ID: "restoreDashboard", HTTP: "POST /dashboards/restore", Role: identity.Viewer, Audited: true, Body: smallBody,
		Summary: "Write an older version of a dashboard as a new one", Result: "The dashboard", Doc: "One that is shared needs the role operator.",
	})
	Template = operation.Declare[Subject, Made](operation.Spec{
		Name: "dashboard.template", ID: "getDashboardTemplate", HTTP: "GET /dashboards/template", Role: identity.Viewer,
		Summary: "Make a dashboard for a device by its points, or for the home page", Result: "A dashboard without a name; nothing is written",
	})
	ListDrawings = operation.Declare[struct{}, DrawingList](operation.Spec{
		Name: "drawing.list", ID: "listDrawings", HTTP: "GET /drawings", Role: identity.Viewer,
		Summary: "List the drawings that dashboards can show", Result: "By name",
	})
	GetDrawing = operation.Declare[DrawingName, Drawing](operation.Spec{
		Name: "drawing.get", ID: "getDrawing", HTTP: "GET /drawings/{drawing}", Role: identity.Viewer,
		Summary: "Read a drawing", Result: "The picture, of which only what is safe to show is left, and its elements with identifiers",
	})
	PutDrawing = operation.Declare[NewDrawing, Drawing](operation.Spec{
		Name: "drawing.put", ID: "putDrawing", HTTP: "PUT /drawings", Role: identity.Operator, Audited: true, Body: svgBody,
		Summary: "Write a drawing in SVG", Result: "The drawing as it is kept",
		Doc: "It is kept as the shared document drawings/<name>, with its history. 400 with the name and the line of an element that is not safe: scripts, event handlers, " +
			"references to elsewhere, HTML, animations, style sheets, entities, and pictures that are too large.",
	})
	DeleteDrawing = operation.Declare[DrawingName, operation.None](operation.Spec{
		Name: "drawing.delete", ID: "deleteDrawing", HTTP: "DELETE /drawings/{drawing}", Role: identity.Operator, Audited: true,
		Summary: "Delete a drawing, whose history stays", Doc: "Dashboards that show it say that it is missing.",
	})
)

// Part carries out the operations on dashboards.
type Part struct {
	Documents Documents
	Points    Points
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Get, nil, p.get), operation.Bind(Put, mayPut, p.put),
		operation.Bind(Delete, mayChange(func(in *Key) *Key { return in }), p.delete), operation.Bind(History, nil, p.history),
		operation.Bind(Restore, mayChange(func(in *Return) *Key { return &in.Key }), p.restore), operation.Bind(Template, nil, p.template),
		operation.Bind(ListDrawings, nil, p.drawings), operation.Bind(GetDrawing, nil, p.drawing), operation.Bind(PutDrawing, nil, p.putDrawing),
		operation.Bind(DeleteDrawing, nil, p.deleteDrawing),
	}
	if p.Documents == nil || p.Points == nil {
		return operation.Absent(list)
	}
	return list
}

// owner returns who owns the documents of dashboards of a sharing.
func owner(c *operation.Call, sharing string) string {
	if sharing == dashboard.SharedOwner {
		return document.OwnerOf(c.Name)
	}
	return document.Shared
}

func (k *Key) document(c *operation.Call) document.Key {
	return document.Key{Owner: owner(c, k.Sharing), Name: Folder + k.Name}
}

// sharing returns the sharing of a document.
func sharing(k document.Key) string {
	if k.Owner == document.Shared {
		return dashboard.SharedAll
	}
	return dashboard.SharedOwner
}

// named returns the name of a document's dashboard or drawing.
func named(k document.Key, folder string) (string, bool) {
	return strings.CutPrefix(strings.ToLower(k.Name), folder)
}
