package main

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"voltbus/protocol/bacnet/sc/sctest"
	"voltbus/testing/peers"
)

// runHub runs "voltbus bacnet hub" until the test ends, and returns its address and what it prints after that.
func runHub(t *testing.T, dir string) (url string, lines <-chan string) {
	t.Helper()
	hub := exec.CommandContext(t.Context(), "voltbus", "bacnet", "hub", "--listen", "127.0.0.1:0", "--certificate", "hub.pem", "--key", "hub.key", "--ca", "ca.pem")
	hub.Dir = dir
	hub.Cancel = func() error { return hub.Process.Signal(syscall.SIGTERM) }
	out, err := hub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 100)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(told)
		for s := bufio.NewScanner(out); s.Scan(); {
			told <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = hub.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = hub.Wait() // it was told to end
	})
	return strings.TrimPrefix(awaitLine(t, told, "hub: "), "hub: "), told
}

// awaitLine waits for a line that begins with a text.
func awaitLine(t *testing.T, lines <-chan string, begin string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		select {
		case line, more := <-lines:
			if strings.HasPrefix(line, begin) {
				return line
			}
			if !more {
				t.Fatalf("the hub has ended before %q", begin)
			}
		case <-ctx.Done():
			t.Fatalf("the hub never prints %q", begin)
		}
	}
}

// A site without a hub runs ours; a device of rusty-bacnet is found, configured, read and commanded through it.
func TestADeviceIsFoundConfiguredAndCommandedThroughOurHub(t *testing.T) {
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "hub", "device", "node")
	url, lines := runHub(t, dir)
	peers.BACnetSC(t, "device", dir, url, "1201")
	awaitLine(t, lines, "joined: ")
	secure := []string{"--hub", url, "--certificate", "node.pem", "--key", "node.key", "--ca", "ca.pem"}
	tool := func(args ...string) string {
		t.Helper()
		return voltbusIn(t, dir, append(append([]string{"bacnet"}, args...), secure...)...)
	}
	for what, c := range map[string]struct{ got, want string }{
		"scan":          {tool("scan", "--wait", "1s"), "02:00:00:00:00:d0"},
		"files":         {tool("scan", "--wait", "1s", "--out", "site"), "copy node.pem, node.key, ca.pem into site"},
		"configuration": {tool("scan", "--wait", "1s", "--out", "."), "1 device, 4 points: voltbus.yaml\n"},
		"check":         {voltbusIn(t, dir, "check", "voltbus.yaml"), "1 device"},
		"again":         {tool("scan", "--wait", "1s", "--out", "site"), "nothing has changed: 1 device"},
		"read":          {tool("read", "--device", "1201", "analog-input:1"), "21.5"},
		"address":       {tool("read", "--address", "02:00:00:00:00:d0", "analog-input:1"), "21.5"},
		"write":         {tool("write", "--device", "1201", "analog-value:1", "19", "--priority", "8"), "at priority 8"},
		"watch":         {tool("watch", "--device", "1201", "--count", "1", "analog-input:1"), "21.5"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: there is no %q in\n%s", what, c.want, c.got)
		}
	}
	awaitLine(t, lines, "left: ")
	other := t.TempDir()
	sctest.NewAuthority(t).Files(t, other, "node")
	cmd := exec.CommandContext(t.Context(), "voltbus", append([]string{"bacnet", "scan"}, secure...)...)
	cmd.Dir = other
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "which is none of the authorities of this node") {
		t.Errorf("with the certificate of another site: %v\n%s", err, out)
	}
	awaitLine(t, lines, "refused: TLS handshake error")
}

func TestFlagsOfTwoKindsOfNetworkAreToldApart(t *testing.T) {
	for want, args := range map[string][]string{
		"--hub is missing":              {"scan", "--certificate", "node.pem"},
		"--certificate, --key and --ca": {"scan", "--hub", "wss://127.0.0.1:1/"},
		"leave one of them out":         {"read", "--hub", "wss://127.0.0.1:1/", "--local", "10.0.0.5/24", "--device", "1", "analog-input:1"},
		"--listen is missing":           {"hub"},
		"no such file or directory":     {"scan", "--hub", "wss://127.0.0.1:1/", "--certificate", "a", "--key", "b", "--ca", "c"},
	} {
		out, err := exec.CommandContext(t.Context(), "voltbus", append([]string{"bacnet"}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v, there is no %q in\n%s", args, err, want, out)
		}
	}
}
