package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/history"
)

// person returns the option that sends the token of a new viewer.
func (n *node) person(name string) option {
	n.t.Helper()
	token, err := n.logins.Issue(n.t.Context(), identity.User{Name: name, Role: identity.Viewer})
	must(n.t, err)
	return header("Authorization", "Bearer "+token)
}

// hold opens something that lasts, until the test ends.
func (n *node) hold(path string, who option) int {
	n.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	n.t.Cleanup(leave)
	resp, err := n.open(ctx, "GET", path, "", who)
	must(n.t, err)
	n.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode
}

func TestAttackOnePersonTakesNotAllStreams(t *testing.T) {
	n := start(t)
	eve, ada := n.person("eve"), n.person("ada")
	for i := range 64 {
		if got := n.hold("/api/v1/stream", eve); got != 200 {
			t.Fatalf("stream %d gives %d", i+1, got)
		}
	}
	got := n.do("GET", "/api/v1/stream", "", eve)
	if p := got.problem(t); p.Status != 429 || got.Header.Get("Retry-After") == "" || !strings.Contains(p.Detail, "eve has 64 streams") {
		t.Errorf("one more gives %+v", p)
	}
	if got := n.hold("/api/v1/stream", ada); got != 200 {
		t.Errorf("somebody else gets %d", got)
	}
}

func TestAttackExportsThatNobodyReadsAreBounded(t *testing.T) {
	e := endless{ended: make(chan error, 100)}
	n := start(t, withEngine(func(of history.Engine) history.Engine { e.Engine = of; return e }), func(c *api.Config) { c.WriteTimeout = time.Minute })
	const export = "/api/v1/export?point=site/temp&format=csv"
	for _, name := range []string{"eve", "bob", "kim", "pat"} {
		who := n.person(name)
		for i := range 4 {
			if got := n.hold(export, who); got != 200 {
				t.Fatalf("export %d of %s gives %d", i+1, name, got)
			}
		}
		if p := n.do("GET", export, "", who).problem(t); p.Status != 429 || !strings.Contains(p.Detail, "4 exports") {
			t.Errorf("one more of %s gives %+v", name, p)
		}
	}
	if p := n.do("GET", export, "", n.person("ada")).problem(t); p.Status != 503 || !strings.Contains(p.Detail, "too many exports") {
		t.Errorf("one more of all gives %+v", p)
	}
}

func TestAttackAnExportThatIsNotReadEnds(t *testing.T) {
	e := endless{ended: make(chan error, 1)}
	n := start(t, withEngine(func(of history.Engine) history.Engine { e.Engine = of; return e }), func(c *api.Config) { c.WriteTimeout = 50 * time.Millisecond })
	if got := n.hold("/api/v1/export?point=site/temp&format=csv", n.bearer()); got != 200 {
		t.Fatalf("it gives %d", got)
	}
	if err := <-e.ended; !fault.Is(err, fault.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// half sends a request without the end of its body, and returns the connection.
func (n *node) half(request string) net.Conn {
	n.t.Helper()
	c, err := net.Dial("tcp", n.server.Listener.Addr().String())
	must(n.t, err)
	n.t.Cleanup(func() { _ = c.Close() })
	_, err = io.WriteString(c, request)
	must(n.t, err)
	return c
}

// A body that stops half-way ends its request and its connection, whoever sends it and whether somebody reads it.
func TestAttackAHalfSentBodyEnds(t *testing.T) {
	n := start(t, func(c *api.Config) { c.BodyGrace = 50 * time.Millisecond })
	const rest = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"a login":                 {"POST /api/v1/session HTTP/1.1\r\n" + rest, 408},
		"samples":                 {"POST /api/v1/samples HTTP/1.1\r\n" + rest + "Authorization: Bearer " + n.token + "\r\n", 503}, // no recorder is here
		"a change by a stranger":  {"PUT /api/v1/people/eve HTTP/1.1\r\n" + rest, 401},
		"an address of nothing":   {"POST /api/v1/nothing HTTP/1.1\r\n" + rest, 404},
		"a body where none is":    {"GET /api/v1/health HTTP/1.1\r\n" + rest, 200},
		"a body for the page":     {"POST / HTTP/1.1\r\n" + rest, 404},
		"a body that is in parts": {"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n", 408},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := bufio.NewReader(n.half(test.request + "\r\n{"))
			resp, err := http.ReadResponse(r, nil)
			must(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			must(t, err)
			_ = resp.Body.Close()
			if resp.StatusCode != test.status {
				t.Errorf("it gives %d, want %d", resp.StatusCode, test.status)
			}
			if _, err := r.ReadByte(); err == nil {
				t.Error("something comes behind the answer")
			} // the connection has ended
		})
	}
}

