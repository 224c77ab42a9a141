package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver"
	"voltbus/driver/modbus"
	"voltbus/identity"
	"voltbus/node"
	"voltbus/virtual/cable"
	"voltbus/virtual/field"
	"voltbus/virtual/whole"
)

// member is a whole node, its devices, and its way to the parent.
type member struct {
	*whole.Node

	node   *node.Node
	client *client.Client // of an administrator
	field  *field.Server
	cable  *cable.Cable
	stop   context.CancelFunc
	done   chan error
}

// kinds are the drivers that a node of a world has.
func kinds() []driver.Kind { return []driver.Kind{modbus.Kind()} }

// open starts the node in a folder of its own.
func (m *member) open(ctx context.Context, dir string, log *slog.Logger, wrote func(path string, value float64)) error {
	dir = filepath.Join(dir, m.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	var devices []field.Device
	for i := range m.Devices {
		d := &m.Devices[i]
		devices = append(devices, field.Device{Outputs: d.Outputs, Values: d.Values, Commands: d.Commands, Defaults: d.Defaults})
	}
	var err error
	m.field, err = field.Open(ctx, devices, func(device, command int, value float64) {
		d := &m.Devices[device]
		wrote(d.Path+"/"+d.Commands[command], value)
	})
	if err != nil {
		return err
	}
	for i := range devices {
		if err := os.WriteFile(filepath.Join(dir, registry(i)), devices[i].Registry(), 0o600); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(m.configuration()), 0o600); err != nil {
		return err
	}
	cfg, err := config.Load(file, kinds())
	if err != nil {
		return err
	}
	m.node, err = node.Open(ctx, node.Options{Config: cfg, File: file, Kinds: kinds(), Log: log.With(slog.String("node", m.Name)), Version: answer.Version{Version: "virtual"}})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	m.stop, m.done = stop, make(chan error, 1)
	go func() { m.done <- m.node.Run(running) }()
	token, err := identity.ReadToken(filepath.Join(cfg.Node.Data, identity.AdminTokenFile))
	if err != nil {
		return err
	}
	m.client, err = client.New(m.node.HTTPAddr(), token, nil)
	return err
}

func registry(device int) string { return "device-" + strconv.Itoa(device+1) + ".csv" }

// configuration is that of the node.
func (m *member) configuration() string {
	var b strings.Builder
	fmt.Fprintf(&b, "node: {name: %s, data: data}\nlisten: {http: 127.0.0.1:0, bus: 127.0.0.1:0}\nstore: {engine: memory}\n", m.Name)
	b.WriteString("log: {max_bytes: 64MiB, min_free: 16MiB}\n")
	if len(m.Devices) > 0 {
		b.WriteString("devices:\n")
	}
	for i := range m.Devices {
		d := &m.Devices[i]
		fmt.Fprintf(&b, "  - path: %q\n    driver: modbus\n    interval: %s\n    config: {address: %q, unit: %d, registry: %s}\n", d.Path, m.Scan, m.field.Addr(), i+1, registry(i))
		if len(d.Commands) > 0 {
			b.WriteString("    control:\n")
		}
		for n, name := range d.Commands {
			fmt.Fprintf(&b, "      - {points: [%q], default: %s}\n", name, strconv.FormatFloat(d.Defaults[n], 'g', -1, 64))
		}
	}
	return b.String()
}

// reaches reports whether the parent knows the node as there.
func (m *member) reaches() bool {
	above, _ := m.node.Lineage().Ancestors()
	return len(above) > 0
}

func (m *member) close() error {
	var errs []error
	switch {
	case m.stop != nil:
		m.stop()
		errs = append(errs, <-m.done)
	case m.node != nil:
		errs = append(errs, m.node.Close())
	}
	if m.cable != nil {
		errs = append(errs, m.cable.Close())
	}
	if m.field != nil {
		errs = append(errs, m.field.Close())
	}
	return errors.Join(errs...)
}
