package volttron

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fields are the keys of an entry that are not processed yet.
type fields map[string]any

// text takes a key as text; numbers as written.
func (f fields) text(key string) string {
	v, has := f[key]
	delete(f, key)
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	if has && v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

// seconds takes a key as a duration in seconds.
func (f fields) seconds(key string, otherwise time.Duration) time.Duration {
	x, err := strconv.ParseFloat(f.text(key), 64)
	if err != nil || x < 0 || x > 1e9 {
		return otherwise
	}
	return time.Duration(x * float64(time.Second))
}

// object takes a key as an object.
func (f fields) object(key string) fields {
	v, _ := f[key].(map[string]any)
	delete(f, key)
	return v
}

// forms maps the keys of publication forms to the form here, and whether it is the default.
var formKeys = []struct { //nolint:gochecknoglobals // a table
	key, form string
	otherwise bool
}{
	{"publish_depth_first_all", "scan", true},
	{"publish_depth_first", "point", false},
	{"publish_breadth_first_all", "breadth_scan", false},
	{"publish_breadth_first", "breadth_point", false},
}

// forms takes the publication forms. Absent keys have the values in from.
func (f fields) forms(from []string) (out []string, said bool) {
	for _, k := range formKeys {
		wanted := slices.Contains(from, k.form)
		if text := f.text(k.key); text != "" {
			wanted, said = strings.EqualFold(text, "true") || text == "1", true
		}
		if wanted {
			out = append(out, k.form)
		}
	}
	return out, said
}

// settings takes the agent's own settings, which apply to all devices.
func (c *conversion) settings(s *store) {
	c.store = s
	name := s.find("config")
	if name == "" || (!s.driver() && s.name != actuator) {
		if s.driver() {
			c.scrape, c.publish = 20*time.Millisecond, []string{"scan"}
		}
		return
	}
	f, err := s.entries[name].object()
	if err != nil {
		c.note(name, "%v, so that the defaults hold", err)
	}
	own := fields(f)
	if s.name == actuator {
		c.beat = own.seconds("heartbeat_interval", time.Minute)
		c.rest(name, own)
		return
	}
	c.scrape = own.seconds("driver_scrape_interval", 20*time.Millisecond)
	c.apart = own.seconds("group_offset_interval", 0)
	c.publish, _ = own.forms([]string{"scan"})
	for _, key := range []string{"max_open_sockets", "max_concurrent_publishes"} {
		if own.text(key) != "" {
			c.note(name, "%s: this platform needs no such bound", key)
		}
	}
	c.rest(name, own)
}

// rest returns the keys that were not used.
func (c *conversion) rest(entry string, f fields) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		c.note(entry, "%s: is not known here, and left out", key)
	}
}

// device converts one device, and returns the entries that it refers to.
func (c *conversion) device(s *store, name string) (references []string) {
	d := device{entry: name, path: strings.Trim(strings.TrimPrefix(name, devicePrefix), "/")}
	defer func() { c.devices = append(c.devices, d) }()
	raw, err := s.entries[name].object()
	if err != nil {
		c.leave(&d, err.Error())
		return nil
	}
	f := fields(maps.Clone(raw))
	d.interval = f.seconds("interval", time.Minute)
	if d.interval < 100*time.Millisecond {
		c.note(name, "interval %v is shorter than the shortest here, 100ms", d.interval)
		d.interval = 100 * time.Millisecond
	}
	d.group, _ = strconv.Atoi(f.text("group"))
	if forms, said := f.forms(c.publish); said {
		d.publish = append([]string{}, forms...)
	}
	if zone := f.text("timezone"); zone != "" && !strings.EqualFold(zone, "UTC") {
		c.note(name, "timezone %s: all times are UTC here; screens show those of the reader", zone)
	}
	d.beat = f.text("heart_beat_point")
	for _, key := range []string{"campus", "building", "unit", "path"} {
		if f.text(key) != "" {
			c.note(name, "%s: the name of the entry is the path", key)
		}
	}
	if _, has := f["tags"]; has {
		delete(f, "tags")
		c.note(name, "tags: give the device tags in the configuration")
	}
	kind := f.text("driver_type")
	table, references := c.registryOf(s, f.text("registry_config"), name, kind)
	more := c.driver(&d, kind, f.object("driver_config"), table, s)
	c.rest(name, f)
	return append(references, more...)
}

// leave turns a device into a comment.
func (c *conversion) leave(d *device, why string) {
	d.comment = why
	c.note(d.entry, "is a comment in %s: %s", ConfigFile, why)
}
