package node

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"voltbus/api"
	"voltbus/api/intake"
	"voltbus/api/listener"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/internal/admission"
	"voltbus/internal/datadir"
	"voltbus/meter/system"
	"voltbus/promql"
	"voltbus/statefile"
	"voltbus/web"
)

// AddressFile is where a running node writes its addresses, in the data directory.
const AddressFile = statefile.Address

// Addresses tell the programs on this machine how to reach the node.
type Addresses struct {
	Name    string    `json:"name"`
	HTTP    string    `json:"http,omitempty"` // a URL
	Bus     string    `json:"bus,omitempty"`  // host:port
	MQTT    string    `json:"mqtt,omitempty"` // host:port
	MQTTS   string    `json:"mqtts,omitempty"`
	Process int       `json:"process"`
	Started time.Time `json:"started"`
}

func openServer(_ context.Context, n *Node) error {
	limits := n.opts.Config.Ingest
	cfg := api.Config{
		Auth: n.identity.Logins, People: n.identity.Logins, Node: n.opts.Config.Node.Name,
		Points: n.catalog, Live: n.bus, Bus: inspector{n.bus}, Ledger: n, Health: n.health, Devices: devices{n.fleet},
		Admission: n.admission, Meters: messagesTo(n.meters), Repeats: n.catalog.Repeats(limits.Retry), Agents: n.agents, Remote: n.asker, Nodes: nodes{n},
		Rates: intake.Rates{Requests: float64(limits.Requests), Samples: float64(limits.Samples)}, Bounds: limits.Bounds(),
		Audit: n.audit, Operations: n.asked, Control: n.control, Version: n.opts.Version, Page: web.Handler(), Log: n.log,
	}
	if n.logbook != nil {
		cfg.Logbook = n.logbook
	}
	if n.history.Store() != nil {
		cfg.Prometheus = promql.New(n.wide, n.catalog, now, n.opts.Version.Version)
		cfg.Stats = n.history.Store()
	}
	cfg.Lab, cfg.MQTT = n.opts.Lab, countMQTT(n)
	if n.supervisor != nil {
		cfg.Processes = n.installed
	}
	signature, err := n.identity.Node.Sign([]byte("browsers that have logged in")) // always the same, and unique to this node
	if err != nil {
		return fault.E("node.Open", fault.Internal, "node.nk", err)
	}
	key := sha256.Sum256(signature)
	cfg.BrowserKey = key[:]
	n.server, err = listener.Open(string(n.opts.Config.Listen.HTTP), admission.Limits{Total: n.files.HTTP, Address: max(n.files.HTTP/4, 1)})
	if err != nil {
		return err
	}
	if err := letSenders(n, &cfg); err != nil {
		return err
	}
	cfg.Hosts = n.server.Hosts()
	handler := api.New(cfg) //nolint:contextcheck // requests end with the server, not with Open
	handler = n.mqtt.Handler(n.opts.Config.Listen.MQTTWebSocket, handler)
	if n.opts.LoopbackTLS {
		n.server.Secure()
	}
	n.server.Answer(system.Watch(handler, n.opts.Valves), n.identity.Certificates.ServerConfig, n.log) //nolint:contextcheck // as above
	return announce(n)
}

// letSenders lets the API authenticate meters and concentrators by client certificates, if the configuration names their authorities.
func letSenders(n *Node, cfg *api.Config) error {
	listen := &n.opts.Config.Listen
	if listen.ClientCA == "" {
		return nil
	}
	senders, err := pki.OpenSenders(listen.ClientCA, listen.ClientRevoked)
	if err != nil {
		return err
	}
	cfg.Certified = func(chain []*x509.Certificate) (identity.User, error) {
		name, err := senders.Name(chain, now())
		if err != nil {
			return identity.User{}, err
		}
		return identity.Certified(name, system.Folder(name, slices.Contains(listen.ClientConcentrators, name))), nil
	}
	n.server.Ask(senders.Authorities())
	return nil
}

// announce writes AddressFile for the programs on this machine.
func announce(n *Node) error {
	data, err := json.Marshal(Addresses{
		Name: n.opts.Config.Node.Name, HTTP: n.server.URL(), Bus: listener.FromHere(n.bus.Addr()), MQTT: n.MQTTAddr(false), MQTTS: n.MQTTAddr(true), Process: os.Getpid(), Started: n.started,
	})
	if err != nil {
		return fmt.Errorf("write the addresses: %w", err)
	}
	file := filepath.Join(n.opts.Config.Node.Data, AddressFile)
	if err := datadir.Put(file, append(data, '\n')); err != nil {
		return fault.E("node.Open", fault.Unavailable, file, err)
	}
	return nil
}

func forgetAddresses(dir string) error {
	err := os.Remove(filepath.Join(dir, AddressFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