// slowly gives bytes one by one, each when the one before was taken.
type slowly struct{ left int }

func (s *slowly) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	s.left--
	return copy(p, " "), nil
}

func TestALongBodyThatComesStepByStepIsTaken(t *testing.T) {
	n := start(t)
	body := io.MultiReader(&slowly{left: 3000}, strings.NewReader(fmt.Sprintf(`{"token":%q}`, n.token)))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url+"/api/v1/session", body)
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := n.server.Client().Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != 204 {
		t.Errorf("it gives %d", resp.StatusCode)
	}
}

// patientDevices are listed when it is time.
type patientDevices struct {
	asked chan struct{}
	now   chan struct{}
}

func (p patientDevices) Devices(context.Context) ([]answer.Device, error) {
	p.asked <- struct{}{}
	<-p.now
	return nil, nil
}

// patientRemote is other nodes, which answer when they are let.
type patientRemote struct{ patientDevices }

func (p patientRemote) Self(string) bool          { return false }
func (p patientRemote) Role(string) identity.Role { return identity.Viewer }

func (p patientRemote) Ask(context.Context, *operation.Caller, exchange.RemoteCall) (json.RawMessage, error) {
	p.asked <- struct{}{}
	<-p.now
	return json.RawMessage("1"), nil
}

// Two million numbers are 4 MB of text and take more than 100 MB when they are read.
func TestAttackBodiesOfManySmallValuesLeaveMemoryForOthers(t *testing.T) {
	p := patientRemote{patientDevices{asked: make(chan struct{}), now: make(chan struct{})}}
	n := start(t, func(c *api.Config) { c.Remote = p })
	eve, ada := n.person("eve"), n.person("ada")
	ask := func(numbers int, who option) reply {
		body := `{"agent":"node","method":"ping","args":[` + strings.Repeat("1,", numbers) + `1]}`
		return n.do("POST", "/api/v1/nodes/plant/call", body, who, header("Content-Type", "application/json"))
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if got := ask(2_000_000, eve); got.StatusCode != 200 {
				t.Errorf("a heavy call gives %d", got.StatusCode)
				p.asked <- struct{}{}
			}
		})
		<-p.asked
	}
	if q := ask(2_000_000, eve).problem(t); q.Status != 429 || !strings.Contains(q.Detail, "bytes of bodies") {
		t.Errorf("one more gives %+v", q)
	}
	for _, who := range []option{eve, ada} {
		running.Go(func() {
			if got := ask(1, who); got.StatusCode != 200 {
				t.Errorf("a light call gives %d", got.StatusCode)
				p.asked <- struct{}{}
			}
		})
		<-p.asked
	}
	close(p.now)
	running.Wait()
}

func TestAttackRequestsOfOnePersonAreBounded(t *testing.T) {
	p := patientDevices{asked: make(chan struct{}), now: make(chan struct{})}
	n := start(t, func(c *api.Config) { c.Devices = p })
	eve, ada := n.person("eve"), n.person("ada")
	var running sync.WaitGroup
	for range 256 {
		running.Go(func() { _ = n.hold("/api/v1/devices", eve) })
		<-p.asked
	}
	if q := n.do("GET", "/api/v1/devices", "", eve).problem(t); q.Status != 429 || !strings.Contains(q.Detail, "eve has 256 requests") {
		t.Errorf("one more gives %+v", q)
	}
	if got := n.do("GET", "/api/v1/version", "", ada); got.StatusCode != 200 {
		t.Errorf("somebody else gets %d", got.StatusCode)
	}
	close(p.now)
	running.Wait()
	if got := n.do("GET", "/api/v1/version", "", eve); got.StatusCode != 200 {
		t.Errorf("afterwards eve gets %d", got.StatusCode)
	}
}
