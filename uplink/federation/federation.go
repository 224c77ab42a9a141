// Package federation completes answers about the history with data that descendants have not sent yet: it asks the children concerned for
// what the local store lacks, answers as if all of it were stored here, and reports how each child responded. The package is given
// functions for requests, and does not know the bus.
package federation

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
)

// Child is a child of this node, as federation queries it.
type Child struct {
	Name    string
	Prefix  point.Path      // path of its points; "" for anywhere
	Record  []point.Pattern // without a prefix: what it may send
	Online  bool
	Away    time.Time // since when it has been disconnected; zero: unknown
	Waiting uint64    // samples not sent yet, as it reported
	Below   uint64    // samples that its descendants have not sent yet, as they reported
	Unheard bool      // it has just connected, and has not reported its backlog yet
}

// sent reports whether the child and its descendants have nothing left to send, according to their reports.
func (c *Child) sent() bool { return c.Waiting == 0 && c.Below == 0 && !c.Unheard }

// Catalog provides what a Federation needs to know about points.
type Catalog interface {
	query.Catalog
	// Owners returns the children that described the points; "" for points of this node's own devices. Points
	// with unknown owners are omitted.
	Owners(ctx context.Context, paths []point.Path) (map[point.Path]string, error)
}

// Log is the log of this node.
type Log interface {
	ID() string
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Scan delivers the blocks from a sequence number on, in order, up to the last existing one.
	Scan(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
}

// Config is what a Federation needs. All are required; functions must be safe for concurrent use.
type Config struct {
	Name     string // of this node
	Store    store.Store
	LogOnly  bool // Store is always empty: there is only the log
	Catalog  Catalog
	Limits   query.Limits
	Now      func() time.Time
	Log      Log
	Children func() []Child
	// Ask sends a Query to a child: fault.Unreachable, at once, if it is not connected.
	Ask func(ctx context.Context, child string, body []byte) ([]byte, error)
	// Below returns the local paths that correspond to a path at the parent.
	Below func(at point.Path) []point.Path
	// Sent reports whether the samples of a point are sent to the parent.
	Sent func(path point.Path) bool
	// Place returns the log sequence number up to which the parent has everything that is sent to it.
	Place func() uint64
	// Memory bounds the bytes of samples of descendants held for all concurrent queries; 0 for DefaultMemory.
	Memory int64
}

// Federation answers queries including the data of descendants. It only remembers which nodes were late, and
// is safe for concurrent use. Its errors are those of a query.Engine: failures elsewhere are reported in the
// sources of the answer.
type Federation struct {
	cfg    Config
	own    own
	asker  asker
	budget *budget

	encoders sync.Pool // creating one takes longer than a small answer
}

// New returns a federation. It starts nothing.
func New(cfg Config) *Federation {
	b := newBudget(cfg.Memory)
	return &Federation{
		cfg: cfg, budget: b, asker: asker{send: cfg.Ask, budget: b},
		own: own{name: cfg.Name, store: cfg.Store, logOnly: cfg.LogOnly, log: cfg.Log},
	}
}

// Limit for the answers of all children together.
const (
	MaxTime    = 2 * time.Second
	latestTime = 500 * time.Millisecond
	exportTime = 20 * time.Second
)

// Range returns the samples of a range.
func (f *Federation) Range(ctx context.Context, req query.Request) (query.Answer, error) {
	w, err := f.widen(ctx, &req, childQuery{patience: MaxTime})
	if err != nil {
		return query.Answer{}, err
	}
	defer w.end()
	a, err := w.engine.Range(ctx, req)
	w.complete(&a)
	return a, err
}

// Plot returns what a line of the width in pixels can show of a range.
func (f *Federation) Plot(ctx context.Context, req query.Request, pixels int) (query.Answer, error) {
	req.Limit, req.Newest, req.Page, req.After = 0, false, 0, ""
	w, err := f.widen(ctx, &req, childQuery{patience: MaxTime})
	if err != nil {
		return query.Answer{}, err
	}
	defer w.end()
	a, err := w.engine.Plot(ctx, req, pixels)
	w.complete(&a)
	return a, err
}

// Aggregate summarises the samples of a range in steps: figures cover all samples, wherever they are.
func (f *Federation) Aggregate(ctx context.Context, req query.Request, how query.Aggregation) (query.Summaries, error) {
	req.Limit, req.Newest = 0, false
	w, err := f.widen(ctx, &req, childQuery{patience: MaxTime, functions: how.Functions})
	if err != nil {
		return query.Summaries{}, err
	}
	defer w.end()
	a, err := w.engine.Aggregate(ctx, req, how)
	a.Sources = w.after()
	return a, err
}

// Export calls begin with what is known about the sources, and then emit with all samples of a range.
func (f *Federation) Export(ctx context.Context, req query.Request, begin func([]query.Source), emit func([]point.Sample) error) error {
	w, err := f.widen(ctx, &req, childQuery{patience: exportTime})
	if err != nil {
		return err
	}
	defer w.end()
	w.strict()
	begin(w.sources)
	return w.engine.Export(ctx, req, emit)
}

// Read calls begin with what is known about the sources, and then emit as the store does.
func (f *Federation) Read(ctx context.Context, r store.Range, begin func([]query.Source), emit func([]point.Sample) error) error {
	if len(r.Points) == 0 {
		return f.cfg.Store.Read(ctx, r, emit)
	}
	req := query.Request{Selection: query.Selection{Points: r.Points}, From: r.From, To: r.To, Limit: r.Limit, Newest: r.Newest}
	w, err := f.widen(ctx, &req, childQuery{patience: MaxTime})
	if err != nil {
		return err
	}
	defer w.end()
	w.strict()
	begin(w.sources)
	return w.store.Read(ctx, r, emit)
}

var errParquet = errors.New("descendants have more samples that are not stored here than can be put into one file; " +
	"ask for format=csv or arrow, for a shorter time or fewer points, or with local=true for what is stored here")

// ExportParquet writes the samples of a range to a new Parquet file, and returns what is known about the
// sources.
func (f *Federation) ExportParquet(ctx context.Context, req query.Request, file string) ([]query.Source, error) {
	w, err := f.widen(ctx, &req, childQuery{patience: exportTime})
	if err != nil {
		return nil, err
	}
	defer w.end()
	if w.pieces != nil {
		return nil, fault.E("federation.ExportParquet", fault.Invalid, "parquet", errParquet)
	}
	_, err = w.engine.ExportParquet(ctx, req, file)
	return w.sources, err
}
