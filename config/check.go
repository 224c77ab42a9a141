package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/internal/strictyaml"
	"voltbus/point"
)

const (
	minInterval = 100 * time.Millisecond
	minTimeout  = 10 * time.Millisecond
)

// validate checks the device alone, without its driver's section.
func (d *Device) validate(r report) {
	if text := badPath(d.Path); text != "" {
		r("path", "%s", text)
	}
	if d.Driver == "" {
		r("driver", "is missing; write the name of a driver, such as modbus")
	}
	d.validateSchedule(r)
	checkForms(r, "publish", d.Publish)
	if len(d.Publish) == 0 && !d.Record {
		r("record", "nobody would see this device; write true, or publish: [scan]")
	}
}

// once returns the strings without duplicates.
func once(texts []string) []string {
	var out []string
	for _, text := range texts {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// checkForms reports forms of live messages listed twice.
func checkForms(r report, key string, forms []string) {
	for i, form := range forms {
		if slices.Contains(forms[:i], form) {
			r(fmt.Sprintf("%s[%d]", key, i), "%q stands in the list already; remove it", form)
		}
	}
}

func (d *Device) validateSchedule(r report) {
	heard := d.Subscribe && d.Interval == 0
	interval := strictyaml.FormatDuration(d.Interval)
	if d.Interval < minInterval && !heard {
		r("interval", "%q is too short; write at least 100ms, such as 10s", interval)
	}
	if d.Offset < 0 || (d.Offset > 0 && d.Offset >= d.Interval) {
		r("offset", "%s is out of range; write 0 or more, but less than the interval, %s", duration(d.Offset), interval)
	}
	if d.Timeout < minTimeout {
		r("timeout", "%s is too short; write at least 10ms, such as 10s", duration(d.Timeout))
	}
	if d.StaleAfter < 0 || (d.StaleAfter > 0 && d.StaleAfter < d.Interval) {
		r("stale_after", "%s is shorter than the interval; write at least %s, or 0 for three intervals", duration(d.StaleAfter), interval)
	}
	switch {
	case d.Stagger < 0:
		r("stagger", "%s is negative; write a time such as 5s", duration(d.Stagger))
	case d.Stagger > d.Interval:
		r("stagger", "%s is longer than the interval; write at most %s", duration(d.Stagger), interval)
	case d.Stagger > 0 && d.Group == "":
		r("stagger", "spreads the devices of a group; write a group too, such as group: meters")
	}
}

// branch returns the first part of a path.
func branch(p point.Path) string {
	first, _, _ := strings.Cut(string(p), "/")
	return first
}

// badPath returns why p cannot be the path of a device, or "".
func badPath(p point.Path) string {
	const example = "such as campus/building/boiler"
	switch err := p.Validate(); {
	case p == "":
		return "is missing; write the device's place, " + example
	case err != nil:
		return fmt.Sprintf("%q is not a path: %v", p, err)
	case branch(p) == "control" || branch(p) == "control-level":
		return fmt.Sprintf("%q lies where commands are recorded; begin it with something else than %s, %s", p, branch(p), example)
	case strings.HasPrefix(string(p), "/") || strings.HasSuffix(string(p), "/") || strings.Contains(string(p), "//"):
		return fmt.Sprintf("%q has an empty part; write single slashes between the parts, %s", p, example)
	}
	return ""
}
