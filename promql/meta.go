package promql

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	prom "github.com/prometheus/prometheus/promql"
)

var (
	errNoSelector = errors.New("name series with match[]=<selector>")
	errTime       = errors.New("is not a time; write seconds since 1970 or RFC 3339")
	errLimit      = errors.New("limit must be a number from 0, which is no limit")
	errDuration   = errors.New("is not a duration; write seconds, or a number with a unit such as 15s or 1h")
)

func (h *Handler) series(r *http.Request) ([]byte, error) {
	selectors, err := h.selectors(r)
	if err != nil {
		return nil, err
	}
	if len(selectors) == 0 {
		return nil, badData(errNoSelector)
	}
	most, err := limit(r)
	if err != nil {
		return nil, err
	}
	found := make(map[uint64]bool)
	list := []labels.Labels{}
	err = h.selected(r.Context(), selectors, func(ls labels.Labels) {
		if hash := ls.Hash(); !found[hash] && len(list) < most {
			found[hash] = true
			list = append(list, ls)
		}
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(list)
}

// limit returns the requested limit, and otherwise the maximum.
func limit(r *http.Request) (int, error) {
	text := r.FormValue("limit")
	if text == "" {
		return maxPoints, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n < 0:
		return 0, badData(errLimit)
	case n == 0:
		return maxPoints, nil
	}
	return min(n, maxPoints), nil
}

func (h *Handler) labels(r *http.Request) ([]byte, error) {
	selectors, err := h.selectors(r)
	if err != nil {
		return nil, err
	}
	names, err := h.labelNames(r.Context(), selectors)
	return list(r, names, err)
}

func (h *Handler) values(r *http.Request, name string) ([]byte, error) {
	selectors, err := h.selectors(r)
	if err != nil {
		return nil, err
	}
	values, err := h.labelValues(r.Context(), name, selectors)
	return list(r, values, err)
}

func list(r *http.Request, names []string, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	most, err := limit(r)
	if err != nil {
		return nil, err
	}
	return json.Marshal(append([]string{}, names[:min(most, len(names))]...))
}

// metadata describes the metric common to all points.
func (*Handler) metadata(*http.Request) ([]byte, error) {
	type one struct {
		Type string `json:"type"`
		Help string `json:"help"`
		Unit string `json:"unit"`
	}
	return json.Marshal(map[string][]one{metric: {{"gauge", "The value of a point; the labels say which, and in which unit.", ""}}})
}

func (h *Handler) buildInfo(*http.Request) ([]byte, error) {
	// Grafana adapts its requests to the version of Prometheus: that of the engine applies.
	return json.Marshal(map[string]string{
		"version": "3.8.1", "revision": "voltbus " + h.version, "branch": "", "buildUser": "", "buildDate": "",
		"goVersion": runtime.Version(),
	})
}

// rules are requested by Grafana to complete queries; a node has none.
func (*Handler) rules(*http.Request) ([]byte, error) { return []byte(`{"groups":[]}`), nil }

func (*Handler) format(r *http.Request) ([]byte, error) {
	expr, err := language().ParseExpr(r.FormValue("query"))
	if err != nil {
		return nil, badData(err)
	}
	return json.Marshal(expr.Pretty(0))
}

func (h *Handler) time(r *http.Request, name string, otherwise time.Time) (time.Time, error) {
	text := r.FormValue(name)
	if text == "" && !otherwise.IsZero() {
		return otherwise, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < 1e11 {
		return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, badData(errors.New(name + " " + errTime.Error()))
	}
	return at.UTC(), nil
}

func duration(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < 1e9 {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	d, err := model.ParseDuration(text)
	if err != nil {
		return 0, badData(errDuration)
	}
	return time.Duration(d), nil
}

// options are the options of a query that the client may set.
func options(r *http.Request) (prom.QueryOpts, error) {
	var lookback time.Duration
	if text := r.FormValue("lookback_delta"); text != "" {
		var err error
		if lookback, err = duration(text); err != nil {
			return nil, err
		}
	}
	return prom.NewPrometheusQueryOpts(false, lookback, nil), nil
}
