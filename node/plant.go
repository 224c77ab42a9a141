package node

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"voltbus/catalog"
	"voltbus/config"
	"voltbus/control/dispatch"
	"voltbus/control/term"
	"voltbus/device"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/owner"
	"voltbus/point"
)

// plant is the configuration in use: the devices, their points, and which points may be commanded. It is safe for concurrent use.
type plant struct {
	kinds   []driver.Kind
	lines   *owner.Lines
	catalog *catalog.Catalog
	// allowed is called when what ancestors may do here has changed.
	allowed func()
	log     *slog.Logger

	found func() []dispatch.Point // points of MQTT devices that accept commands; nil without a broker

	// adopt prepares other templates of MQTT messages; the function that it returns has them used. nil without a broker.
	adopt func(*config.Config) (begin func(), err error)

	// send takes other destinations of readings; nil for an idle node.
	send func(context.Context, *config.Config) error

	commands *term.Controller // set before the first change; nil for an idle node

	reload sync.Mutex // one change at a time
	mu     sync.Mutex
	config *config.Config
}

// current returns the configuration in use.
func (p *plant) current() *config.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.config
}

// start starts reading the devices of the first configuration, once the device fleet runs.
func (p *plant) start(ctx context.Context) error {
	devices, err := p.devices(p.config)
	if err != nil {
		return err
	}
	if err := p.describe(ctx, p.config); err != nil {
		return err
	}
	return p.lines.Apply(devices)
}

// apply takes a changed configuration: devices are added, removed and restarted without a missed scan of the others.
// Sections that take effect only after a restart are named in the answer and keep their old values.
func (p *plant) apply(ctx context.Context, cfg *config.Config) (config.Changes, error) {
	p.reload.Lock()
	defer p.reload.Unlock()
	before := p.current()
	changes := config.Compare(before, cfg)
	if _, err := allowed(&cfg.Uplink); err != nil {
		return changes, err
	}
	devices, err := p.devices(cfg)
	if err != nil {
		return changes, err
	}
	begin := func() {}
	if changes.Templates && p.adopt != nil {
		if begin, err = p.adopt(cfg); err != nil {
			return changes, err
		}
	}
	if changes.Sinks && p.send != nil {
		if err := p.send(ctx, cfg); err != nil {
			return changes, err
		}
	}
	if err := p.describe(ctx, cfg); err != nil {
		return changes, err
	}
	if err := p.lines.Apply(devices); err != nil {
		return changes, err
	}
	begin()
	if p.commands != nil {
		if err := p.commands.Declare(ctx, p.controlled(cfg)); err != nil {
			return changes, err
		}
	}
	next := *before
	next.Devices, next.Include = cfg.Devices, cfg.Include
	next.Uplink.Allow = cfg.Uplink.Allow // what is taken away is taken at once
	next.MQTT.Templates, next.Sinks = cfg.MQTT.Templates, cfg.Sinks
	p.mu.Lock()
	p.config = &next
	p.mu.Unlock()
	if changes.Allow {
		p.allowed()
	}
	p.log.InfoContext(ctx, "configuration applied", slog.Int("added", len(changes.Added)),
		slog.Int("removed", len(changes.Removed)), slog.Int("changed", len(changes.Changed)),
		slog.Any("needs_restart", changes.Restart))
	return changes, nil
}

// declare declares to control the points that accept commands, when MQTT devices add to them.
func (p *plant) declare(ctx context.Context) error {
	p.reload.Lock()
	defer p.reload.Unlock()
	return p.commands.Declare(ctx, p.controlled(p.current()))
}

// devices converts the configured devices to the form that package device takes.
func (p *plant) devices(cfg *config.Config) (c owner.Configured, err error) {
	c.Devices, c.Commanded = make([]device.Config, 0, len(cfg.Devices)), map[point.Path]bool{}
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		at := slices.IndexFunc(p.kinds, func(k driver.Kind) bool { return k.Name == d.Driver })
		if at < 0 {
			return c, fault.E("node.Open", fault.Invalid, string(d.Path), fmt.Errorf("there is no driver %q", d.Driver))
		}
		c.Devices = append(c.Devices, device.Config{
			Path: d.Path, Kind: p.kinds[at], Driver: d.Config,
			Interval: d.Interval, Group: d.Group, Stagger: d.Stagger, Timeout: d.Timeout,
			Offset: d.Offset, StaleAfter: d.StaleAfter,
			Publish: forms(d.Publish), Record: d.Record, ReadAtStart: d.ReadAtStart && d.Stagger == 0,
			Subscribe: d.Subscribe, Disabled: d.Disabled,
		})
		c.Commanded[d.Path] = slices.ContainsFunc(d.Config.Points(), func(p point.Info) bool { return p.Writable })
	}
	return c, nil
}

// describe makes the catalogue list exactly the points of the configured devices, and those that programs record.
func (p *plant) describe(ctx context.Context, cfg *config.Config) error {
	var infos []point.Info
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		infos = append(infos, driver.Describe(d.Path, d.Config, d.Interval, d.Tags)...)
	}
	return p.catalog.Keep(ctx, infos)
}
