package node_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/bus/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/testing/peers"
	"voltbus/wire"
)

// The example in docs/examples/node is an agent by a plain NATS client: nothing of it is ours.
func TestAnAgentInJavaScriptDoesWhatTheContractSays(t *testing.T) {
	program, dir := peers.NodeJS(t)
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	o := access(t, cfg, "example")
	if _, err := r.Agents().Add(wait(t), "example", o.Key.Public(), identity.Grants{
		Publish: []point.Pattern{"analysis"}, Subscribe: []point.Pattern{"analysis"}, Record: []point.Pattern{"analysis"},
		Call: []identity.CallGrant{{Agent: "example"}},
	}); err != nil {
		t.Fatal(err)
	}
	caller := join(t, r, cfg, "pump.control", calls("example", ""))
	cmd := exec.CommandContext(wait(t), program, filepath.Join(dir, "example.mjs"), "stay")
	cmd.Env = append(os.Environ(), "VOLTBUS_BUS="+r.BusAddr(), "VOLTBUS_CA="+filepath.Join(cfg.Node.Data, "tls", "ca.pem"),
		"VOLTBUS_KEY="+filepath.Join(filepath.Dir(cfg.Node.Data), "example.nk"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() && lines.Text() != "ready" {
		said = append(said, lines.Text())
	}
	want := []string{
		"hello: " + cfg.Node.Name + " knows example",
		"answer: double 21 for example",
		"call: 42",
		"failed: remote (value must be a number)",
		`heard: live.scan.analysis.boiler {"mean":71.5}`,
		`heard: msg.example.analysis.note {"text":"the boiler is warm"}`,
		`record: {"accepted":1}`,
		`again: {"accepted":1}`,
		"refused: refused (call boiler:set_limit)",
		"refused: refused (publish campus/ahu)",
		"refused: refused (record campus/ahu/supply)",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("it says (-want +got):\n%s", diff)
	}
	callJavaScript(t, caller)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	for lines.Scan() { // to the end, before it is waited for
		if lines.Text() != "answer: double 4 for pump.control" {
			t.Errorf("it says %q", lines.Text())
		}
	}
	_ = cmd.Wait() // ended by the signal
}

// callJavaScript calls the example from Go.
func callJavaScript(t *testing.T, c *client.Client) {
	t.Helper()
	var got float64
	if err := c.CallNamed(wait(t), "example", "double", &got, map[string]any{"value": 4}); err != nil || got != 8 {
		t.Errorf("double 4 is %v, %v", got, err)
	}
	var pong string
	if err := c.Call(wait(t), "example", "ping", &pong); err != nil || pong != "pong" {
		t.Errorf("ping is answered by %q, %v", pong, err)
	}
	var methods []wire.Method
	if err := c.Call(wait(t), "example", "inspect", &methods); err != nil || len(methods) != 3 {
		t.Errorf("inspect lists %v, %v", methods, err)
	}
	if err := c.Call(wait(t), "example", "boil", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("a method that is not there gives %v", err)
	}
}
