package promql_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/promql"
	"voltbus/query"
	"voltbus/store"
	"voltbus/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the points begin to report; an hour later somebody asks.
func noon() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// start returns a handler over two air handling units that report each minute, one of which fell
// silent after half an hour, a counter, a text, and a point with a hostile name.
func start(t *testing.T) http.Handler {
	t.Helper()
	c, s := history(t)
	return promql.New(below{s, nil}, c, func() time.Time { return noon().Add(time.Hour) }, "1.2.3")
}

func history(t *testing.T) (*catalog.Catalog, *memory.Store) {
	t.Helper()
	ctx := context.Background()
	c, err := catalog.Open(ctx, t.TempDir(), noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	s := memory.New(memory.Options{})
	infos := []point.Info{
		{Path: "site/ahu1/temp", Kind: point.Float, Unit: "degC", Device: "site/ahu1", Interval: time.Minute, Tags: map[string]string{"equip": "ahu"}},
		{Path: "site/ahu2/temp", Kind: point.Float, Unit: "degC", Device: "site/ahu2", Interval: time.Minute},
		{Path: "site/meter/energy", Kind: point.Int, Unit: "Wh", Device: "site/meter", Interval: time.Minute},
		{Path: "site/ahu1/mode", Kind: point.Text, Device: "site/ahu1"},
		{Path: `site/x/2 "b"</script>`, Kind: point.Float, Interval: time.Minute},
	}
	if err := c.Upsert(ctx, infos); err != nil {
		t.Fatal(err)
	}
	b := &point.Block{Origin: "test", Sequence: 1, Created: noon()}
	for _, i := range infos {
		b.Points = append(b.Points, i.Path)
	}
	for i := range 61 {
		at := noon().Add(time.Duration(i) * time.Minute)
		values := []point.Value{point.FloatOf(20 + float64(i)/10), point.FloatOf(30), point.IntOf(int64(600 * i)), point.TextOf("auto"), point.FloatOf(1)}
		for p, v := range values {
			if p != 1 || i <= 30 {
				b.Append(uint32(p), &point.Sample{Time: at, Value: v})
			}
		}
	}
	if _, err := s.Append(ctx, []*point.Block{b}); err != nil {
		t.Fatal(err)
	}
	return c, s
}

// below is a store together with what is known of descendants.
type below struct {
	*memory.Store
	sources []query.Source
}

func (s below) Read(ctx context.Context, r store.Range, begin func([]query.Source), emit func([]point.Sample) error) error {
	begin(s.sources)
	return s.Store.Read(ctx, r, emit)
}

func TestANodeBecauseOfWhichSamplesAreMissingIsAWarning(t *testing.T) {
	c, s := history(t)
	sources := []query.Source{
		{Node: "campus", State: query.SourceAsked},
		{Node: "plant", State: query.SourceLate, Why: "its answer did not come"},
		{Node: "house", State: query.SourceUnreachable, Why: "it is not connected"},
	}
	h := promql.New(below{s, sources}, c, noon, "1.2.3")
	status, got := ask(t, h, "POST", "/query", url.Values{"query": {`temp + temp`}, "time": {fmt.Sprint(noon().Unix())}, "limit": {"1"}})
	want := `,"warnings":["house is unreachable: it is not connected","plant is late: its answer did not come","results truncated due to limit"]}`
	if status != http.StatusOK || !strings.HasSuffix(got, want) || !strings.Contains(got, `"result":[{`) {
		t.Errorf("got %d %s, want …%s", status, got, want)
	}
	if _, got := ask(t, h, "POST", "/query", url.Values{"query": {`1+1`}}); strings.Contains(got, "warnings") {
		t.Errorf("a question about no point warns: %s", got)
	}
}

// ask sends a request as Grafana does: forms by POST, the rest by GET.
func ask(t *testing.T, h http.Handler, method, call string, params url.Values) (int, string) {
	t.Helper()
	target, body := promql.Prefix+call, ""
	if method == http.MethodPost {
		body = params.Encode()
	} else {
		target += "?" + params.Encode()
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const (
	ahu1 = `{"__name__":"voltbus_point","device":"site/ahu1","kind":"float","path":"site/ahu1/temp","point":"temp","tag_equip":"ahu","unit":"degC"}`
	ahu2 = `{"__name__":"voltbus_point","device":"site/ahu2","kind":"float","path":"site/ahu2/temp","point":"temp","unit":"degC"}`
)

// The calls are those that Grafana's Prometheus data source makes: to test itself, to fill the lists
// of its query builder and of variables, and to draw a panel.
func TestGrafanaIsAnswered(t *testing.T) {
	h := start(t)
	from, to := fmt.Sprint(noon().Unix()), fmt.Sprint(noon().Unix()+3600)
	tests := []struct {
		name, method, call string
		params             url.Values
		want               string // after {"status":"success","data":
	}{
		{
			"save and test", "POST", "/query",
			url.Values{"query": {"1+1"}, "time": {to}},
			`{"resultType":"scalar","result":[1800003600,"2"]}`,
		},
		{"kind of server", "GET", "/status/buildinfo", nil, `{"branch":"",`},
		{"rules", "GET", "/rules", nil, `{"groups":[]}`},
		{
			"help on metrics", "GET", "/metadata", nil,
			`{"voltbus_point":[{"type":"gauge","help":"The value of a point; the labels say which, and in which unit.","unit":""}]}`,
		},
		{
			"names of metrics", "GET", "/label/__name__/values",
			url.Values{"start": {from}, "end": {to}},
			`["energy","script_","temp","voltbus_point"]`,
		},
		{
			"names of labels of a metric", "POST", "/labels",
			url.Values{"match[]": {`{__name__="temp"}`}, "start": {from}, "end": {to}},
			`["__name__","device","kind","path","point","tag_equip","unit"]`,
		},
		{
			"values of a label for a variable", "GET", "/label/device/values",
			url.Values{"match[]": {`voltbus_point{unit="degC"}`}},
			`["site/ahu1","site/ahu2"]`,
		},
		{
			"series of a metric", "POST", "/series",
			url.Values{"match[]": {`voltbus_point{unit="degC"}`}, "start": {from}, "end": {to}},
			`[` + ahu1 + `,` + ahu2 + `]`,
		},
		{
			"a panel", "POST", "/query_range",
			url.Values{"query": {`voltbus_point{path="site/ahu1/temp"}`}, "start": {from}, "end": {to}, "step": {"1800"}},
			`{"resultType":"matrix","result":[{"metric":` + ahu1 + `,"values":[[1800000000,"20"],[1800001800,"23"],[1800003600,"26"]]}]}`,
		},
		{
			"a panel of a device that fell silent ends when its value is too old", "GET", "/query_range",
			url.Values{"query": {`voltbus_point{device=~"site/ahu[23]"}`}, "start": {fmt.Sprint(noon().Unix() + 1800)}, "end": {to}, "step": {"240s"}},
			`{"resultType":"matrix","result":[{"metric":` + ahu2 + `,"values":[[1800001800,"30"],[1800002040,"30"]]}]}`,
		},
		{
			"a stat panel", "POST", "/query",
			url.Values{"query": {`avg by (unit) (temp)`}, "time": {fmt.Sprint(noon().Unix() + 600)}},
			`{"resultType":"vector","result":[{"metric":{"unit":"degC"},"value":[1800000600,"25.5"]}]}`,
		},
		{
			"a rate", "GET", "/query",
			url.Values{"query": {`rate(energy[10m])`}, "time": {noon().Add(time.Hour).Format(time.RFC3339)}},
			`{"resultType":"vector","result":[{"metric":{"device":"site/meter","kind":"int","path":"site/meter/energy","point":"energy","unit":"Wh"},"value":[1800003600,"10"]}]}`,
		},
		{
			"functions over time, arithmetic and offset", "GET", "/query",
			url.Values{"query": {`sum(quantile_over_time(0.5, temp{device!="site/ahu2"}[10m] offset 10m)) * 2 + count(count_over_time(energy[1h])) - 1`}, "time": {to}},
			`{"resultType":"vector","result":[{"metric":{},"value":[1800003600,"49.1"]}]}`,
		},
		{"a query in its usual form", "POST", "/format_query", url.Values{"query": {"sum( temp )by(unit)"}}, `"sum by (unit) (temp)"`},
		{"nothing matches", "GET", "/query", url.Values{"query": {`voltbus_point{path="no"}`}}, `{"resultType":"vector","result":[]}`},
		{"a text", "GET", "/query", url.Values{"query": {`"a\"b"`}, "time": {to}}, `{"resultType":"string","result":[1800003600,"a\"b"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, body := ask(t, h, tt.method, tt.call, tt.params)
			if code != http.StatusOK || !strings.HasPrefix(body, `{"status":"success","data":`+tt.want) {
				t.Errorf("%d %s\nwant %s", code, body, tt.want)
			}
		})
	}
}

func TestWrongQueriesAreRefusedAsPrometheusDoes(t *testing.T) {
	h := start(t)
	tests := []struct {
		name, call string
		params     url.Values
		code       int
		want       []string
	}{
		{"no PromQL", "/query", url.Values{"query": {"sum("}}, 400, []string{`"errorType":"bad_data"`, "parse error"}},
		{"no query", "/query", nil, 400, []string{`"errorType":"bad_data"`}},
		{"a time that is none", "/query", url.Values{"query": {"1"}, "time": {"yesterday"}}, 400, []string{"time is not a time"}},
		{"a range without times", "/query_range", url.Values{"query": {"1"}, "step": {"1"}}, 400, []string{"start is not a time"}},
		{"a step of nothing", "/query_range", url.Values{"query": {"1"}, "start": {"1"}, "end": {"2"}, "step": {"0"}}, 400, []string{"more than nothing"}},
		{"an end before the start", "/query_range", url.Values{"query": {"1"}, "start": {"2"}, "end": {"1"}, "step": {"1"}}, 400, []string{"before start"}},
		{"too many steps", "/query_range", url.Values{"query": {"1"}, "start": {"0"}, "end": {"1e9"}, "step": {"1"}}, 400, []string{"1000000000 steps", "longer step"}},
		{"series of nothing", "/series", nil, 400, []string{"match[]"}},
		{"a selector that is none", "/series", url.Values{"match[]": {"{"}}, 400, []string{`"errorType":"bad_data"`}},
		{"one series twice", "/query", url.Values{"query": {`temp + on (unit) temp`}, "time": {fmt.Sprint(noon().Unix())}}, 422, []string{`"errorType":"execution"`, "duplicate series"}},
		{"a call that is not here", "/admin/tsdb/snapshot", nil, 404, []string{`"errorType":"not_found"`, "query_range"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, body := ask(t, h, http.MethodGet, tt.call, tt.params)
			if code != tt.code {
				t.Errorf("status %d, want %d", code, tt.code)
			}
			for _, want := range append(tt.want, `"status":"error"`) {
				if !strings.Contains(body, want) {
					t.Errorf("%s lacks %s", body, want)
				}
			}
		})
	}
}

func TestTheReaderMayBoundAnAnswer(t *testing.T) {
	h := start(t)
	to := fmt.Sprint(noon().Unix() + 600)
	for name, c := range map[string]struct {
		call   string
		params url.Values
		status int
		want   string
	}{
		"fewer series than there are": {"/query", url.Values{"query": {"sort(temp)"}, "limit": {"1"}}, 200, `"21"]}]},"warnings":["results truncated due to limit"]}`},
		"as many as there are":        {"/query", url.Values{"query": {"sort(temp)"}, "limit": {"2"}}, 200, `"30"]}]}}`},
		"no limit":                    {"/query", url.Values{"query": {"sort(temp)"}, "limit": {"0"}}, 200, `"30"]}]}}`},
		"fewer values of a label":     {"/label/device/values", url.Values{"limit": {"1"}}, 200, `"data":["site/ahu1"]}`},
		"a limit that is none":        {"/query", url.Values{"query": {"temp"}, "limit": {"-1"}}, 400, "limit must be a number"},
		"a timeout":                   {"/query", url.Values{"query": {"temp"}, "timeout": {"0.000000001"}}, 503, `"errorType":"timeout"`},
		"enough time":                 {"/query", url.Values{"query": {"vector(1)"}, "timeout": {"20s"}}, 200, `"1"]}]}}`},
		"a timeout that is none":      {"/query", url.Values{"query": {"temp"}, "timeout": {"soon"}}, 400, "timeout is not a duration"},
	} {
		c.params.Set("time", to)
		if status, body := ask(t, h, "GET", c.call, c.params); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want %d with %s", name, status, body, c.status, c.want)
		}
	}
}
