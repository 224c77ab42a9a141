package api_test

import (
	"net/http"
	"strings"
	"testing"

	"voltbus/api/exchange"
	"voltbus/identity"
)

const (
	password = "correct horse battery"
	another  = "quite another secret"
)

// enter logs in by name and returns the status and the option that sends the session's cookie.
func (n *node) enter(name, password string) (int, option) {
	n.t.Helper()
	got := n.do("POST", "/api/v1/session", `{"name":"`+name+`","password":"`+password+`"}`)
	for _, c := range got.Cookies() {
		if c.Name == exchange.Cookie {
			return got.StatusCode, func(r *http.Request) { r.AddCookie(c); r.Header.Set("X-Voltbus", "1") }
		}
	}
	return got.StatusCode, nil
}

// put sends a change as the administrator.
func (n *node) put(path, body string) reply {
	n.t.Helper()
	return n.do("PUT", "/api/v1/"+path, body, n.bearer())
}

func TestTheFirstAdministratorIsAdmittedOnce(t *testing.T) {
	n := start(t)
	if got := n.do("GET", "/api/v1/setup", ""); got.body != `{"needed":true,"node":"n"}` {
		t.Errorf("before it is %s", got.body)
	}
	body := `{"administrator":"Ada","password":"` + password + `"}`
	if got := n.do("POST", "/api/v1/setup", body); got.StatusCode != 401 {
		t.Errorf("a stranger gets %d", got.StatusCode)
	}
	got := n.do("POST", "/api/v1/setup", body, n.bearer())
	if got.StatusCode != 204 || len(got.Cookies()) != 1 {
		t.Fatalf("who has the token gets %d %s", got.StatusCode, got.body)
	}
	if got := n.do("GET", "/api/v1/session", "", func(r *http.Request) { r.AddCookie(got.Cookies()[0]) }); got.body != `{"user":"ada","role":"administrator"}` {
		t.Errorf("the session is %s", got.body)
	}
	if got := n.do("GET", "/api/v1/setup", ""); got.body != `{"needed":false,"node":"n"}` {
		t.Errorf("after it is %s", got.body)
	}
	if got := n.do("POST", "/api/v1/setup", body, n.bearer()); got.problem(t).Kind != "conflict" {
		t.Errorf("again gives %d %s", got.StatusCode, got.body)
	}
}

func TestAPersonComesAndGoes(t *testing.T) {
	n := start(t)
	if got := n.put("people/Eve", `{"role":"engineer","password":"`+password+`"}`); got.StatusCode != 200 ||
		!strings.Contains(got.body, `"name":"eve","role":"engineer"`) || strings.Contains(got.body, "argon") {
		t.Fatalf("adding gives %d %s", got.StatusCode, got.body)
	}
	status, eve := n.enter("EVE", password)
	if status != 204 {
		t.Fatalf("login gives %d", status)
	}
	if got := n.do("GET", "/api/v1/people", "", eve); got.StatusCode != 403 {
		t.Errorf("an engineer gets %d for people", got.StatusCode)
	}
	n.put("people/eve", `{"role":"administrator"}`)
	if got := n.do("GET", "/api/v1/people", "", eve); got.StatusCode != 200 {
		t.Errorf("a new role does not hold at once: %d", got.StatusCode)
	}
	if got := n.do("PUT", "/api/v1/session/password", `{"old":"`+password+`","new":"`+another+`"}`, eve); got.StatusCode != 204 || len(got.Cookies()) != 1 {
		t.Errorf("a new password gives %d %s", got.StatusCode, got.body)
	}
	if got := n.do("GET", "/api/v1/session", "", eve); got.StatusCode != 401 {
		t.Errorf("a session outlives its password: %d", got.StatusCode)
	}
	if status, _ := n.enter("eve", password); status != 401 {
		t.Errorf("the old password gives %d", status)
	}
	n.put("people/bob", `{"role":"administrator","password":"`+password+`"}`)
	_, eve = n.enter("eve", another)
	if got := n.do("DELETE", "/api/v1/people/eve", "", n.bearer()); got.StatusCode != 204 {
		t.Errorf("removing gives %d %s", got.StatusCode, got.body)
	}
	if got := n.do("GET", "/api/v1/session", "", eve); got.StatusCode != 401 {
		t.Errorf("a session outlives its person: %d", got.StatusCode)
	}
	if got := n.do("DELETE", "/api/v1/people/eve", "", n.bearer()); got.problem(t).Kind != "not-found" {
		t.Errorf("removing again gives %d", got.StatusCode)
	}
}

