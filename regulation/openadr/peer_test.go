package openadr_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"voltbus/internal/await"
	"voltbus/regulation/openadr"
)

// peerEnv names the server of the crate openadr 0.4 for Rust, with its features internal-auth and webhook.
const peerEnv = "VOLTBUS_PEER_OPENADR"

// peer starts the server on a free port of this machine, and returns where its API is.
func peer(t *testing.T) string {
	t.Helper()
	program := os.Getenv(peerEnv)
	if program == "" {
		t.Skip("set " + peerEnv + ` to the program of "cargo install openadr@0.4.0 --features internal-auth,webhook"`)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	must(t, listener.Close())
	var log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, "vtn", "--listen", address, "--client", "bl:secret:bl", "--client", "ven:"+secret+":ven", "--webhooks", "--webhook-allow-private") //nolint:gosec // the peer
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	url := "http://" + address + "/openadr3/3.1.0"
	c, err := openadr.New(openadr.Config{URL: url, ID: "bl", Secret: "secret"})
	must(t, err)
	await.Until(t, "the server answers", func() bool {
		_, err = c.Programs(t.Context(), "")
		return err == nil
	}, func() string { return fmt.Sprint(err) })
	return url
}

// business does what the operator of the server does.
type business struct {
	t          *testing.T
	url, token string
}

func newBusiness(t *testing.T, url string) *business {
	t.Helper()
	b := &business{t: t, url: url}
	var got map[string]any
	res, err := http.Post(url+"/auth/token", "application/x-www-form-urlencoded", strings.NewReader("grant_type=client_credentials&client_id=bl&client_secret=secret"))
	must(t, err)
	defer res.Body.Close()
	must(t, json.NewDecoder(res.Body).Decode(&got))
	b.token, _ = got["access_token"].(string)
	return b
}

// create posts an object and returns its id.
func (b *business) create(path string, object map[string]any) string {
	b.t.Helper()
	body, err := json.Marshal(object)
	must(b.t, err)
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+"/"+path, bytes.NewReader(body))
	must(b.t, err)
	req.Header.Set("Authorization", "Bearer "+b.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(b.t, err)
	defer res.Body.Close()
	var got map[string]any
	must(b.t, json.NewDecoder(res.Body).Decode(&got))
	if res.StatusCode != http.StatusCreated {
		b.t.Fatalf("%s: %s %v", path, res.Status, got)
	}
	id, _ := got["id"].(string)
	return id
}

func TestAServerOfOthersGivesPricesAndCallsBack(t *testing.T) {
	url := peer(t)
	b := newBusiness(t, url)
	program := b.create("programs", map[string]any{"programName": "tariff"})
	begin := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 60 {
		e := prices("", begin.AddDate(0, 0, i), 5, float64(i), 0.5)
		delete(e, "id")
		delete(e, "modificationDateTime")
		e["programID"], e["eventName"] = program, fmt.Sprintf("day %d", i)
		b.create("events", e)
	}
	c, err := openadr.New(openadr.Config{URL: url, ID: "ven", Secret: secret})
	must(t, err)
	events, err := c.Events(t.Context(), program)
	must(t, err)
	if len(events) != 60 {
		t.Fatalf("%d events", len(events))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	courses := make(chan *openadr.Course)
	w := openadr.NewWatch(openadr.Watch{Client: c, Program: "tariff", Payload: openadr.Price, Poll: time.Hour, Bearer: "b-1234567890", Changed: func(c *openadr.Course) { courses <- c }})
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	first := <-courses
	if v, ok := first.At(begin.AddDate(0, 0, 59).Add(30 * time.Minute)); !ok || v != 59 || first.Currency != "EUR" {
		t.Errorf("%g %t %q", v, ok, first.Currency)
	}
	callback := httptest.NewServer(w)
	defer callback.Close()
	s, err := c.Subscribe(ctx, "ven", program, callback.URL, "b-1234567890")
	must(t, err)
	e := prices("", begin.AddDate(0, 0, 59), 1, 99)
	delete(e, "id")
	delete(e, "modificationDateTime")
	e["programID"] = program
	b.create("events", e)
	if v, _ := (<-courses).At(begin.AddDate(0, 0, 59).Add(30 * time.Minute)); v != 99 {
		t.Errorf("the event of higher priority does not count: %g", v)
	}
	must(t, c.Unsubscribe(ctx, s.ID))
	cancel()
	must(t, <-done)
}
