package sinktest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
)

// Victoria returns what a VictoriaMetrics has in series of a metric, by the label that has the name of the point, and time. A value that marks the
// end of a series is left out.
func Victoria(t testing.TB, address, metric, label string) map[string]string {
	t.Helper()
	flush, err := http.Get("http://" + address + "/internal/force_flush") //nolint:noctx,gosec // on loopback
	if err != nil {
		t.Fatal(err)
	}
	_ = flush.Body.Close()
	answer, err := http.Get("http://" + address + "/api/v1/export?match[]=" + url.QueryEscape("{"+label+`!="",__name__=~"`+metric+`"}`)) //nolint:noctx,gosec // on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	found := map[string]string{}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var series struct {
			Metric     map[string]string
			Values     []*float64
			Timestamps []int64
		}
		if err := json.Unmarshal(bytes.ReplaceAll(lines.Bytes(), []byte("NaN"), []byte("null")), &series); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		for i, v := range series.Values {
			if v != nil {
				found[Key(series.Metric[label], series.Timestamps[i]*1000)] = Text(*v, "")
			}
		}
	}
	return found
}
