package volttron

import (
	"slices"
	"strings"
)

// bacnet converts the keys that only the driver bacnet has.
func (c *conversion) bacnet(d *device, f *fields, out *section, table *list) {
	out.set("device", f.text("device_id"))
	out.set("address", f.text("device_address"))
	out.set("max_per_request", f.text("max_per_request"))
	if strings.EqualFold(f.text("use_read_multiple"), "false") {
		out.set("max_per_request", "1")
	}
	least := f.text("min_priority")
	if least == "" {
		least = "8"
	}
	out.set("min_priority", least)
	if lifetime := f.text("cov_lifetime"); lifetime != "" {
		out.set("cov_lifetime", strings.TrimSuffix(lifetime, ".0")+"s")
	}
	if timeout := f.text("timeout"); timeout != "" {
		out.set("timeout", strings.TrimSuffix(timeout, ".0")+"s")
	}
	d.subscribe = table.has("cov flag", "true", "t", "yes", "y", "1")
	if proxy := f.text("proxy_address") + f.text("proxy_vip_identity"); proxy != "" {
		c.note(d.entry, "proxy_address: there is no proxy, the node speaks BACnet itself; write local, such as 10.0.0.5/24, or bbmd")
	}
	f.text("ping_retry_interval") // a device that does not answer is retried at growing intervals
}

// has reports whether a cell of a column contains one of some words.
func (l *list) has(column string, words ...string) bool {
	if l == nil {
		return false
	}
	at := l.column(column)
	return at >= 0 && slices.ContainsFunc(l.cells[1:], func(row []string) bool {
		return at < len(row) && slices.Contains(words, strings.ToLower(strings.TrimSpace(row[at])))
	})
}
