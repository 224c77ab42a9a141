package node_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"voltbus/bus/client"
	"voltbus/identity"
	"voltbus/node"
)

// The address that programs of this machine are given is one that the node's certificate names.
func TestAnAgentConnectsWhereTheBusListensOnAllInterfaces(t *testing.T) {
	cfg := load(t, t.TempDir(), "listen: {http: 127.0.0.1:0, bus: \"0.0.0.0:0\"}\n")
	r := run(t, cfg)
	data, err := os.ReadFile(filepath.Join(cfg.Node.Data, node.AddressFile))
	if err != nil {
		t.Fatal(err)
	}
	var at node.Addresses
	if err := json.Unmarshal(data, &at); err != nil {
		t.Fatal(err)
	}
	o := access(t, cfg, "boiler")
	if _, err := r.Agents().Add(wait(t), "boiler", o.Key.Public(), identity.Grants{}); err != nil {
		t.Fatal(err)
	}
	o.Address = at.Bus
	c, err := client.Connect(wait(t), o)
	if err != nil {
		t.Fatalf("at %s: %v", at.Bus, err)
	}
	c.Close()
}
