package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/api/shape"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
)

// points are the arguments of the method.
type points struct {
	Pattern string            `json:"pattern"`
	Search  string            `json:"search"`
	Unit    string            `json:"unit"`
	Tags    map[string]string `json:"tags"`
	Limit   int               `json:"limit"`
	After   string            `json:"after"`
}

// latest are the arguments of the method.
type latest struct {
	Points  []string `json:"points"`
	Pattern *string  `json:"pattern"`
	Local   bool     `json:"local"`
}

// span are the arguments of methods about a time.
type span struct {
	Points  []string `json:"points"`
	Pattern *string  `json:"pattern"`
	From    raw      `json:"from"`
	To      raw      `json:"to"`
	Page    int      `json:"page"`
	After   string   `json:"after"`
	Local   bool     `json:"local"` // of this node's store alone
}

// ranged are the arguments of the method range.
type ranged struct {
	span
	Limit  int  `json:"limit"`
	Newest bool `json:"newest"`
}

// aggregate are the arguments of the method.
type aggregate struct {
	span
	Step      string   `json:"step"`
	Zone      string   `json:"zone"`
	Functions []string `json:"functions"`
}

const (
	maxTags  = 16
	pageSize = 1000
	maxLimit = 10_000_000
)

var (
	errTags     = fmt.Errorf("may be %d at most", maxTags)
	errBothWays = errors.New("name points or a pattern, not both")
	errNeither  = errors.New("name points, or a pattern; ** selects everything that may be read")
	errPaging   = errors.New("pages are of the points of a pattern; named points come all at once")
)

// within bounds a number; 0 is otherwise.
func within(name string, n, otherwise, most int) (int, error) {
	if n == 0 {
		return otherwise, nil
	}
	if n < 0 || n > most {
		return 0, fault.E("service", fault.Invalid, name, fmt.Errorf("must be a whole number from 1 to %d", most))
	}
	return n, nil
}

func (s *Service) points(ctx context.Context, r *request) ([]byte, error) {
	if s.cfg.Points == nil {
		return nil, absent("points")
	}
	var in points
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	limit, err := within("limit", in.Limit, pageSize, maxPage)
	if err != nil {
		return nil, err
	}
	if len(in.Tags) > maxTags {
		return nil, fault.E("service.points", fault.Invalid, "tags", errTags)
	}
	if err := r.readsAny(in.Pattern); err != nil {
		return nil, err
	}
	page, err := s.cfg.Points.Search(ctx, catalog.Filter{
		Pattern: r.narrow(in.Pattern), Text: in.Search, Unit: in.Unit, Tags: in.Tags, After: point.Path(in.After), Limit: limit,
		Keep: r.reads,
	})
	if err != nil {
		return nil, err
	}
	out := answer.Points{Points: make([]answer.Point, len(page.Entries)), Next: string(page.Next)}
	for i := range page.Entries {
		out.Points[i] = shape.Point(&page.Entries[i].Info)
	}
	return encode(out)
}

// reads reports whether the agent may read the point.
func (r *request) reads(p point.Path) bool { return r.grants.MayRead(p) == nil }

// readsAny refuses an agent that may read nothing at all.
func (r *request) readsAny(pattern string) error {
	if r.grants.Administer || len(r.grants.Read) > 0 {
		return nil
	}
	if pattern == "" {
		pattern = "**"
	}
	return fault.E("service", fault.Refused, pattern, &identity.Missing{Capability: "read " + pattern})
}

// narrow returns the pattern, or the only one that may be read if everything was asked for, so
// that the rest need not be looked at.
func (r *request) narrow(pattern string) point.Pattern {
	if (pattern == "" || pattern == "**") && !r.grants.Administer && len(r.grants.Read) == 1 {
		return r.grants.Read[0]
	}
	return point.Pattern(pattern)
}

// selection returns what was asked for. Points that are named must be readable, of a pattern those
// are left out that are not.
func (r *request) selection(names []string, pattern *string, everything bool) (query.Selection, error) {
	const op = "service.selection"
	var sel query.Selection
	for _, name := range names {
		p := point.Path(name)
		if err := p.Validate(); err != nil {
			return sel, fault.E(op, fault.Invalid, clip(name), err)
		}
		if err := r.grants.MayRead(p); err != nil {
			return sel, err
		}
		sel.Points = append(sel.Points, p)
	}
	switch {
	case len(names) > 0 && pattern != nil:
		return sel, fault.E(op, fault.Invalid, "points", errBothWays)
	case len(names) > 0:
		return sel, nil
	case !everything && (pattern == nil || *pattern == ""):
		return sel, fault.E(op, fault.Invalid, "pattern", errNeither)
	}
	text := ""
	if pattern != nil {
		text = *pattern
	}
	sel.Pattern = r.narrow(text)
	if !r.grants.Administer {
		sel.Keep = r.reads
	}
	return sel, r.readsAny(text)
}

