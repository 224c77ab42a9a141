package driver

import (
	"maps"
	"time"

	"voltbus/point"
)

// Describe describes the points of a device with their full paths. Tags of the device replace those that its configuration has built in, and those of
// a point replace both.
func Describe(device point.Path, c Config, interval time.Duration, tags map[string]string) []point.Info {
	base := map[string]string{}
	if t, has := c.(Tagger); has {
		maps.Copy(base, t.BuiltInTags())
	}
	maps.Copy(base, tags)
	infos := c.Points()
	out := make([]point.Info, len(infos))
	for i, info := range infos {
		all := maps.Clone(base)
		maps.Copy(all, info.Tags)
		if info.Tags = all; len(all) == 0 {
			info.Tags = nil
		}
		info.Path, info.Device, info.Interval = device.Join(string(info.Path)), device, interval
		out[i] = info
	}
	return out
}
