package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/node"
	"voltbus/operation/auditlog"
)

const filesEnv = "VOLTBUS_TEST_FILES"

// filesChild runs a node in dir, prints what it logs, and a line when it listens.
func filesChild(dir string) {
	n, err := openLogged(load(&testing.T{}, dir, listenAnywhere), slog.New(slog.NewTextHandler(os.Stdout, nil)))
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("listens")
	fmt.Println("error", n.Run(context.Background()))
}

// few is a node in a process that may open few files.
type few struct {
	*client.Client
	t         *testing.T
	process   int
	http, bus string
	said      []string // what it logged before it listened
}

// runFew starts a node that may have so many files open.
func runFew(t *testing.T, files int) *few {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" -test.run=none`, files), os.Args[0])
	cmd.Env = append(os.Environ(), filesEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	f := &few{t: t, process: cmd.Process.Pid}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "listens" {
		f.said = append(f.said, lines.Text())
		if strings.HasPrefix(lines.Text(), "error") {
			t.Fatal(lines.Text())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
	b, err := os.ReadFile(filepath.Join(dir, "data", node.AddressFile))
	if err != nil {
		t.Fatal(err)
	}
	var at node.Addresses
	if err := json.Unmarshal(b, &at); err != nil {
		t.Fatal(err)
	}
	token, err := identity.ReadToken(filepath.Join(dir, "data", identity.AdminTokenFile))
	if err != nil {
		t.Fatal(err)
	}
	if f.Client, err = client.New(at.HTTP, token, nil); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(at.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	f.http, f.bus = u.Host, at.Bus
	return f
}

// open returns how many files the node has open.
func (f *few) open() int {
	f.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", f.process))
	if err != nil {
		f.t.Fatal(err)
	}
	return len(list)
}

// crowd connects to an address as often as asked, says something, and stays until the test ends.
func (f *few) crowd(address, says string, times int) {
	f.t.Helper()
	for range times {
		c, err := net.DialTimeout("tcp", address, 10*time.Second)
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, says) // fails where it was closed for another
	}
}

// Requests whose bodies never come, and connections that say nothing, leave files for the log, the store and the audit
// log, and a way in for everybody else.
func TestAttackHalfSentBodiesShutNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a program")
	}
	f := runFew(t, 256)
	if said := strings.Join(f.said, "\n"); !strings.Contains(said, "may have 256 files open") || !strings.Contains(said, "57 connections to page and API") {
		t.Errorf("the start does not say what it can carry: %s", said)
	}
	t.Logf("%d files are open without connections", f.open())
	login := "POST /api/v1/session HTTP/1.1\r\nHost: " + f.http + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	stranger := "PUT /api/v1/people/eve HTTP/1.1\r\nHost: " + f.http + "\r\nContent-Length: 1000\r\n\r\n{"
	f.crowd(f.http, login, 150)
	f.crowd(f.http, stranger, 150)
	f.crowd(f.bus, "", 150)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		in, err := f.SendSamples(ctx, client.Body{Media: "application/json", Text: fmt.Appendf(nil, `{"samples":[{"point":"a/b","value":%d}]}`, i)})
		if err != nil || in.Accepted != 1 {
			t.Fatalf("reading %d is not recorded: %+v %v", i, in, err)
		}
		cancel()
	}
	if r, err := client.Do(t.Context(), f.Client, auditlog.Verify, auditlog.Kept{Expect: ""}); err != nil || len(r.Problems) > 0 {
		t.Errorf("the audit log: %+v %v", r, err)
	}
	h, err := f.Health(t.Context())
	if err != nil || h.Status != "ok" {
		t.Errorf("the health: %+v %v", h, err)
	}
	if n := f.open(); n > 250 {
		t.Errorf("%d of 256 files are open", n)
	}
}
