package promql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	prom "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
)

// Limits of one query.
const (
	maxPoints   = 200_000
	maxSeries   = 5000
	maxSamples  = 5_000_000
	maxSteps    = 11_000 // of a range, as in Prometheus
	maxRunning  = 4
	maxBody     = 512 << 10
	patience    = 10 * time.Second // longest wait of a query for its turn
	queryTime   = 30 * time.Second
	maxLookback = time.Hour // how far back values are searched; staleAfter tells how long one is valid
)

// Prefix is the path prefix of the API, as in Prefix + "/query".
const Prefix = "/prometheus/api/v1"

// Store returns samples, including those that descendants have not sent yet, as package federation does.
type Store interface {
	// Read calls begin with what is known about other nodes, if any, and then emit as a store.Store does.
	Read(ctx context.Context, r store.Range, begin func([]query.Source), emit func([]point.Sample) error) error
}

// Points lists points.
type Points interface {
	Search(ctx context.Context, f catalog.Filter) (catalog.Page, error)
}

// Handler is the HTTP API. It is safe for concurrent use and starts no goroutine that outlives a request.
type Handler struct {
	source
	engine  *prom.Engine
	now     func() time.Time
	version string
	running chan struct{} // one entry for each running query
}

// New returns a handler over the store and the catalogue, for clients that are already authenticated. now is
// the clock; version is the program's version in buildinfo.
func New(s Store, p Points, now func() time.Time, version string) *Handler {
	return &Handler{
		source: source{s, p}, now: now, version: version, running: make(chan struct{}, maxRunning),
		engine: prom.NewEngine(prom.EngineOpts{
			MaxSamples: maxSamples, Timeout: queryTime, LookbackDelta: maxLookback,
			EnableAtModifier: true, EnableNegativeOffset: true, Parser: language(),
			NoStepSubqueryIntervalFn: func(int64) int64 { return subqueryStep },
		}),
	}
}

// ServeHTTP implements http.Handler. All answers, including refusals, have the form of Prometheus.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		fail(w, badData(err))
		return
	}
	call := strings.TrimPrefix(r.URL.Path, Prefix)
	answer, ok := h.calls()[call]
	if name, found := strings.CutPrefix(call, "/label/"); found {
		if name, found = strings.CutSuffix(name, "/values"); found && name != "" {
			answer, ok = func(r *http.Request) ([]byte, error) { return h.values(r, name) }, true
		}
	}
	if !ok {
		fail(w, fault.E("promql", fault.NotFound, call, errors.New(
			"this part of Prometheus' API is not here; there are query, query_range, series, labels, label/…/values, metadata and status/buildinfo")))
		return
	}
	turn := time.NewTimer(patience)
	defer turn.Stop()
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	case <-turn.C:
		fail(w, fault.E("promql", fault.Unavailable, "", fmt.Errorf("%d other queries are running; try again in a moment", maxRunning)))
		return
	case <-r.Context().Done():
		return
	}
	body, err := answer(r)
	if err != nil {
		fail(w, err)
		return
	}
	succeed(w, body)
}

func (h *Handler) calls() map[string]func(*http.Request) ([]byte, error) {
	return map[string]func(*http.Request) ([]byte, error){
		"/query": h.query, "/query_range": h.queryRange, "/series": h.series, "/labels": h.labels,
		"/metadata": h.metadata, "/status/buildinfo": h.buildInfo, "/format_query": h.format, "/rules": h.rules,
	}
}

func badData(err error) error { return fault.E("promql", fault.Invalid, "", err) }

func (h *Handler) queryable() storage.Queryable {
	return storage.QueryableFunc(func(from, to int64) (storage.Querier, error) {
		return &querier{h.source, from, to}, nil
	})
}

func (h *Handler) query(r *http.Request) ([]byte, error) {
	at, err := h.time(r, "time", h.now())
	if err != nil {
		return nil, err
	}
	opts, err := options(r)
	if err != nil {
		return nil, err
	}
	if err := bounded(r.FormValue("query"), frame{}); err != nil {
		return nil, err
	}
	q, err := h.engine.NewInstantQuery(r.Context(), h.queryable(), opts, r.FormValue("query"), at)
	if err != nil {
		return nil, badData(err)
	}
	return run(r, q)
}

func (h *Handler) queryRange(r *http.Request) ([]byte, error) {
	from, err := h.time(r, "start", time.Time{})
	to, err2 := h.time(r, "end", time.Time{})
	step, err3 := duration(r.FormValue("step"))
	opts, err4 := options(r)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		return nil, badData(err)
	}
	switch {
	case to.Before(from):
		return nil, badData(errors.New("end must not lie before start"))
	case step <= 0:
		return nil, badData(errors.New("step must be more than nothing"))
	case to.Sub(from)/step > maxSteps:
		return nil, badData(fmt.Errorf("the answer would have %d steps for each series and may have %d; use a longer step",
			to.Sub(from)/step, maxSteps))
	}
	if err := bounded(r.FormValue("query"), frame{span: to.Sub(from), step: step}); err != nil {
		return nil, err
	}
	q, err := h.engine.NewRangeQuery(r.Context(), h.queryable(), opts, r.FormValue("query"), from, to, step)
	if err != nil {
		return nil, badData(err)
	}
	return run(r, q)
}

// run answers a query, within the timeout and the limit of series that the client may have set.
func run(r *http.Request, q prom.Query) ([]byte, error) {
	defer q.Close()
	most, err := limit(r)
	if err != nil {
		return nil, err
	}
	timeout := queryTime
	if text := r.FormValue("timeout"); text != "" {
		asked, err := duration(text)
		if err != nil || asked <= 0 {
			return nil, badData(fmt.Errorf("timeout %w", errDuration))
		}
		timeout = min(timeout, asked)
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	result := q.Exec(ctx)
	if result.Err != nil {
		return nil, explain(result.Err)
	}
	value, cut := first(result.Value, most)
	body := appendResult(nil, value)
	warnings, _ := result.Warnings.AsStrings("", 0, 0) // remarks about the query are not for viewers of a panel
	slices.Sort(warnings)
	if cut {
		warnings = append(warnings, "results truncated due to limit")
	}
	if len(warnings) == 0 {
		return body, nil
	}
	list, err := json.Marshal(warnings)
	return append(append(body, `,"warnings":`...), list...), err // next to "data"
}

// first returns at most so many series of a value, and whether there were more.
func first(value parser.Value, most int) (parser.Value, bool) {
	switch v := value.(type) {
	case prom.Vector:
		return v[:min(most, len(v))], len(v) > most
	case prom.Matrix:
		return v[:min(most, len(v))], len(v) > most
	}
	return value, false
}

// explain adds to an engine error its kind. Errors of the store are returned unchanged.
func explain(err error) error {
	if stored, ok := errors.AsType[*fault.Error](err); ok {
		return stored
	}
	if late, ok := errors.AsType[prom.ErrQueryTimeout](err); ok {
		return fault.E("promql", fault.Timeout, "", late)
	}
	if gone, ok := errors.AsType[prom.ErrQueryCanceled](err); ok {
		return fault.E("promql", fault.Canceled, "", gone)
	}
	return fault.E("promql", fault.Rejected, "", err)
}

func (h *Handler) selectors(r *http.Request) ([][]*labels.Matcher, error) {
	var out [][]*labels.Matcher
	for _, text := range r.Form["match[]"] {
		matchers, err := language().ParseMetricSelector(text)
		if err != nil {
			return nil, badData(err)
		}
		out = append(out, matchers)
	}
	return out, nil
}