func (s *Service) latest(ctx context.Context, r *request) ([]byte, error) {
	if s.cfg.Engine == nil {
		return nil, absent("history")
	}
	var in latest
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	sel, err := r.selection(in.Points, in.Pattern, true)
	if err != nil {
		return nil, err
	}
	n, err := s.newest(ctx, sel, in.Local)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, 128*(len(n.Samples)+1)), `{"samples":[`...)
	for i := range n.Samples {
		if i > 0 {
			out = append(out, ',')
		}
		out = shape.AppendSample(out, &n.Samples[i])
		if len(out) > MaxBody {
			break // Answer refuses it
		}
	}
	return append(shape.AppendSources(append(out, ']'), n.Sources), '}'), nil
}

// newest looks at this node alone, or at those below, too.
func (s *Service) newest(ctx context.Context, sel query.Selection, local bool) (n query.Newest, err error) {
	if s.cfg.Wide != nil && !local {
		return s.cfg.Wide.Latest(ctx, sel)
	}
	n.Samples, err = s.cfg.Engine.Latest(ctx, sel)
	return n, err
}

// request returns what the arguments ask for: the last hour if they do not say when.
func (in *span) request(r *request, now time.Time) (query.Request, error) {
	const op = "service.span"
	var req query.Request
	var err error
	if req.Selection, err = r.selection(in.Points, in.Pattern, false); err != nil {
		return req, err
	}
	if req.From, err = parseTime(in.From, "-1h", now); err != nil {
		return req, fault.E(op, fault.Invalid, "from", err)
	}
	if req.To, err = parseTime(in.To, "now", now); err != nil {
		return req, fault.E(op, fault.Invalid, "to", err)
	}
	if req.Page, err = within("page", in.Page, 0, query.DefaultLimits().Points); err != nil {
		return req, err
	}
	req.After = point.Path(in.After)
	if len(req.Points) > 0 && (req.Page > 0 || in.After != "") {
		return req, fault.E(op, fault.Invalid, "page", errPaging)
	}
	return req, nil
}

// parseTime reads a time as a text or as milliseconds.
func parseTime(text raw, otherwise string, now time.Time) (time.Time, error) {
	s := string(text)
	switch {
	case s == "" || s == "null" || s == `""`:
		s = otherwise
	case s[0] == '"':
		s = strings.Trim(s, `"`)
	}
	return query.ParseTime(s, now)
}

func (s *Service) ranged(ctx context.Context, r *request) ([]byte, error) {
	if s.cfg.Engine == nil {
		return nil, absent("history")
	}
	var in ranged
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	req, err := in.request(r, s.cfg.Now())
	if err != nil {
		return nil, err
	}
	if req.Limit, err = within("limit", in.Limit, 0, maxLimit); err != nil {
		return nil, err
	}
	req.Newest = in.Newest
	look := s.cfg.Engine.Range
	if s.cfg.Wide != nil && !in.Local {
		look = s.cfg.Wide.Range
	}
	a, err := look(ctx, req)
	if err != nil {
		return nil, err
	}
	return appendRange(&a), nil
}

func appendRange(a *query.Answer) []byte {
	out := []byte(`{"series":[`)
	for i := range a.Series {
		if i > 0 {
			out = append(out, ',')
		}
		out = shape.AppendSeriesHead(out, &a.Series[i])
		out = append(out, `"samples":[`...)
		for j := range a.Series[i].Samples {
			if j > 0 {
				out = append(out, ',')
			}
			out = answer.AppendTuple(out, &a.Series[i].Samples[j])
			if len(out) > MaxBody {
				return out // Answer refuses it
			}
		}
		out = shape.AppendSeriesTail(append(out, ']'), &a.Series[i])
	}
	out = shape.AppendEnd(out, a)
	out = append(out, `,"next":`...)
	out = point.AppendQuoted(out, a.Next)
	return append(shape.AppendSources(out, a.Sources), '}')
}

func (s *Service) aggregate(ctx context.Context, r *request) ([]byte, error) {
	if s.cfg.Engine == nil {
		return nil, absent("history")
	}
	in := aggregate{Step: "1h"}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	req, err := in.request(r, s.cfg.Now())
	if err != nil {
		return nil, err
	}
	var how query.Aggregation
	if how.Step, err = query.ParseStep(in.Step); err != nil {
		return nil, err
	}
	if in.Zone != "" {
		if how.Zone, err = query.ParseZone(in.Zone); err != nil {
			return nil, err
		}
	}
	if how.Functions, err = query.ParseFunctions(in.Functions); err != nil {
		return nil, err
	}
	summarise := s.cfg.Engine.Aggregate
	if s.cfg.Wide != nil && !in.Local {
		summarise = s.cfg.Wide.Aggregate
	}
	a, err := summarise(ctx, req, how)
	if err != nil {
		return nil, err
	}
	return encode(shape.Aggregate(&a))
}
