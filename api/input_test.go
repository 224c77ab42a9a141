package api_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"voltbus/api"
	"voltbus/fault"
)

// serveTLS serves on a loopback port until stop.
func serveTLS(t *testing.T, server *http.Server) (address string, stop func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ServeTLS(ln, "", "")
	}()
	return "https://" + ln.Addr().String(), func() {
		_ = server.Close()
		<-done
	}
}

func TestWrongInputIsRefusedWithWhatToDo(t *testing.T) {
	n := start(t)
	long := strings.Repeat("x", 2000)
	tests := []struct {
		name    string
		method  string
		path    string
		body    string
		status  int
		subject string
		want    string
	}{
		{"an address that does not exist", "GET", "/api/v1/pionts", "", 404, "", "openapi.yaml"},
		{"the root of the API", "GET", "/api", "", 404, "", "openapi.yaml"},
		{"a method that does not exist", "DELETE", "/api/v1/points", "", 405, "", "Allow"},
		{"the head of a stream", "PUT", "/api/v1/stream", "", 405, "", "Allow"},
		{"a misspelt parameter", "GET", "/api/v1/range?pont=a", "", 400, "pont", "point, pattern, from, to, limit, newest"},
		{"a parameter where there are none", "GET", "/api/v1/devices?x=1", "", 400, "x", "takes no parameters"},
		{"a query that cannot be decoded", "GET", "/api/v1/points?search=%zz", "", 400, "query", "cannot be read"},
		{"a huge query", "GET", "/api/v1/latest?point=" + strings.Repeat("a&point=", 80_000), "", 414, "", "use a pattern"},
		{"a long parameter", "GET", "/api/v1/points?search=" + long, "", 400, "search", "at most 1024"},
		{"bytes that are no text", "GET", "/api/v1/points?search=%ff", "", 400, "search", "UTF-8"},
		{"a parameter twice", "GET", "/api/v1/points?limit=1&limit=2", "", 400, "limit", "once"},
		{"a limit that is no number", "GET", "/api/v1/points?limit=many", "", 400, "limit", "from 1 to 10000"},
		{"a limit that is too large", "GET", "/api/v1/points?limit=99999999999999999999", "", 400, "limit", "from 1 to 10000"},
		{"a tag without value", "GET", "/api/v1/points?tag=x", "", 400, "tag", "name=value"},
		{"a range of nothing", "GET", "/api/v1/range", "", 400, "point", "pattern=<pattern>"},
		{"a range of an empty pattern", "GET", "/api/v1/range?pattern=", "", 400, "pattern", "** selects everything"},
		{"points and pattern at once", "GET", "/api/v1/range?point=a&pattern=b", "", 400, "point", "not both"},
		{"a point without a name", "GET", "/api/v1/range?point=", "", 400, "point", "at least one character"},
		{"a point with a control character", "GET", "/api/v1/range?point=a%00b", "", 400, "point", "control characters"},
		{"a time that is none", "GET", "/api/v1/range?point=a&from=yesterday", "", 400, "from", "now-1h"},
		{"a time of another age", "GET", "/api/v1/range?point=a&from=9999-01-01T00:00:00Z", "", 400, "from", "1900 to 2200"},
		{"an end before the beginning", "GET", "/api/v1/range?point=a&from=now&to=-1h", "", 400, "from", "must lie before to"},
		{"a switch that is none", "GET", "/api/v1/range?point=a&newest=perhaps", "", 400, "newest", "true or false"},
		{"a step without unit", "GET", "/api/v1/aggregate?point=a&step=60", "", 400, "step", "with a unit"},
		{"a step that is too short", "GET", "/api/v1/aggregate?point=a&step=1us", "", 400, "step", "is not a step"},
		{"too many steps", "GET", "/api/v1/aggregate?point=site/temp&from=-3000d&step=1s", "", 400, "step", "longer step"},
		{"a point that does not exist", "GET", "/api/v1/range?point=site/temq", "", 404, "site/temq", `there is no such point; did you mean "site/temp"?`},
		{"the newest value of a point that does not exist", "GET", "/api/v1/latest?point=site/temp&point=site/temq", "", 404, "site/temq", "there is no such point"},
		{"a CSV of a point that does not exist", "GET", "/api/v1/export?point=nothing", "", 404, "nothing", "there is no such point"},
		{"a plot of a pattern that selects nothing", "GET", "/api/v1/plot?pattern=other/*", "", 404, "pattern", `no point matches "other/*"`},
		{"an aggregate of a huge pattern that selects nothing", "GET", "/api/v1/aggregate?pattern=" + long[:1000], "", 404, "pattern", "no point matches"},
		{"a plot without width", "GET", "/api/v1/plot?point=a&pixels=0", "", 400, "pixels", "from 10 to 10000"},
		{"an unknown format", "GET", "/api/v1/export?point=a&format=xls", "", 400, "format", "csv, parquet or arrow"},
		{"Parquet from a store that has none", "GET", "/api/v1/export?point=a&format=parquet", "", 503, "parquet", "csv"},
		{"no body", "POST", "/api/v1/sql", "", 415, "", "application/json"},
		{"a body that is no JSON", "POST", "/api/v1/sql", "SELECT 1", 400, "body", "is not JSON: byte 1"},
		{"an empty body", "POST", "/api/v1/sql", " ", 400, "body", "is empty; send a JSON object with the fields statement, limit"},
		{"a body that ends too early", "POST", "/api/v1/sql", `{"statement":`, 400, "body", "ends too early"},
		{"a body with unknown fields", "POST", "/api/v1/sql", `{"statement":"x","drop":1}`, 400, "body", `unknown field "drop"; there are statement, limit`},
		{"a body with a huge unknown field", "POST", "/api/v1/sql", `{"` + long + `":1}`, 400, "body", "there are statement, limit"},
		{"a body that is a list", "POST", "/api/v1/sql", `[1]`, 400, "body", "must be a JSON object with the fields statement, limit"},
		{"a field of another type", "POST", "/api/v1/sql", `{"statement":"x","limit":"1"}`, 400, "body", `the field "limit" must be a whole number`},
		{"a body with something behind", "POST", "/api/v1/sql", `{"statement":"x"} {}`, 400, "body", "behind"},
		{"a body of another type", "POST", "/api/v1/sql", `{"statement":[[[[1]]]]}`, 400, "body", `the field "statement" must be a string`},
		{"a body that is deeply nested", "POST", "/api/v1/sql", strings.Repeat("[", 100_000), 400, "body", "JSON"},
		{"a huge body", "POST", "/api/v1/sql", `{"statement":"` + strings.Repeat("x", 300_000) + `"}`, 413, "", "bytes"},
		{"an empty statement", "POST", "/api/v1/sql", `{"statement":""}`, 400, "statement", "SELECT"},
		{"a limit beyond the limit", "POST", "/api/v1/sql", `{"statement":"x","limit":1000001}`, 400, "limit", "1000000"},
		{"a statement that is refused", "POST", "/api/v1/sql", `{"statement":"refused"}`, 403, "", "only SELECT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := n.do(tt.method, tt.path, tt.body, n.bearer())
			p := got.problem(t)
			if got.StatusCode != tt.status || p.Subject != tt.subject || !strings.Contains(p.Detail, tt.want) && tt.status != 405 {
				t.Errorf("got %d %+v; want %d about %q: …%s…", got.StatusCode, p, tt.status, tt.subject, tt.want)
			}
			if strings.Contains(p.Detail, "json:") || strings.Contains(p.Detail, "Go ") {
				t.Errorf("the problem speaks of Go: %s", p.Detail)
			}
			if len(got.body) > 2000 {
				t.Errorf("the problem has %d bytes", len(got.body))
			}
		})
	}
}

