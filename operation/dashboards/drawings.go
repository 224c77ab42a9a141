package dashboards

import (
	"cmp"
	"context"
	"slices"

	"voltbus/dashboard"
	"voltbus/document"
	"voltbus/drawing"
	"voltbus/operation"
)

func drawingKey(name string) document.Key {
	return document.Key{Owner: document.Shared, Name: Drawings + name}
}

func (p *Part) drawings(ctx context.Context, _ *operation.Call, _ *struct{}) (DrawingList, error) {
	list, err := p.Documents.List(ctx, document.Shared)
	out := DrawingList{Drawings: []ListedDrawing{}}
	for i := range list {
		if name, is := named(list[i].Key, Drawings); is {
			out.Drawings = append(out.Drawings, ListedDrawing{Name: name, Version: list[i].Version, By: list[i].By, At: list[i].At.UTC()})
		}
	}
	slices.SortFunc(out.Drawings, func(a, b ListedDrawing) int { return cmp.Compare(a.Name, b.Name) })
	return out, err
}

func (p *Part) drawing(ctx context.Context, _ *operation.Call, in *DrawingName) (Drawing, error) {
	if err := dashboard.ValidName(in.Drawing); err != nil {
		return Drawing{}, err
	}
	d, err := p.Documents.Get(ctx, drawingKey(in.Drawing), 0)
	if err != nil {
		return Drawing{}, err
	}
	// Read again, since the document can be written without a check of what it draws
	picture, err := drawing.Read([]byte(d.Text))
	if err != nil {
		return Drawing{}, err
	}
	return drawn(in.Drawing, d.Version, picture), nil
}

func drawn(name string, version int, p *drawing.Picture) Drawing {
	out := Drawing{Name: name, Version: version, SVG: p.SVG, Elements: make([]DrawingElement, len(p.Elements))}
	for i, e := range p.Elements {
		out.Elements[i] = DrawingElement{ID: e.ID, Kind: e.Kind, Text: e.Text}
	}
	return out
}

func (p *Part) putDrawing(ctx context.Context, c *operation.Call, in *NewDrawing) (Drawing, error) {
	c.Did(in.Name, map[string]string{"note": in.Note})
	if err := dashboard.ValidName(in.Name); err != nil {
		return Drawing{}, err
	}
	picture, err := drawing.Read([]byte(in.SVG))
	if err != nil {
		return Drawing{}, err
	}
	d, err := p.Documents.Set(ctx, document.Document{
		Key: drawingKey(in.Name), Type: document.Text, Text: picture.SVG, By: c.Name, Note: in.Note,
	}, document.AnyVersion)
	if err != nil {
		return Drawing{}, err
	}
	return drawn(in.Name, d.Version, picture), nil
}

func (p *Part) deleteDrawing(ctx context.Context, c *operation.Call, in *DrawingName) (operation.None, error) {
	c.Did(in.Drawing, map[string]string{"note": in.Note})
	return operation.None{}, p.Documents.Delete(ctx, drawingKey(in.Drawing), c.Name, in.Note, document.AnyVersion)
}
