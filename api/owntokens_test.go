package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"voltbus/api/answer"
	"voltbus/operation/people"
)

// startWithTokens starts a node on which ada, an engineer, has logged in by password.
func startWithTokens(t *testing.T) (*node, option) {
	t.Helper()
	n := start(t)
	n.put("people/boss", `{"role":"administrator","password":"`+password+`"}`)
	n.put("people/ada", `{"role":"engineer","password":"`+password+`"}`)
	status, ada := n.enter("ada", password)
	if status != 204 {
		t.Fatalf("login gives %d", status)
	}
	return n, ada
}

// makeOwn makes a token and returns it and the option that shows it.
func (n *node) makeOwn(body string, who option) (answer.IssuedOwnToken, option) {
	n.t.Helper()
	got := n.do("POST", "/api/v1/tokens/own", body, who)
	var made answer.IssuedOwnToken
	if got.StatusCode != 200 {
		n.t.Fatalf("making %s gives %d %s", body, got.StatusCode, got.body)
	}
	must(n.t, json.Unmarshal([]byte(got.body), &made))
	return made, header("Authorization", "Bearer "+made.Token)
}

func (n *node) roleOf(who option) (int, string) {
	n.t.Helper()
	got := n.do("GET", "/api/v1/session", "", who)
	var s people.Who
	if got.StatusCode == 200 {
		must(n.t, json.Unmarshal([]byte(got.body), &s))
	}
	return got.StatusCode, s.Role
}

func TestAPersonMakesListsAndRevokesOwnTokens(t *testing.T) {
	n, ada := startWithTokens(t)
	made, program := n.makeOwn(`{"name":"notebook","role":"viewer","expires":"2026-03-02T00:00:00Z"}`, ada)
	if _, role := n.roleOf(program); role != "viewer" {
		t.Errorf("the token acts as %q", role)
	}
	list := n.do("GET", "/api/v1/tokens/own", "", ada)
	if strings.Contains(list.body, made.Token) || !strings.Contains(list.body, `"name":"notebook","role":"viewer"`) {
		t.Errorf("the list is %s", list.body)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(list.body))
	must(t, err)
	if err := schemas(t)("OwnTokens").Validate(value); err != nil {
		t.Error(err)
	}
	if got := n.do("GET", "/api/v1/tokens/own", "", n.bearer()); strings.Contains(got.body, "notebook") {
		t.Errorf("another one sees %s", got.body)
	}
	if got := n.do("DELETE", "/api/v1/tokens/own/"+made.ID, "", n.bearer()); got.StatusCode != 404 {
		t.Errorf("another one revokes with %d", got.StatusCode)
	}
	if got := n.do("DELETE", "/api/v1/tokens/own/"+made.ID, "", ada); got.StatusCode != 204 {
		t.Errorf("revoking gives %d %s", got.StatusCode, got.body)
	}
	if status, _ := n.roleOf(program); status != 401 {
		t.Errorf("a revoked token gives %d", status)
	}
}

func TestAnOwnTokenCannotClimb(t *testing.T) {
	n, ada := startWithTokens(t)
	_, viewer := n.makeOwn(`{"name":"viewer","role":"viewer"}`, ada)
	if got := n.do("GET", "/api/v1/people", "", viewer); got.StatusCode != 403 {
		t.Errorf("it reads people: %d", got.StatusCode)
	}
	if got := n.do("POST", "/api/v1/tokens/own", `{"name":"x","role":"engineer"}`, viewer); got.problem(t).Kind != "refused" {
		t.Errorf("it makes one with the role of its owner: %s", got.body)
	}
	login := n.do("POST", "/api/v1/session", `{"token":"`+tokenOf(viewer)+`"}`)
	session := func(r *http.Request) { r.AddCookie(login.Cookies()[0]); r.Header.Set("X-Voltbus", "1") }
	if _, role := n.roleOf(session); role != "viewer" {
		t.Errorf("a session that it opened acts as %q", role)
	}
	if got := n.do("POST", "/api/v1/tokens/own", `{"name":"x","role":"engineer"}`, session); got.problem(t).Kind != "refused" {
		t.Errorf("that session makes one with the role of the owner: %s", got.body)
	}
	_, engineer := n.makeOwn(`{"name":"engineer","role":"engineer"}`, ada)
	n.put("people/ada", `{"role":"viewer"}`)
	if _, role := n.roleOf(engineer); role != "viewer" {
		t.Errorf("after its owner became viewer it acts as %q", role)
	}
	n.do("DELETE", "/api/v1/people/ada", "", n.bearer())
	if status, _ := n.roleOf(engineer); status != 401 {
		t.Errorf("it outlives its owner: %d", status)
	}
}

