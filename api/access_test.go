package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"voltbus/api"
	"voltbus/api/exchange"
	"voltbus/identity"
	"voltbus/identity/pki"
)

// login returns the option that sends the cookie of a new session.
func (n *node) login() option {
	n.t.Helper()
	got := n.do("POST", "/api/v1/session", `{"token":"`+n.token+`"}`)
	if got.StatusCode != http.StatusNoContent {
		n.t.Fatalf("login gives %d: %s", got.StatusCode, got.body)
	}
	for _, c := range got.Cookies() {
		if c.Name == exchange.Cookie {
			return func(r *http.Request) { r.AddCookie(c) }
		}
	}
	n.t.Fatal("login sets no cookie")
	return nil
}

func TestAttackNothingIsOpenWithoutALogin(t *testing.T) {
	n := start(t)
	open := map[string]bool{"POST /api/v1/session": true, "DELETE /api/v1/session": true, "GET /api/v1/health": true, "GET /api/v1/setup": true, "GET /health": true, "GET /ping": true}
	for op := range api.Parameters() {
		if open[op] {
			continue
		}
		method, path, _ := strings.Cut(op, " ")
		for name, option := range map[string]option{
			"without anything":      func(*http.Request) {},
			"with a wrong token":    header("Authorization", "Bearer "+strings.Repeat("a", 43)),
			"with junk":             header("Authorization", "Basic YWRtaW46YWRtaW4="),
			"with a made-up cookie": header("Cookie", exchange.Cookie+"="+strings.Repeat("a", 43)),
		} {
			t.Run(op+" "+name, func(t *testing.T) {
				got := n.do(method, path, "", option)
				if got.StatusCode != http.StatusUnauthorized && got.StatusCode != http.StatusTooManyRequests && got.StatusCode != http.StatusForbidden {
					t.Errorf("status %d", got.StatusCode)
				}
				if path == "/write" || path == "/api/v2/write" { // they have errors of their own
					if e := got.influx(t); e.Code == "" {
						t.Errorf("got %s", got.body)
					}
					return
				}
				if k := got.problem(t).Kind; k != "refused" && k != "unavailable" {
					t.Errorf("kind %s", k)
				}
			})
		}
	}
}

func TestASessionLivesFromLoginToLogout(t *testing.T) {
	n := start(t)
	resp := n.do("POST", "/api/v1/session", `{"token":"`+n.token+`"}`)
	c := resp.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Value == n.token || c.Secure {
		t.Errorf("the cookie is %+v", c)
	}
	cookie := func(r *http.Request) { r.AddCookie(c) }
	if got := n.do("GET", "/api/v1/session", "", cookie); got.body != `{"user":"admin","role":"administrator"}` {
		t.Errorf("the session is %d %s", got.StatusCode, got.body)
	}
	if got := n.do("DELETE", "/api/v1/session", "", cookie, header("X-Voltbus", "1")); got.StatusCode != http.StatusNoContent {
		t.Errorf("logout gives %d", got.StatusCode)
	}
	if got := n.do("GET", "/api/v1/session", "", cookie); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the logout the session gives %d", got.StatusCode)
	}
}

func TestASessionExpires(t *testing.T) {
	n := start(t)
	cookie := n.login()
	n.clock.advance(identity.SessionLife - time.Second)
	if got := n.do("GET", "/api/v1/session", "", cookie); got.StatusCode != http.StatusOK {
		t.Errorf("a second before its end it gives %d", got.StatusCode)
	}
	n.clock.advance(time.Second)
	if got := n.do("GET", "/api/v1/session", "", cookie); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("at its end it gives %d", got.StatusCode)
	}
}

func TestAttackWrongTokensAreLimited(t *testing.T) {
	n := start(t)
	wrong := `{"token":"` + strings.Repeat("b", 43) + `"}`
	for i := range 10 {
		if got := n.do("POST", "/api/v1/session", wrong); got.StatusCode != http.StatusUnauthorized {
			t.Fatalf("attempt %d gives %d", i+1, got.StatusCode)
		}
	}
	if got := n.do("POST", "/api/v1/session", wrong); got.StatusCode != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "3" {
		t.Errorf("after ten wrong tokens another gives %d", got.StatusCode)
	}
	n.login() // who has the right one is not locked out
	if got := n.do("GET", "/api/v1/version", "", header("Authorization", "Bearer "+strings.Repeat("b", 43))); got.StatusCode != http.StatusTooManyRequests {
		t.Errorf("after ten wrong tokens another gives %d", got.StatusCode)
	}
	if got := n.get("/api/v1/version"); got.StatusCode != http.StatusOK {
		t.Errorf("a program with the right token is locked out: %d", got.StatusCode)
	}
	n.clock.advance(4 * time.Second)
	if got := n.do("POST", "/api/v1/session", wrong); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("a while later one gives %d", got.StatusCode)
	}
}

func TestAttackRolesLimitWhatCanBeCalled(t *testing.T) {
	n := start(t)
	token, err := n.logins.Issue(t.Context(), identity.User{Name: "eve", Role: identity.Viewer})
	must(t, err)
	viewer := header("Authorization", "Bearer "+token)
	if got := n.do("GET", "/api/v1/latest", "", viewer); got.StatusCode != http.StatusOK {
		t.Errorf("a viewer gets %d for newest values", got.StatusCode)
	}
	got := n.do("POST", "/api/v1/sql", `{"statement":"SELECT 1"}`, viewer)
	if p := got.problem(t); got.StatusCode != http.StatusForbidden || p.Subject != "eve" || !strings.Contains(p.Detail, "engineer") {
		t.Errorf("a viewer gets %+v for SQL", p)
	}
}

