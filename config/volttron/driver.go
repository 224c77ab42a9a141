package volttron

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// section collects the configuration of a driver.
type section struct{ node yaml.Node }

// set writes a key, unless the value is "".
func (s *section) set(key, value string) {
	if value == "" {
		return
	}
	var k, v yaml.Node
	k.SetString(key)
	v.SetString(value)
	if _, err := strconv.Atoi(value); err == nil || value == "true" || value == "false" {
		v = yaml.Node{Kind: yaml.ScalarNode, Value: value}
	}
	s.node.Kind = yaml.MappingNode
	s.node.Content = append(s.node.Content, &k, &v)
}

// driver converts the driver's part of a device, and returns the entries that it refers to.
func (c *conversion) driver(d *device, kind string, f fields, table *list, s *store) (references []string) {
	if f == nil {
		f = fields{}
	}
	var out section
	switch kind {
	case "modbus":
		d.driver = "modbus"
		out.set("address", address(&f, "502"))
		out.set("unit", orZero(f.text("slave_id")))
	case "modbus_tk":
		d.driver = "modbus"
		references = c.modbusTK(d, &f, &out, s)
	case "fakedriver":
		d.driver = "sim"
		out.set("model", "random")
		out.set("points", strconv.Itoa(max(1, table.rows())))
		c.note(d.entry, "fakedriver: the simulated device has as many points, with other names and values")
		clear(f)
		table = nil
	case "dnp3":
		d.driver = "dnp3"
		host, port := f.text("outstation_ip"), f.text("port")
		if port == "" {
			port = "20000"
		}
		out.set("address", net.JoinHostPort(host, port))
		out.set("master", f.text("master_id"))
		out.set("outstation", f.text("outstation_id"))
		f.text("master_ip") // the system chooses the address
	case "bacnet":
		d.driver = "bacnet"
		c.bacnet(d, &f, &out, table)
	default:
		c.leave(d, fmt.Sprintf("there is no driver %q", kind))
		return nil
	}
	c.rest(d.entry, f)
	if table == nil && d.driver != "sim" {
		c.leave(d, "its registry is not in the store")
		return references
	}
	if table != nil {
		out.set("registry", c.write(table))
		if d.beat != "" && !table.writable(d.beat) {
			c.note(d.entry, "heart_beat_point %s: its registry does not say that it can be written, so it has no heartbeat", d.beat)
			d.beat = ""
		}
	} else if d.beat != "" {
		c.note(d.entry, "heart_beat_point %s: a simulated device needs none", d.beat)
		d.beat = ""
	}
	d.config = &out.node
	return references
}

// modbusTK converts the keys that only the driver modbus_tk has.
func (c *conversion) modbusTK(d *device, f *fields, out *section, s *store) (references []string) {
	f.text("name")
	if at, _ := (*f)["device_address"].(string); strings.HasPrefix(strings.TrimSpace(at), "/") {
		out.set("transport", "rtu")
		out.set("address", f.text("device_address"))
		f.text("port")
		speed := f.text("baudrate")
		if speed == "" {
			speed = "9600"
		}
		out.set("baudrate", speed)
		out.set("databits", f.text("bytesize"))
		out.set("parity", strings.ToLower(f.text("parity")))
		out.set("stopbits", f.text("stopbits"))
	} else {
		out.set("address", address(f, "502"))
		for _, key := range []string{"baudrate", "bytesize", "parity", "stopbits", "xonxoff"} {
			f.text(key) // for a serial line only
		}
	}
	unit := f.text("slave_id")
	if unit == "" {
		unit = "1"
	}
	out.set("unit", unit)
	out.set("addressing", f.text("addressing"))
	switch endian := strings.ToLower(f.text("endian")); endian {
	case "", "big":
	case "mixed":
		out.set("byte_order", "CDAB")
	case "little":
		out.set("byte_order", "DCBA")
		c.note(d.entry, "endian little became byte_order DCBA: compare one value of 32 bits with the device")
	default:
		c.note(d.entry, "endian %q is not known, and left out", endian)
	}
	out.set("write_multiple", strings.ToLower(f.text("write_multiple_registers")))
	if reference := f.text("register_map"); reference != "" {
		table, found := c.registryOf(s, reference, d.entry, "modbus_tk")
		references = found
		if table != nil {
			out.set("register_map", c.write(table))
		}
	}
	return references
}

// address takes the host and port of a device.
func address(f *fields, usual string) string {
	host, port := f.text("device_address"), f.text("port")
	if host == "" || port == "" || port == usual || port == "0" {
		return host
	}
	return net.JoinHostPort(host, port)
}

func orZero(text string) string {
	if text == "" {
		return "0"
	}
	return text
}