func TestADefectEndsOneRequestAndTellsNothing(t *testing.T) {
	n := start(t)
	for _, statement := range []string{"panic", "secret"} {
		got := n.do("POST", "/api/v1/sql", `{"statement":"`+statement+`"}`, n.bearer())
		if p := got.problem(t); got.StatusCode != 500 || p.Kind != "internal" || strings.Contains(got.body, "boom") || strings.Contains(got.body, "internals") {
			t.Errorf("%s gives %d %s", statement, got.StatusCode, got.body)
		}
	}
	if got := n.get("/api/v1/version"); got.StatusCode != 200 {
		t.Errorf("afterwards the node gives %d", got.StatusCode)
	}
}

func TestKindsHaveTheirStatus(t *testing.T) {
	n := start(t)
	want := map[fault.Kind]int{
		fault.Invalid: 400, fault.NotFound: 404, fault.Unreachable: 502, fault.Timeout: 504, fault.Refused: 403, fault.Conflict: 409,
		fault.Unavailable: 503, fault.Corrupt: 500, fault.Rejected: 422, fault.Internal: 500,
	}
	for kind, status := range want {
		n.state.err = fault.E("x", kind, "subject", errors.New("reason"))
		got := n.get("/api/v1/ledger")
		if p := got.problem(t); got.StatusCode != status || p.Kind != kind.String() || p.Subject != "subject" {
			t.Errorf("%v gives %d %+v", kind, got.StatusCode, p)
		}
	}
}

func TestANodeWithoutAPartSaysSo(t *testing.T) {
	n := start(t, func(c *api.Config) {
		*c = api.Config{Auth: c.Auth, Log: c.Log, Now: c.Now}
	})
	for _, path := range []string{"points", "latest", "range?point=a", "plot?point=a", "aggregate?point=a", "stream", "devices", "ledger", "export?point=a"} {
		if got := n.get("/api/v1/" + path); got.StatusCode != 503 || !strings.Contains(got.problem(t).Detail, "does not have it") {
			t.Errorf("%s gives %d %s", path, got.StatusCode, got.body)
		}
	}
	if got := n.get("/metrics"); got.StatusCode != 200 {
		t.Errorf("metrics give %d", got.StatusCode)
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"point=a&from=-1h", "pattern=**&limit=1", "tag=a=b&tag=c", "point=a&point=a", "pixels=10&point=a", "a;b", "%"} {
		f.Add("range", s)
		f.Add("points", s)
		f.Add("plot", s)
	}
	n := start(f)
	f.Fuzz(func(t *testing.T, path, query string) {
		switch path {
		case "range", "plot", "points", "latest", "aggregate", "export":
		default:
			return
		}
		n.t = t
		got := n.do("GET", "/api/v1/"+path+"?"+strings.NewReplacer(" ", "+", "#", "%23", "\x7f", "%7f").Replace(printable(query)), "", n.bearer())
		if got.StatusCode >= 500 && got.StatusCode != 503 {
			t.Errorf("%s?%s gives %d %s", path, query, got.StatusCode, got.body)
		}
	})
}

// printable leaves out what an HTTP client would not send.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 {
			return -1
		}
		return r
	}, s)
}
