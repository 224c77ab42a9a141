package history

import (
	"cmp"
	"context"
	"errors"
	"time"

	"voltbus/api/answer"
	"voltbus/api/shape"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/query"
)

const op = "history.read"

var (
	errAbsent    = errors.New("this node does not have it")
	errNoPoints  = errors.New("name points with point=<path>, which may be repeated, or pattern=<pattern>")
	errBothWays  = errors.New("give either points or a pattern, not both")
	errPage      = errors.New("pages are of the points of a pattern; named points come all at once")
	errNoPattern = errors.New("a pattern needs at least one character here; ** selects everything")
)

// has checks that the node has a history.
func has[In any](p *Part) operation.Judge[In] {
	return func(context.Context, *operation.Call, *In) error {
		if p.Engine == nil {
			return fault.E(op, fault.Unavailable, "history", errAbsent)
		}
		return nil
	}
}

// wrong returns an error about an argument.
func wrong(name string, err error) error { return fault.E(op, fault.Invalid, name, err) }

// selection returns the points that the caller may read: named points must all be readable; of a pattern's points the others are omitted.
func (in *Selection) selection(c *operation.Call, everything bool) (sel query.Selection, err error) {
	if len(in.Points) > 0 {
		sel.Points = make([]point.Path, len(in.Points))
	}
	for i, name := range in.Points {
		p := point.Path(name)
		if err := p.Validate(); err != nil {
			return sel, wrong("points", err)
		}
		if err := c.MayRead(p); err != nil {
			return sel, err
		}
		sel.Points[i] = p
	}
	switch {
	case len(sel.Points) > 0 && in.Pattern != nil:
		return sel, wrong("points", errBothWays)
	case len(sel.Points) > 0:
		return sel, nil
	case everything:
	case in.Pattern == nil:
		return sel, wrong("points", errNoPoints)
	case *in.Pattern == "":
		return sel, wrong("pattern", errNoPattern)
	}
	if in.Pattern != nil {
		sel.Pattern = point.Pattern(*in.Pattern)
	}
	sel.Pattern, sel.Keep, err = c.Reads(sel.Pattern)
	return sel, err
}

// request returns the query; by default it covers the last hour.
func (p *Part) request(c *operation.Call, in *Span) (req query.Request, err error) {
	if req.Selection, err = in.selection(c, false); err != nil {
		return req, err
	}
	req.From, req.To, err = p.times(in.From, "-1h", in.To)
	return req, err
}

// paged is request for pages of a pattern's points.
func (p *Part) paged(c *operation.Call, in *Span, pages *Pages) (query.Request, error) {
	req, err := p.request(c, in)
	req.Page, req.After = pages.Page, point.Path(pages.After)
	if err == nil && len(req.Points) > 0 && (req.Page > 0 || req.After != "") {
		err = wrong("page", errPage)
	}
	return req, err
}

// times parses the ends of a period.
func (p *Part) times(from, otherwise, to operation.Time) (begin, end time.Time, err error) {
	now := p.Now()
	if begin, err = query.ParseTime(string(cmp.Or(from, otherwise)), now); err != nil {
		return begin, end, wrong("from", err)
	}
	if end, err = query.ParseTime(string(cmp.Or(to, "now")), now); err != nil {
		return begin, end, wrong("to", err)
	}
	return begin, end, nil
}

func (p *Part) latest(ctx context.Context, c *operation.Call, in *Now) (operation.Written, error) {
	sel, err := in.selection(c, true)
	if err != nil {
		return nil, err
	}
	var n query.Newest
	if p.Wide != nil && !in.Local {
		n, err = p.Wide.Latest(ctx, sel)
	} else {
		n.Samples, err = p.Engine.Latest(ctx, sel)
	}
	if err != nil {
		return nil, err
	}
	return func(out *operation.Output) error { return writeLatest(out, &n) }, nil
}

func (p *Part) ranged(ctx context.Context, c *operation.Call, in *Stretch) (operation.Written, error) {
	req, err := p.paged(c, &in.Span, &in.Pages)
	if err != nil {
		return nil, err
	}
	req.Limit, req.Newest = in.Limit, in.Newest
	look := p.Engine.Range
	if p.Wide != nil && !in.Local {
		look = p.Wide.Range
	}
	a, err := look(ctx, req)
	if err != nil {
		return nil, err
	}
	return func(out *operation.Output) error { return writeSeries(out, &a, seriesForm{}) }, nil
}

func (p *Part) plot(ctx context.Context, c *operation.Call, in *Drawing) (operation.Written, error) {
	req, err := p.request(c, &in.Span)
	if err != nil {
		return nil, err
	}
	draw := p.Engine.Plot
	if p.Wide != nil && !in.Local {
		draw = p.Wide.Plot
	}
	a, err := draw(ctx, req, in.Pixels)
	if err != nil {
		return nil, err
	}
	form := seriesForm{plot: true, columns: in.Format == "columns"}
	return func(out *operation.Output) error { return writeSeries(out, &a, form) }, nil
}

func (p *Part) aggregate(ctx context.Context, c *operation.Call, in *Steps) (answer.Aggregate, error) {
	req, err := p.paged(c, &in.Span, &in.Pages)
	if err != nil {
		return answer.Aggregate{}, err
	}
	how, err := in.aggregation()
	if err != nil {
		return answer.Aggregate{}, err
	}
	summarise := p.Engine.Aggregate
	if p.Wide != nil && !in.Local {
		summarise = p.Wide.Aggregate
	}
	a, err := summarise(ctx, req, how)
	if err != nil {
		return answer.Aggregate{}, err
	}
	return shape.Aggregate(&a), nil
}

func (in *Steps) aggregation() (how query.Aggregation, err error) {
	if how.Step, err = query.ParseStep(in.Step); err != nil {
		return how, err
	}
	if in.Zone != "" {
		if how.Zone, err = query.ParseZone(in.Zone); err != nil {
			return how, err
		}
	}
	how.Functions, err = query.ParseFunctions(in.Functions)
	return how, err
}

func (p *Part) completeness(ctx context.Context, _ *operation.Call, in *Heat) (answer.Completeness, error) {
	from, to, err := p.times(in.From, "-1d", in.To)
	if err != nil {
		return answer.Completeness{}, err
	}
	h, err := p.Engine.Completeness(ctx, query.HeatMap{
		Pattern: point.Pattern(in.Pattern), From: from, To: to, Steps: in.Steps, Depth: in.Depth, After: point.Path(in.After), Rows: in.Limit,
	})
	if err != nil {
		return answer.Completeness{}, err
	}
	out := answer.Completeness{From: h.From, To: h.To, Step: h.Step.Seconds(), Next: string(h.Next), Rows: make([]answer.CompletenessRow, len(h.Rows))}
	for i := range h.Rows {
		out.Rows[i] = heatRow(&h.Rows[i])
	}
	return out, nil
}

func heatRow(b *query.Branch) answer.CompletenessRow {
	row := answer.CompletenessRow{
		Path: string(b.Path), Points: b.Points, Present: b.Present, Expected: b.Expected, Coverage: make([]*float64, len(b.Cells)),
	}
	for i, f := range b.Cells {
		row.Coverage[i] = shape.Figure(f)
	}
	return row
}