func TestChangesOfPeopleThatAreRefused(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"administrator","password":"`+password+`"}`)
	ada := `{"role":"viewer","password":"` + another + `"}`
	tests := []struct{ name, method, path, body, kind, want string }{
		{"the last administrator becomes less", "PUT", "people/ada", `{"role":"engineer"}`, "conflict", "make another one first"},
		{"the last administrator becomes less, with a password", "PUT", "people/ADA", ada, "conflict", "make another one first"},
		{"the last administrator goes", "DELETE", "people/ada", "", "conflict", "make another one first"},
		{"the local administrator changes", "PUT", "people/admin", ada, "refused", "admin.token"},
		{"the local administrator goes", "DELETE", "people/Admin", "", "refused", "admin.token"},
		{"a new person without a password", "PUT", "people/eve", `{"role":"viewer"}`, "invalid", "needs a password"},
		{"a short password", "PUT", "people/eve", `{"role":"viewer","password":"short"}`, "invalid", "10 to 256"},
		{"a long password", "PUT", "people/eve", `{"role":"viewer","password":"` + strings.Repeat("x", 300) + `"}`, "invalid", "10 to 256"},
		{"one character as a password", "PUT", "people/eve", `{"role":"viewer","password":"xxxxxxxxxxxx"}`, "invalid", "repetition"},
		{"the name as a password", "PUT", "people/engineer42", `{"role":"viewer","password":"Engineer42"}`, "invalid", "own name"},
		{"no role", "PUT", "people/eve", `{"password":"` + another + `"}`, "invalid", "must be viewer"},
		{"the role of nobody", "PUT", "people/eve", `{"role":"nobody","password":"` + another + `"}`, "invalid", "must be viewer"},
		{"a name with markup", "PUT", "people/%3Cb%3E", ada, "invalid", "letters, digits"},
		{"a name with a slash", "PUT", "people/a%2Fb", ada, "invalid", "letters, digits"},
		{"a long name", "PUT", "people/" + strings.Repeat("a", 65), ada, "invalid", "1 to 64"},
		{"a name that is no text", "PUT", "people/%ff", ada, "invalid", "UTF-8"},
		{"the password of somebody with a token only", "PUT", "session/password", `{"old":"x","new":"` + another + `"}`, "conflict", "has no password"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := n.do(tt.method, "/api/v1/"+tt.path, tt.body, n.bearer()).problem(t)
			if p.Kind != tt.kind || !strings.Contains(p.Detail, tt.want) {
				t.Errorf("problem %+v, want %s with %q", p, tt.kind, tt.want)
			}
		})
	}
	if status, _ := n.enter("ada", password); status != 204 {
		t.Errorf("after all that the administrator's login gives %d", status)
	}
}

// A stranger learns from a wrong login neither whether the name exists nor anything else.
func TestAttackAWrongNameLooksLikeAWrongPassword(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"viewer","password":"`+password+`"}`)
	right := n.do("POST", "/api/v1/session", `{"name":"ada","password":"wrong wrong wrong"}`)
	nobody := n.do("POST", "/api/v1/session", `{"name":"eve","password":"wrong wrong wrong"}`)
	token := n.do("POST", "/api/v1/session", `{"name":"admin","password":"`+n.token+`"}`)
	if right.body != nobody.body || right.StatusCode != 401 || token.body != nobody.body {
		t.Errorf("they get %s, %s and %s", right.body, nobody.body, token.body)
	}
}

func TestALoginByNameExpires(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"viewer","password":"`+password+`"}`)
	_, ada := n.enter("ada", password)
	n.clock.advance(identity.SessionLife)
	if got := n.do("GET", "/api/v1/session", "", ada); got.StatusCode != 401 {
		t.Errorf("at its end it gives %d", got.StatusCode)
	}
}
