// Package points declares and carries out the operations on points.
package points

import (
	"context"
	"errors"

	"voltbus/api/answer"
	"voltbus/api/shape"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/point"
)

// Points lists points, as package catalog does.
type Points interface {
	Search(ctx context.Context, f catalog.Filter) (catalog.Page, error)
}

// Filter selects points; all its conditions must hold.
type Filter struct {
	Pattern string            `json:"pattern" api:"max=1024"`
	Search  string            `json:"search" api:"max=1024" doc:"Words, each of which the path, description or unit contains, whatever its case"`
	Tags    map[string]string `json:"tags" api:"as=tag,max=16" doc:"name=value, repeated for several; an empty value stands for any"`
	Unit    string            `json:"unit"`
	Limit   int               `json:"limit" api:"min=1,max=10000,default=1000"`
	After   string            `json:"after" doc:"The next of the page before"`
}

// List returns a page of points.
var List = operation.Declare[Filter, answer.Points](operation.Spec{
	Name: "points.list", ID: "listPoints", Method: "points", HTTP: "GET /points", Role: identity.Viewer, Remote: true, Granted: true,
	Summary: "List points in path order, in pages", Result: "A page",
})

// Part carries out the operations on points.
type Part struct {
	Points Points // nil if points are unknown
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{operation.Bind(List, nil, p.list)}
}

var errAbsent = errors.New("this node does not have it")

func (p *Part) list(ctx context.Context, c *operation.Call, in *Filter) (answer.Points, error) {
	if p.Points == nil {
		return answer.Points{}, fault.E("points.list", fault.Unavailable, "points", errAbsent)
	}
	pattern, keep, err := c.Reads(point.Pattern(in.Pattern))
	if err != nil {
		return answer.Points{}, err
	}
	page, err := p.Points.Search(ctx, catalog.Filter{
		Pattern: pattern, Text: in.Search, Unit: in.Unit, Tags: in.Tags, After: point.Path(in.After), Limit: in.Limit, Keep: keep,
	})
	if err != nil {
		return answer.Points{}, err
	}
	out := answer.Points{Points: make([]answer.Point, len(page.Entries)), Next: string(page.Next)}
	for i := range page.Entries {
		out.Points[i] = shape.Point(&page.Entries[i].Info)
	}
	return out, nil
}
