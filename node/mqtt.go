package node

import (
	"context"
	"crypto/tls"

	"voltbus/api/answer"
	"voltbus/api/listener"
	"voltbus/broker/front"
	"voltbus/config"
	"voltbus/operation"
	"voltbus/operation/mqtt"
	"voltbus/outside"
	"voltbus/point"
)

// openMQTT opens the broker and listens for its clients, if one is configured.
func openMQTT(ctx context.Context, n *Node) error {
	cfg := n.opts.Config
	if !cfg.Listen.Broker() || n.opts.Idle {
		return nil
	}
	section := cfg.MQTT
	n.files, section.Clients = n.files.Split(section.Clients)
	f, err := front.Open(ctx, front.Config{
		Setting: section, Dir: cfg.Node.Data, Plain: string(cfg.Listen.MQTT), Secure: string(cfg.Listen.MQTTS), TLS: func() (*tls.Config, error) { return deviceTLS(n), nil },
		Heard: n.outlet.Hear, Mesh: n.bus.Mesh(), Catalogue: n.catalog, Points: cfg.Ingest.Points, Recorder: n.recorder, Live: n.outlet.TellAs(forms(cfg.Live.Publish)),
		Told: n.report.MQTT, Bounds: cfg.Ingest.Bounds(), Now: now, Log: n.log,
		Carry: mqtt.Carrier{Table: func() *operation.Table { return n.asked }}, Blocks: n.blocks,
	})
	if err != nil {
		return err
	}
	n.mqtt, n.plant.found = f, f.Commands.Points
	n.plant.adopt = func(cfg *config.Config) (func(), error) { return f.Adopt(cfg.MQTT.Templates) }
	return nil
}

// deviceTLS is the TLS configuration for devices.
func deviceTLS(n *Node) *tls.Config {
	return n.identity.Certificates.DeviceConfig(func(device string, why error) {
		n.report.MQTT(front.Refusal{Device: device, Action: "connect", Why: why.Error()})
	})
}

// MQTTAddr returns the address for MQTT clients without and with TLS, "" where it does not listen.
func (n *Node) MQTTAddr(secure bool) string {
	if n.mqtt == nil {
		return ""
	}
	return listener.FromHere(n.mqtt.Addr(secure))
}

// outward is what systems outside need.
func outward(n *Node) outside.Config {
	cfg := n.opts.Config
	c := outside.Config{Publish: cfg.MQTT.Publish, Sinks: cfg.Sinks, Judge: cfg.Judge, Dir: cfg.Node.Data, Node: cfg.Node.Name, Blocks: n.blocks, History: n.history.Store(), Unit: func(path point.Path) string { return unitOf(n, path) }, Recorded: n.account.Acknowledged, Now: now, Log: n.log}
	c.Functions = outside.Functions{Exec: n.opts.AgentExec, Python: cfg.Agents.Python, Isolation: cfg.Agents.Isolation, Users: outside.Users(cfg.Agents.Users), Nice: cfg.Agents.Nice}
	c.Parent, c.Sources, c.Admission, c.Bounds = n.judged, cfg.Sources, n.admission, cfg.Ingest.Bounds()
	if n.opts.Idle {
		c.Publish, c.Sinks, c.Sources, c.Judge = nil, nil, nil, nil
	}
	return c
}

// openOutward opens the sinks to systems outside and the sources there.
func openOutward(ctx context.Context, n *Node) (err error) {
	if n.outside, err = outside.Open(ctx, outward(n)); err == nil && !n.opts.Idle { //nolint:contextcheck // a unit is asked for later
		n.plant.send = func(ctx context.Context, cfg *config.Config) error { return n.outside.Adopt(ctx, cfg.Sinks) }
	}
	return err
}

// unitOf returns the unit of a point, "" if unknown.
func unitOf(n *Node, path point.Path) string {
	entries, err := n.catalog.Entries(context.Background(), []point.Path{path})
	if err != nil || len(entries) == 0 {
		return ""
	}
	return entries[0].Unit
}

// runMQTT runs the broker until ctx ends.
func runMQTT(ctx context.Context, n *Node) error { return n.mqtt.Run(ctx, n.plant.declare) }

// fillMQTT sets the broker of the part that answers about it, if there is one.
func fillMQTT(n *Node, p *mqtt.Part) {
	if n.mqtt == nil {
		return
	}
	p.Broker, p.Devices, p.Applications, p.Issue = n.mqtt, n.mqtt.Devices, n.mqtt.Applications, func(device string) (mqtt.Issued, error) {
		i, err := n.identity.Certificates.IssueDevice(device)
		return mqtt.Issued(i), err
	}
}

// countMQTT counts clients and messages of the broker; nil without one.
func countMQTT(n *Node) func() answer.MQTTStatus {
	if n.mqtt == nil {
		return nil
	}
	p := &mqtt.Part{Broker: n.mqtt, Devices: n.mqtt.Devices}
	return p.Counts
}
