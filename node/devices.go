package node

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"voltbus/config"
	"voltbus/device"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/operation/configuration"
	"voltbus/point"
)

// deviceConfigs turns the configured devices into what the fleet takes.
func (n *Node) deviceConfigs(cfg *config.Config) ([]device.Config, error) {
	devices := make([]device.Config, 0, len(cfg.Devices))
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		at := slices.IndexFunc(n.opts.Kinds, func(k driver.Kind) bool { return k.Name == d.Driver })
		if at < 0 {
			return nil, fault.E("node.Open", fault.Invalid, string(d.Path), fmt.Errorf("there is no driver %q", d.Driver))
		}
		devices = append(devices, device.Config{
			Path: d.Path, Kind: n.opts.Kinds[at], Driver: d.Config,
			Interval: d.Interval, Group: d.Group, Stagger: d.Stagger, Timeout: d.Timeout,
			Offset: d.Offset, StaleAfter: d.StaleAfter,
			Publish: forms(d.Publish), Record: d.Record, ReadAtStart: d.ReadAtStart && d.Stagger == 0,
			Subscribe: d.Subscribe, Disabled: d.Disabled,
		})
	}
	return devices, nil
}

// forms returns the forms of live messages by their names in the configuration.
func forms(names []string) (f device.Forms) {
	for _, name := range names {
		switch name {
		case config.PublishScan:
			f |= device.FormScan
		case config.PublishPoint:
			f |= device.FormPoint
		case config.PublishBreadthScan:
			f |= device.FormBreadthScan
		case config.PublishBreadthPoint:
			f |= device.FormBreadthPoint
		}
	}
	return f
}

// describe makes the catalogue list exactly the points of the configured devices, and what
// programs record.
func (n *Node) describe(ctx context.Context, cfg *config.Config) error {
	var infos []point.Info
	for i := range cfg.Devices {
		infos = append(infos, pointInfos(&cfg.Devices[i])...)
	}
	return n.catalog.Keep(ctx, infos)
}

// pointInfos describes the points of a device with their whole paths.
func pointInfos(d *config.Device) []point.Info {
	infos := d.Config.Points()
	out := make([]point.Info, len(infos))
	for i, info := range infos {
		info.Path = d.Path.Join(string(info.Path))
		info.Device = d.Path
		info.Interval = d.Interval
		info.Tags = tagsOf(d, info.Tags)
		out[i] = info
	}
	return out
}

// tagsOf returns the tags of a point: what is configured wins over what the driver says by itself, and the
// point's own over those of its device.
func tagsOf(d *config.Device, own map[string]string) map[string]string {
	tags := map[string]string{}
	if t, has := d.Config.(driver.Tagger); has {
		maps.Copy(tags, t.BuiltInTags())
	}
	maps.Copy(tags, d.Tags)
	maps.Copy(tags, own)
	if len(tags) == 0 {
		return nil
	}
	return tags
}

// Reload applies a changed configuration: devices are added, removed and restarted without a
// missed scan of the others. Sections that need a new start are named in the answer and stay as
// they were.
func (n *Node) Reload(ctx context.Context, cfg *config.Config) (config.Changes, error) {
	n.tellStart(ctx) // who asks may be faster than Run
	done, err := n.apply(ctx, cfg)
	n.report.Node(ctx, "config.reload", err, map[string]any{"changes": configuration.Changes(done).Words})
	return done, err
}

// apply is Reload for somebody of whom the audit log is told elsewhere.
func (n *Node) apply(ctx context.Context, cfg *config.Config) (config.Changes, error) {
	n.reload.Lock()
	defer n.reload.Unlock()
	before := n.Config()
	changes := config.Compare(before, cfg)
	if _, err := allowed(&cfg.Uplink); err != nil {
		return changes, err
	}
	devices, err := n.deviceConfigs(cfg)
	if err != nil {
		return changes, err
	}
	if err := n.describe(ctx, cfg); err != nil {
		return changes, err
	}
	if err := n.fleet.Apply(devices); err != nil {
		return changes, err
	}
	if err := n.declare(ctx, cfg); err != nil {
		return changes, err
	}
	next := *before
	next.Devices, next.Include = cfg.Devices, cfg.Include
	next.Uplink.Allow = cfg.Uplink.Allow // what is taken away is taken at once
	n.mu.Lock()
	n.config = &next
	n.mu.Unlock()
	if changes.Allow {
		n.reviewer.Remote()
		n.liveUp.Review()
	}
	n.log.InfoContext(ctx, "configuration applied", slog.Int("added", len(changes.Added)),
		slog.Int("removed", len(changes.Removed)), slog.Int("changed", len(changes.Changed)),
		slog.Any("needs_restart", changes.Restart))
	return changes, nil
}
