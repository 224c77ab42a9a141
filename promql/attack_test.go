package promql_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestAttackNoQueryTakesTheProcessorOrTheMemory(t *testing.T) {
	h := start(t)
	double := "vector(1)"
	for range 20 {
		double = `label_replace(` + double + `, "a", "$1$1$1$1", "a", "(.*)")`
	}
	nested := "vector(1)"
	for range 6 {
		nested = "max_over_time(" + nested + "[1d:1m])"
	}
	for _, text := range []string{
		"max_over_time(vector(1)[100y:1ms])", "max_over_time(vector(1)[1y:1ms])", "max_over_time(vector(1)[30d:100ms] @ 0)",
		"sum_over_time(max_over_time(vector(1)[1h:1s])[100d:1s])", "max_over_time(max_over_time(max_over_time(vector(1)[7d:1m])[7d:1m])[7d:1m])",
		nested, "quantile_over_time(0.5, (vector(1) + time())[10y:1m])", "max_over_time(time()[100y:1ms] offset 50y)", "count_over_time(temp[200y])",
		"temp offset 200y", "temp offset -200y", "max_over_time(temp[5m:1ms] offset 100y)", double,
		`label_replace(vector(1), "a", "` + strings.Repeat("$1", 1000) + `", "__name__", "(.*)")`,
		`label_join(vector(1), "a", "` + strings.Repeat("x", 10) + `"` + strings.Repeat(`, "a"`, 1000) + `)`,
		strings.Repeat("temp + ", 1000) + "temp", strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000), strings.Repeat("-", 100_000) + "1",
		"holt_winters(vector(1)[100y:1ms], 0.5, 0.5)", "absent_over_time(vector(1)[100y:1ms])", "1" + strings.Repeat("^2", 20_000),
		"vector(1) and on() max_over_time(vector(2)[100y:1ms])", "topk(1, max_over_time(vector(1)[100y:1ms]))", "-max_over_time(vector(1)[100y:1ms])",
		"(max_over_time(vector(1)[100y:1ms]))", "histogram_quantile(0.9, rate(vector(1)[100y:1ms]))",
	} {
		for path, params := range map[string]url.Values{
			"/query":       {"query": {text}},
			"/query_range": {"query": {text}, "start": {"0"}, "end": {"10000"}, "step": {"1"}},
		} {
			began := time.Now()
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/prometheus/api/v1"+path, strings.NewReader(params.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			h.ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest {
				t.Errorf("%s %.80s: %d %.200s after %v, want 400", path, text, w.Code, w.Body, time.Since(began))
			}
		}
	}
}

func TestQueriesOfDashboardsStayWithinTheBounds(t *testing.T) {
	h := start(t)
	for _, text := range []string{
		"temp", "avg_over_time(temp[1h])", "max_over_time(avg_over_time(temp[5m])[1d:5m])", "temp offset 1w", "temp - temp offset 1y", "rate(energy[5m])",
		"sum by (device) (increase(energy[30d]))", "max_over_time(rate(energy[5m])[7d:1m])", `label_replace(temp, "d", "$1 $2", "device", "(.*)/(.*)")`,
		"quantile_over_time(0.95, temp[90d])", "avg_over_time(temp[1d:1m] @ end())",
	} {
		for _, call := range []string{
			"/query?", fmt.Sprintf("/query_range?start=%d&end=%d&step=600&", noon().Unix()-7*86400, noon().Unix()),
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/prometheus/api/v1"+call+url.Values{"query": {text}}.Encode(), nil))
			if w.Code != http.StatusOK {
				t.Errorf("%s%s: %d %.200s", call, text, w.Code, w.Body)
			}
		}
	}
}