func TestOtherSitesCannotActThroughABrowser(t *testing.T) {
	n := start(t)
	cookie := n.login()
	statement := `{"statement":"SELECT 1"}`
	tests := []struct {
		name    string
		method  string
		path    string
		body    string
		options []option
		want    int
	}{
		{"a change with the cookie alone", "POST", "/api/v1/sql", statement, []option{cookie}, 403},
		{"a change from another site", "POST", "/api/v1/sql", statement, []option{cookie, header("Sec-Fetch-Site", "cross-site")}, 403},
		{"a change from a neighbour's port", "POST", "/api/v1/sql", statement, []option{cookie, header("Sec-Fetch-Site", "same-site")}, 403},
		{"a logout with the cookie alone", "DELETE", "/api/v1/session", "", []option{cookie}, 403},
		{"a change from our page", "POST", "/api/v1/sql", statement, []option{cookie, header("Sec-Fetch-Site", "same-origin")}, 200},
		{"a change with our header", "POST", "/api/v1/sql", statement, []option{cookie, header("X-Voltbus", "1")}, 200},
		{"a change with a token", "POST", "/api/v1/sql", statement, []option{n.bearer()}, 200},
		{"a login from another site", "POST", "/api/v1/session", `{"token":"` + n.token + `"}`, []option{header("Sec-Fetch-Site", "cross-site")}, 403},
		{"a form instead of JSON", "POST", "/api/v1/session", `token=x`, []option{header("Content-Type", "application/x-www-form-urlencoded")}, 415},
		{"a name that was rebound to us", "GET", "/api/v1/health", "", []option{host("evil.example:8080")}, 421},
		{"a page under a name that was rebound to us", "GET", "/", "", []option{host("evil.example")}, 421},
		{"localhost with a port", "GET", "/api/v1/health", "", []option{host("LOCALHOST:8080")}, 200},
		{"the address of IPv6", "GET", "/api/v1/health", "", []option{host("[::1]:8080")}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := n.do(tt.method, tt.path, tt.body, tt.options...); got.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %.200s", got.StatusCode, tt.want, got.body)
			}
		})
	}
}

func TestNoChangeIsMadeWithTheCookieAlone(t *testing.T) {
	n := start(t)
	cookie := n.login()
	for op := range api.Parameters() {
		method, path, _ := strings.Cut(op, " ")
		// A login and the first administrator need none.
		if method == "GET" || op == "POST /api/v1/session" || op == "POST /api/v1/setup" {
			continue
		}
		if got := n.do(method, path, "{}", cookie); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s gives %d", op, got.StatusCode)
		}
	}
	if got := n.do("GET", "/api/v1/session", "", cookie); got.StatusCode != http.StatusOK {
		t.Errorf("afterwards the session gives %d", got.StatusCode)
	}
}

func TestAWrongNameIsToldWhichAreRight(t *testing.T) {
	n := start(t)
	p := n.do("GET", "/api/v1/health", "", host("plant.example:8080")).problem(t)
	want := `this node does not answer by the name "plant.example"; open it as localhost, 127.0.0.1, ::1, or let it listen on another address than loopback`
	if p.Detail != want || p.Kind != "refused" {
		t.Errorf("got %+v, want %s", p, want)
	}
}

func TestHealthTellsStrangersOnlyItsStatus(t *testing.T) {
	n := start(t)
	if got := n.do("GET", "/api/v1/health", ""); got.StatusCode != 200 || got.body != `{"status":"ok"}` {
		t.Errorf("a stranger gets %d %s", got.StatusCode, got.body)
	}
	if got := n.get("/api/v1/health"); !strings.Contains(got.body, `"bus"`) || !strings.Contains(got.body, "all is well") {
		t.Errorf("an administrator gets %s", got.body)
	}
	n.state.health.Status = "failed"
	if got := n.do("GET", "/api/v1/health", ""); got.StatusCode != 503 || got.body != `{"status":"failed"}` {
		t.Errorf("when the node has failed a stranger gets %d %s", got.StatusCode, got.body)
	}
}

func TestEveryAnswerIsSafeInABrowser(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>page") })
	n := start(t, func(c *api.Config) { c.Page = page })
	for _, path := range []string{"/", "/api/v1/latest", "/api/v1/nothing", "/metrics", "/api/v1/export?pattern=**"} {
		got := n.get(path)
		h := got.Header
		policy := h.Get("Content-Security-Policy")
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") == "" ||
			!strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the headers %v", path, h)
		}
		if isJSON := strings.Contains(h.Get("Content-Type"), "json"); isJSON && strings.ContainsAny(got.body, "<>") {
			t.Errorf("%s holds markup: %.300s", path, got.body)
		}
	}
}

func TestTLSMakesTheCookieSecure(t *testing.T) {
	n := start(t)
	dir := t.TempDir()
	certs, err := pki.Open(dir, "n", nil, time.Now)
	must(t, err)
	server := &http.Server{Handler: n.server.Config.Handler, TLSConfig: certs.ServerConfig()}
	url, stop := serveTLS(t, server)
	defer stop()
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: certs.ClientConfig()}}
	defer c.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v1/session", strings.NewReader(`{"token":"`+n.token+`"}`))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != 204 || !resp.Cookies()[0].Secure {
		t.Errorf("status %d, cookies %v", resp.StatusCode, resp.Cookies())
	}
}