// tokenOf returns the token that an option shows.
func tokenOf(o option) string {
	r := &http.Request{Header: http.Header{}}
	o(r)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func TestAnOwnTokenTakesAlongWhatWasMadeWithIt(t *testing.T) {
	n, ada := startWithTokens(t)
	made, first := n.makeOwn(`{"name":"first","role":"viewer","expires":"2026-03-02T00:00:00Z"}`, ada)
	login := n.do("POST", "/api/v1/session", `{"token":"`+made.Token+`"}`)
	session := func(r *http.Request) { r.AddCookie(login.Cookies()[0]); r.Header.Set("X-Voltbus", "1") }
	for name, who := range map[string]option{"the token": first, "its session": session} {
		if got := n.do("POST", "/api/v1/tokens/own", `{"name":"for ever","role":"viewer"}`, who); got.problem(t).Kind != "refused" {
			t.Errorf("%s makes one that outlives it: %s", name, got.body)
		}
	}
	_, second := n.makeOwn(`{"name":"second","role":"viewer","expires":"2026-03-01T23:00:00Z"}`, first)
	_, third := n.makeOwn(`{"name":"third","role":"viewer","expires":"2026-03-01T23:00:00Z"}`, session)
	n.do("DELETE", "/api/v1/tokens/own/"+made.ID, "", ada)
	for name, who := range map[string]option{"made with it": second, "its session": session, "made in its session": third} {
		if status, _ := n.roleOf(who); status != 401 {
			t.Errorf("%s: %d after it was revoked", name, status)
		}
	}
}

func TestAnOwnTokenEnds(t *testing.T) {
	n, ada := startWithTokens(t)
	made, program := n.makeOwn(`{"name":"short","role":"viewer","expires":"2026-03-01T14:00:00Z"}`, ada)
	login := n.do("POST", "/api/v1/session", `{"token":"`+made.Token+`"}`)
	session := func(r *http.Request) { r.AddCookie(login.Cookies()[0]) }
	n.clock.advance(time.Hour)
	for name, who := range map[string]option{"the token": program, "its session": session} {
		if status, _ := n.roleOf(who); status != 401 {
			t.Errorf("%s outlives its end: %d", name, status)
		}
	}
	n.makeOwn(`{"name":"short","role":"viewer"}`, ada) // its name is free again
}

func TestOwnTokensThatAreRefused(t *testing.T) {
	n, ada := startWithTokens(t)
	n.makeOwn(`{"name":"taken","role":"viewer"}`, ada)
	tests := []struct{ name, body, kind, want string }{
		{"a role above the own", `{"name":"a","role":"administrator"}`, "refused", "you act as engineer"},
		{"no role", `{"name":"a"}`, "invalid", "must be viewer"},
		{"the role of nobody", `{"name":"a","role":"nobody"}`, "invalid", "must be viewer"},
		{"no name", `{"name":" ","role":"viewer"}`, "invalid", "1 to 64"},
		{"a long name", `{"name":"` + strings.Repeat("a", 65) + `","role":"viewer"}`, "invalid", "1 to 64"},
		{"a name with a line end", `{"name":"a\nb","role":"viewer"}`, "invalid", "printable"},
		{"a name that is taken", `{"name":"taken","role":"viewer"}`, "conflict", "of this name already"},
		{"an end in the past", `{"name":"a","role":"viewer","expires":"2026-03-01T12:59:59Z"}`, "invalid", "later than now"},
		{"an end that is no time", `{"name":"a","role":"viewer","expires":"tomorrow"}`, "invalid", "2027-01-31"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := n.do("POST", "/api/v1/tokens/own", tt.body, ada).problem(t)
			if p.Kind != tt.kind || !strings.Contains(p.Detail, tt.want) {
				t.Errorf("problem %+v, want %s with %q", p, tt.kind, tt.want)
			}
		})
	}
	if got := n.do("GET", "/api/v1/tokens/own", ""); got.StatusCode != 401 {
		t.Errorf("a stranger gets %d", got.StatusCode)
	}
}
