package node

import (
	"context"
	"maps"

	"voltbus/config"
	"voltbus/device"
	"voltbus/driver"
	"voltbus/operation/configuration"
	"voltbus/point"
)

// Reload applies a changed configuration: devices are added, removed and restarted without a missed
// scan of the others. Sections that take effect only after a restart are named in the answer and
// keep their old values.
func (n *Node) Reload(ctx context.Context, cfg *config.Config) (config.Changes, error) {
	n.reportStart(ctx) // a caller may be faster than Run
	done, err := n.plant.apply(ctx, cfg)
	n.report.Node(ctx, "config.reload", err, map[string]any{"changes": configuration.Changes(done).Words})
	return done, err
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

// pointInfos describes the points of a device with their full paths.
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

// tagsOf returns the tags of a point: configured tags take precedence over the driver's, and the point's own over its device's.
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
