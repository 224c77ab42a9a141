package node_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/metering"
)

const concentratorEnv = "VOLTBUS_TEST_CONCENTRATOR"

// concentratorChild runs a node in a folder with a configuration, and prints where it listens, until it is killed.
func concentratorChild(arguments string) {
	dir, text, _ := strings.Cut(arguments, "|")
	n, err := open(load(&testing.T{}, dir, text))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("http", n.HTTPAddr())
	fmt.Println("error", n.Run(context.Background()))
}

// concentratorProcess starts a node in a process of its own, and returns a client of it.
func concentratorProcess(t *testing.T, dir, text string) (*running, func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), concentratorEnv+"="+dir+"|"+text)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "http ") {
		t.Fatalf("the process says %q", lines.Text())
	}
	token, err := identity.ReadToken(filepath.Join(dir, "data", identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(strings.TrimPrefix(lines.Text(), "http "), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &running{t: t, Client: c}, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	}
}

// between stands between a concentrator and a system.
type between struct {
	*httptest.Server
	drops  atomic.Bool // nothing gets through
	silent atomic.Bool // requests get through, and answers do not
	came   chan struct{}
}

func newBetween(t *testing.T, system string) *between {
	t.Helper()
	b := &between{came: make(chan struct{}, 1000)}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if b.drops.Load() {
			b.came <- struct{}{}
			<-r.Context().Done()
			return
		}
		q, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, system+r.URL.Path, strings.NewReader(string(body)))
		if err != nil {
			t.Error(err)
			return
		}
		q.Header = r.Header.Clone()
		got, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Error(err)
			return
		}
		defer got.Body.Close()
		answer, err := io.ReadAll(got.Body)
		if err != nil {
			t.Error(err)
			return
		}
		if b.silent.Load() {
			b.came <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
		w.WriteHeader(got.StatusCode)
		_, _ = w.Write(answer)
	}))
	t.Cleanup(b.Close)
	return b
}

func TestAConcentratorThatIsKilledLosesNothingAndCountsNothingTwice(t *testing.T) {
	mds, token := meteringNode(t, "meters")
	way := newBetween(t, mds.HTTPAddr())
	dir := t.TempDir()
	text := concentratorOf("bulk: 4\n    age: 20ms", fmt.Sprintf("url: %q, token_file: %q", way.URL, tokenFile(t, token)))
	start := someDay(t)
	next := 0
	send := func(r *running, n int) {
		for range n {
			next++
			r.single("m1", start.Add(time.Duration(next)*15*time.Minute), float64(next))
		}
	}
	for round := range 4 {
		way.drops.Store(round%2 == 0)  // killed between the commit and the send
		way.silent.Store(round%2 == 1) // killed between the commit of the system and the answer
		for len(way.came) > 0 {
			<-way.came
		}
		r, kill := concentratorProcess(t, dir, text)
		send(r, 6)
		<-way.came
		kill()
	}
	way.drops.Store(false)
	way.silent.Store(false)
	r, kill := concentratorProcess(t, dir, text)
	defer kill()
	send(r, 6)
	missingOf(t, mds.Client, "2026-03-03", uint64(next))
	eventually(t, "all is answered", func() bool { return concentration(t, r).Waiting == 0 })
	if got := concentration(t, r); got.Taken != uint64(next) || got.Sent != uint64(next) || got.Refused != 0 || got.Lost != 0 {
		t.Errorf("of %d: %+v", next, got)
	}
	versions, err := client.Do(t.Context(), mds.Client, metering.Readings, metering.Span{
		ID: metering.ID{Meter: "m1"}, Channel: 1, From: start.Format(time.RFC3339), To: start.Add(24 * time.Hour).Format(time.RFC3339), Versions: true,
	})
	if err != nil || len(versions.Readings) != next {
		t.Errorf("%d versions of %d readings, %v", len(versions.Readings), next, err)
	}
}
