package node_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"voltbus/testing/peers"
)

// Clients of other projects connect, subscribe, publish with each quality of service and find retained messages, in both versions of the
// protocol; what they publish becomes samples.
func TestClientsOfOtherProjectsUseTheNode(t *testing.T) {
	r := run(t, load(t, t.TempDir(), mqttNumbers))
	host, port, _ := strings.Cut(r.MQTTAddr(false), ":")
	for name, program := range map[string][]string{
		"aiomqtt": {peers.Python(t), "../testing/peers/aiomqtt_peer.py"},
		"mqttjs":  peers.MQTTJS(t),
	} {
		for _, version := range []string{"5", "3.1.1"} {
			t.Run(name+" "+version, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				who := name + strings.ReplaceAll(version, ".", "")
				out, err := exec.CommandContext(ctx, program[0], append(program[1:], host, port, version, who)...).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				eventually(t, "its values are stored", func() bool { return strings.Join(r.values("n/"+who+"/value"), " ") == "1 2 3" })
			})
		}
	}
}
