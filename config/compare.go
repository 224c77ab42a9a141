package config

import (
	"maps"
	"reflect"
	"slices"

	"voltbus/broker/setting"
	"voltbus/point"
)

// Changes describes the differences between two configurations. Lists are sorted.
type Changes struct {
	Added     []point.Path // devices to start
	Removed   []point.Path // devices to stop
	Changed   []point.Path // devices to stop and start
	Restart   []string     // sections that take effect only after a restart of the node
	Allow     bool         // uplink.allow differs: what ancestors may do here, which takes effect at once
	Templates bool         // mqtt.templates differ, the templates of MQTT messages, which take effect at once
	Sinks     bool         // sinks differ, the destinations of readings, which take effect at once
}

// Empty reports whether nothing differs.
func (c Changes) Empty() bool {
	return len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Restart) == 0 && !c.Allow && !c.Templates && !c.Sinks
}

// Compare returns what must be done to get from one configuration to another. Where devices are described,
// and in which order, does not matter.
func Compare(before, after *Config) Changes {
	var c Changes
	from, to := byPath(before), byPath(after)
	for _, path := range slices.Sorted(maps.Keys(to)) {
		switch old, ok := from[path]; {
		case !ok:
			c.Added = append(c.Added, path)
		case !old.equal(to[path]):
			c.Changed = append(c.Changed, path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(from)) {
		if to[path] == nil {
			c.Removed = append(c.Removed, path)
		}
	}
	c.Allow = !reflect.DeepEqual(before.Uplink.Allow, after.Uplink.Allow)
	c.Sinks = !reflect.DeepEqual(before.Sinks, after.Sinks)
	c.Templates = !reflect.DeepEqual(before.MQTT.Templates, after.MQTT.Templates)
	for _, s := range []struct {
		name    string
		differs bool
	}{
		{"node", before.Node != after.Node},
		{"listen", !reflect.DeepEqual(before.Listen, after.Listen)},
		{"log", before.Log != after.Log},
		{"audit", before.Audit != after.Audit},
		{"store", before.Store != after.Store},
		{"recorder", before.Recorder != after.Recorder},
		{"ingest", before.Ingest != after.Ingest},
		{"metering", !reflect.DeepEqual(before.Metering, after.Metering)},
		{"control", before.Control != after.Control},
		{"mqtt", !reflect.DeepEqual(withoutTemplates(before.MQTT), withoutTemplates(after.MQTT))},
		{"judge", !reflect.DeepEqual(before.Judge, after.Judge)},
		{"sources", !reflect.DeepEqual(before.Sources, after.Sources)},
		{"uplink", !before.Uplink.equal(after.Uplink)},
		{"agents", !reflect.DeepEqual(before.Agents, after.Agents)},
	} {
		if s.differs {
			c.Restart = append(c.Restart, s.name)
		}
	}
	return c
}

// withoutTemplates returns the section "mqtt" without what takes effect at once.
func withoutTemplates(s setting.Section) setting.Section {
	s.Templates = nil
	return s
}

// equal compares everything except what takes effect at once.
func (n Uplink) equal(other Uplink) bool {
	n.Allow, other.Allow = nil, nil
	return reflect.DeepEqual(n, other)
}

func byPath(c *Config) map[point.Path]*Device {
	devices := make(map[point.Path]*Device, len(c.Devices))
	for i := range c.Devices {
		devices[c.Devices[i].Path] = &c.Devices[i]
	}
	return devices
}

// equal compares everything except the Source. The drivers' configurations are plain data, so a deep
// comparison decides whether a device must be reopened.
func (d *Device) equal(other *Device) bool {
	a, b := *d, *other
	a.Source, b.Source = Source{}, Source{}
	return reflect.DeepEqual(a, b)
}
