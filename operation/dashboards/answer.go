package dashboards

import (
	"time"

	"voltbus/dashboard"
)

// Dashboards are those that a caller may see.
type Dashboards struct {
	_ struct{} `api:"schema=Dashboards"`

	Dashboards []Listed `json:"dashboards"`
}

// Listed is a dashboard without its tiles.
type Listed struct {
	_ struct{} `api:"schema=ListedDashboard"`

	Name    string    `json:"name"`
	Title   string    `json:"title" doc:"The name if it has none"`
	Sharing string    `json:"sharing" doc:"all or owner"`
	Tiles   int       `json:"tiles" api:"min=0" doc:"How many it has"`
	Version int       `json:"version" api:"min=1"`
	By      string    `json:"by" doc:"Who wrote it"`
	At      time.Time `json:"at"`
	Wrong   string    `json:"wrong" doc:"What is wrong with its document; empty if nothing is"`
}

// Kept is a dashboard with its document.
type Kept struct {
	_ struct{} `api:"schema=KeptDashboard"`

	Dashboard dashboard.Dashboard `json:"dashboard"`
	Version   int                 `json:"version" api:"min=1"`
	By        string              `json:"by" doc:"Who wrote it"`
	At        time.Time           `json:"at"`
}

// Versions are those of a dashboard.
type Versions struct {
	_ struct{} `api:"schema=DashboardVersions"`

	Versions []OneVersion `json:"versions"`
}

// OneVersion is a version of a dashboard without its tiles.
type OneVersion struct {
	_ struct{} `api:"schema=DashboardVersion"`

	Version int       `json:"version" api:"min=1"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Note    string    `json:"note"`
	Deleted bool      `json:"deleted"`
}

// Made is a dashboard made by a template.
type Made struct {
	_ struct{} `api:"schema=MadeDashboard"`

	Dashboard dashboard.Dashboard `json:"dashboard"`
	Equipment string              `json:"equipment" doc:"What the device was taken for: air handler, boiler, meter, feeder, room or equipment; building for the home page"`
}

// DrawingList is the drawings of a node.
type DrawingList struct {
	_ struct{} `api:"schema=Drawings"`

	Drawings []ListedDrawing `json:"drawings"`
}

// ListedDrawing is a drawing without its picture.
type ListedDrawing struct {
	_ struct{} `api:"schema=ListedDrawing"`

	Name    string    `json:"name"`
	Version int       `json:"version" api:"min=1"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// Drawing is a picture that is safe to show.
type Drawing struct {
	_ struct{} `api:"schema=Drawing"`

	Name     string           `json:"name"`
	Version  int              `json:"version" api:"min=1"`
	SVG      string           `json:"svg"`
	Elements []DrawingElement `json:"elements" doc:"Those with identifiers"`
}

// DrawingElement is an element to which a value can be bound.
type DrawingElement struct {
	_ struct{} `api:"schema=DrawingElement"`

	ID   string `json:"id"`
	Kind string `json:"kind" doc:"Such as text, rect or g"`
	Text string `json:"text" doc:"Of a text"`
}
