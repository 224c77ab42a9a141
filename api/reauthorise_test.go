package api_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"voltbus/api"
	"voltbus/identity"
	"voltbus/operation/history"
)

// looksOften lets a server look often whether those who are being answered may still ask.
func looksOften(c *api.Config) { c.Look = time.Millisecond }

// programOf returns a token of a person for a program, and what takes it back.
func (n *node) programOf(name string, role identity.Role) (who option, revoke func()) {
	n.t.Helper()
	token, err := n.logins.Issue(n.t.Context(), identity.User{Name: name, Role: role})
	must(n.t, err)
	own, made, err := n.logins.IssueOwn(n.t.Context(), identity.Shown{Purpose: identity.Token, Secret: token}, identity.OwnToken{Name: "program", Role: role})
	must(n.t, err)
	return header("Authorization", "Bearer "+own), func() {
		_, err := n.logins.RevokeOwn(n.t.Context(), name, made.ID)
		must(n.t, err)
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	must(t, err)
	must(t, w.Close())
	return b.String()
}

// Readings whose sender lost the token while they arrived are not recorded, whatever they came in.
func TestAttackReadingsThatArriveAfterTheirTokenWasRevokedAreNotRecorded(t *testing.T) {
	const lines = "a/b,t=c v=1.5\na/b,t=c v=2.5"
	for name, test := range map[string]struct {
		path, body string
		options    []option
	}{
		"as they are":                  {"/samples", lines, nil},
		"compressed":                   {"/samples", zipped(t, lines), []option{header("Content-Encoding", "gzip")}},
		"with an idempotency key":      {"/samples", lines, []option{header("Idempotency-Key", "k")}},
		"by a token that only records": {"/samples", lines, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n, rec := startIngest(t)
			who, revoke := n.programOf("eve", identity.Operator)
			if strings.HasPrefix(name, "by a token") {
				secret, err := n.logins.IssueRecord(t.Context(), "logger", "")
				must(t, err)
				who, revoke = header("Authorization", "Bearer "+secret), func() { must(t, n.logins.RevokeRecord(t.Context(), "logger")) }
			}
			half := len(test.body) / 2
			post := func(r *http.Request) { r.Method = http.MethodPost }
			held := n.sendHalf(test.path, "text/plain", test.body[:half], test.body[half:], append(test.options, who, post)...)
			revoke()
			if got := held.end(); got.status != http.StatusUnauthorized {
				t.Errorf("it gives %+v", got)
			}
			if len(rec.samples) != 0 {
				t.Errorf("recorded %v", rec.samples)
			}
		})
	}
}

// keepBusy has a stream always have something to send, no more than its reader takes, and returns its last line once it ended.
func (n *node) keepBusy(stream io.Reader) <-chan string {
	ended, room := make(chan string, 1), make(chan struct{}, 16)
	fill := func() {
		for len(room) < cap(room) {
			room <- struct{}{}
		}
	}
	fill()
	go func() {
		for range room {
			n.live.publish(json.RawMessage(`{"device":"site"}`))
		}
	}()
	go func() {
		defer close(room)
		last := ""
		for lines := bufio.NewScanner(stream); lines.Scan(); fill() {
			if lines.Text() != "" {
				last = lines.Text()
			}
		}
		ended <- last
	}()
	return ended
}

// What is being answered ends when its reader may no longer ask for it, however busy it is.
func TestAttackWhatIsReadEndsWithTheRole(t *testing.T) {
	e := endless{ended: make(chan error, 1)}
	n := start(t, looksOften, withEngine(func(of history.Engine) history.Engine { e.Engine = of; return e }), func(c *api.Config) { c.Gather = time.Nanosecond })
	who, revoke := n.programOf("eve", identity.Engineer)
	stream, err := n.open(t.Context(), "GET", "/api/v1/stream", "", who)
	must(t, err)
	defer stream.Body.Close()
	ended := n.keepBusy(stream.Body)
	export, err := n.open(t.Context(), "GET", "/api/v1/export?point=site/temp&format=csv", "", who)
	must(t, err)
	defer export.Body.Close()
	statement := make(chan reply, 1)
	go func() { statement <- n.do("POST", "/api/v1/sql", `{"statement":"hang"}`, who) }()
	<-n.state.hanging
	revoke()
	last := <-ended
	if !strings.Contains(last, `"status":401`) {
		t.Errorf("the stream ends with %.300s", last)
	}
	if _, err := io.Copy(io.Discard, export.Body); err == nil {
		t.Error("the export ends as if it were whole")
	}
	if err := <-e.ended; err == nil {
		t.Error("the export ends without an error")
	}
	if got := <-statement; got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the statement gives %d %s", got.StatusCode, got.body)
	}
}

// A role that is lowered ends what needs the one before, and nothing else.
func TestAttackARoleThatIsLoweredEndsOnlyWhatNeedsIt(t *testing.T) {
	n := start(t, looksOften)
	n.put("people/ada", `{"role":"administrator","password":"`+password+`"}`)
	n.put("people/eve", `{"role":"engineer","password":"`+password+`"}`)
	_, eve := n.enter("eve", password)
	stream, err := n.open(t.Context(), "GET", "/api/v1/stream", "", eve)
	must(t, err)
	defer stream.Body.Close()
	statement := make(chan reply, 1)
	go func() { statement <- n.do("POST", "/api/v1/sql", `{"statement":"hang"}`, eve, header("Origin", n.url)) }()
	<-n.state.hanging
	n.put("people/eve", `{"role":"viewer"}`)
	if got := <-statement; got.StatusCode != http.StatusForbidden && got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the statement gives %d %s", got.StatusCode, got.body)
	}
	_, eve = n.enter("eve", password)
	if got := n.do("POST", "/api/v1/sql", `{"statement":"hang"}`, eve, header("Origin", n.url)); got.StatusCode != http.StatusForbidden {
		t.Errorf("another one gives %d", got.StatusCode)
	}
}
