package api_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"voltbus/agent"
	"voltbus/api"
	"voltbus/fault"
)

// sending is a request whose body is held in the middle until the test goes on.
type sending struct {
	n    *node
	rest func() error
	got  chan answered
}

type answered struct {
	status int
	body   string
	err    error
}

// sendHalf sends the beginning of a body with PUT, and returns when a route reads it.
func (n *node) sendHalf(path, media, first, rest string, change ...option) *sending {
	n.t.Helper()
	body, w := io.Pipe()
	reads := make(chan struct{})
	ctx := httptrace.WithClientTrace(n.t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reads) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, n.url+"/api/v1"+path, body)
	must(n.t, err)
	req.Header.Set("Content-Type", media)
	req.Header.Set("Expect", "100-continue") // the server answers it when the route begins to read
	for _, f := range change {
		f(req)
	}
	client := n.server.Client()
	patient, ok := client.Transport.(*http.Transport)
	if !ok {
		n.t.Fatal("the client has another transport")
	}
	patient = patient.Clone()
	patient.ExpectContinueTimeout = time.Hour // the body waits for the server
	patient.DisableKeepAlives = true
	s := &sending{n: n, got: make(chan answered, 1)}
	go func() {
		resp, err := patient.RoundTrip(req)
		if err != nil {
			s.got <- answered{err: err}
			return
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		s.got <- answered{resp.StatusCode, string(text), err}
	}()
	s.rest = func() error {
		_, err := io.WriteString(w, rest)
		if err == nil {
			err = w.Close()
		}
		return err
	}
	select {
	case <-reads:
	case early := <-s.got:
		n.t.Fatalf("answered before it was read: %+v", early)
	}
	_, err = io.WriteString(w, first)
	must(n.t, err)
	return s
}

// end sends the rest, and returns the answer.
func (s *sending) end() answered {
	s.n.t.Helper()
	must(s.n.t, s.rest())
	return <-s.got
}

// A role that was taken away while a body arrived is no role for what the body asks for.
func TestAttackAHeldBodyDoesNotKeepARole(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"administrator","password":"`+password+`"}`)
	n.put("people/eve", `{"role":"administrator","password":"`+password+`"}`)
	_, eve := n.enter("eve", password)
	origin := header("Origin", n.url)
	held := n.sendHalf("/people/eve", "application/json", `{"role":"admin`, `istrator"}`, eve, origin)
	n.put("people/eve", `{"role":"viewer"}`)
	if got := held.end(); got.status != http.StatusForbidden && got.status != http.StatusUnauthorized {
		t.Errorf("who was made a viewer makes themself an administrator: %+v", got)
	}
	people := n.get("/api/v1/people").body
	if !strings.Contains(people, `"name":"eve","role":"viewer"`) {
		t.Errorf("%s", people)
	}
}

func TestAttackAHeldBodyDoesNotOutliveALogin(t *testing.T) {
	n := start(t)
	n.put("people/ada", `{"role":"administrator","password":"`+password+`"}`)
	n.put("people/eve", `{"role":"administrator","password":"`+password+`"}`)
	_, eve := n.enter("eve", password)
	held := n.sendHalf("/people/mallory", "application/json", `{"role":"admin`, `istrator","password":"`+password+`"}`, eve, header("Origin", n.url))
	if got := n.do("DELETE", "/api/v1/people/eve", "", n.bearer()); got.StatusCode != http.StatusNoContent {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	if got := held.end(); got.status != http.StatusUnauthorized {
		t.Errorf("who was removed admits somebody: %+v", got)
	}
}

// withRunningAgents gives a node a supervisor that runs.
func withRunningAgents(t *testing.T) func(*api.Config) {
	t.Helper()
	s, err := agent.Open(agent.Config{Data: t.TempDir(), Isolation: agent.Off, Restart: agent.Always, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	for runs := false; !runs; { // before it runs, it takes no upload
		_, err := s.Install(ctx, agent.Request{Name: "none", Upload: strings.NewReader("")})
		runs = !fault.Is(err, fault.Unavailable)
	}
	return func(c *api.Config) { c.Processes = s }
}

// packed is what voltbus agent install sends, with a wheel that cannot be installed.
func packed(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	must(t, tw.WriteHeader(&tar.Header{Name: "source/toy-1.0-py3-none-any.whl", Typeflag: tar.TypeReg, Size: 1, Mode: 0o600}))
	_, err := tw.Write([]byte("x"))
	must(t, err)
	must(t, tw.Close())
	must(t, zw.Close())
	return b.String()
}

func TestAttackAHeldUploadDoesNotKeepARole(t *testing.T) {
	n := start(t, withRunningAgents(t))
	n.put("people/eve", `{"role":"engineer","password":"`+password+`"}`)
	_, eve := n.enter("eve", password)
	whole := packed(t)
	held := n.sendHalf("/agents/toy/process?grant=none", "application/gzip",
		whole[:len(whole)/2], whole[len(whole)/2:], eve, header("Origin", n.url))
	n.put("people/eve", `{"role":"viewer"}`)
	if got := held.end(); got.status != http.StatusForbidden && got.status != http.StatusUnauthorized {
		t.Errorf("who was made a viewer installs an agent: %+v", got)
	}
}
