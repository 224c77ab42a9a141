package fleetsim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/lab/rig"
	"voltbus/operation/mqtt"
)

// Site is the configuration of a node that serves a fleet and records what it publishes.
type Site struct {
	Name     string // of the node; "" for lab
	Plain    string // where clients without TLS connect; "" for any port of this machine
	Secure   string // where clients with TLS connect; "" for any port of this machine
	Clients  int    // that may connect
	Connects int    // that are let in a second; 0 for no bound
	Live     bool   // nothing is recorded

	Host     string    // IP address where it listens; "" for that of loopback
	Replicas []Replica // with which it shares a log, this one too; none for a node alone
	Key      string    // file with the key of the replicas
	Witness  bool      // it has the logs of the replicas and stores nothing
}

// Replica is a node that shares a log with others.
type Replica struct {
	Name    string // of its node
	Address string // where the others reach it
}

// replicated is the section of the configuration that makes a node a replica; "" for a node alone.
func (s *Site) replicated() string {
	if len(s.Replicas) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cluster:\n  key_file: %s\n  replicas:\n", s.Key)
	for _, r := range s.Replicas {
		fmt.Fprintf(&b, "    - {name: %s, address: %q}\n", r.Name, r.Address)
	}
	if s.Witness {
		b.WriteString("store: {engine: none}\n")
	}
	return b.String()
}

// logs bounds the log. A replica has those of all on one disk.
func (s *Site) logs() string {
	if len(s.Replicas) > 0 {
		return "1GiB"
	}
	return "8GiB"
}

// noBound is a rate that no client reaches.
const noBound = 1_000_000

// Kind is the kind of the devices, which may use all topics of the fleet.
const kindOfDevices = "fleet"

// Write writes the configuration into dir, which holds the node's data too, and returns the file.
func (s Site) Write(dir string) (string, error) {
	anywhere := net.JoinHostPort(cmp.Or(s.Host, "127.0.0.1"), "0")
	text := fmt.Sprintf(`node: {name: %s, data: data}
listen: {http: %q, bus: off, mqtt: %q, mqtts: %q}
log: {max_bytes: %s}
ingest: {points: 1000000}
mqtt:
  clients: %d
  connects: %d
  kinds:
    - {name: %s, publish: ["#"], subscribe: ["#"], rate: %d, bytes: %d, sessions: 4, points: 1000}
  templates:
    - {name: fleet, topic: "fleet/{device}/{channel}", device: "fleet/{device}", format: json, live: %t, points: [{name: "{channel}", from: value}]}
`, cmp.Or(s.Name, "lab"), anywhere, cmp.Or(s.Plain, anywhere), cmp.Or(s.Secure, anywhere), s.logs(), max(s.Clients, 1), cmp.Or(s.Connects, noBound),
		kindOfDevices, noBound, 100_000_000, s.Live) + s.replicated()
	file := filepath.Join(dir, "fleet.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return file, nil
}

// Provision lets the devices of a fleet from first on connect to a node.
func Provision(ctx context.Context, n *rig.Running, f *Fleet, devices int) error {
	const atOnce = 100_000
	for from := 0; from < devices; from += atOnce {
		var b strings.Builder
		b.WriteString("name,kind,secret\n")
		for i := from; i < min(devices, from+atOnce); i++ {
			number := f.First + i
			fmt.Fprintf(&b, "%s%d,%s,%s\n", f.Prefix, number, kindOfDevices, SecretOf(f.Secret, number))
		}
		list := b.String()
		if _, err := client.Do(ctx, n.Client, mqtt.Provision, mqtt.List{List: &list}); err != nil {
			return err
		}
	}
	return nil
}

// Doors are where the clients of a node connect.
type Doors struct {
	Plain  string `json:"mqtt"`
	Secure string `json:"mqtts"`
}

// DoorsOf returns those of a node that runs.
func DoorsOf(n *rig.Running) (d Doors, err error) {
	text, err := readState(filepath.Join(n.Data, "node.json"))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err == nil && d.Plain == "" && d.Secure == "" {
		err = errors.New("the node listens for no MQTT clients")
	}
	if err != nil {
		return d, fault.E("fleetsim.DoorsOf", fault.Unavailable, n.URL, err)
	}
	return d, nil
}

// readState reads a file that the node writes when it begins to run.
func readState(file string) (text []byte, err error) {
	for deadline := time.Now().Add(dialTime); time.Now().Before(deadline); time.Sleep(checkEvery) {
		if text, err = os.ReadFile(file); err == nil {
			return text, nil
		}
	}
	return nil, err
}
