package config

import (
	"fmt"
	"strings"
	"time"

	"voltbus/point"
)

// The bounds of the section "uplink".
const (
	minUplinkRate = KiB
	minUplinkAge  = 10 * time.Millisecond
	maxUplinkAge  = time.Minute
	minSilence    = time.Second
	maxSilence    = 10 * time.Minute
)

// validateRates checks the rates of sending.
func (n *Uplink) validateRates(r report) {
	if n.Rate < 0 || (n.Rate > 0 && n.Rate < minUplinkRate) {
		r("uplink.rate", "%v is too small; write at least %v, or 0 for no bound", n.Rate, minUplinkRate)
	}
	if n.LiveRate < 0 || (n.LiveRate > 0 && n.LiveRate < minUplinkRate) {
		r("uplink.live_rate", "%v is too small; write at least %v, or 0 for no bound", n.LiveRate, minUplinkRate)
	}
}

func (n *Uplink) validate(r report) {
	for _, list := range []struct {
		key      string
		patterns []point.Pattern
	}{{"uplink.select", n.Select}, {"uplink.urgent", n.Urgent}} {
		for i, p := range list.patterns {
			if p == "" {
				r(fmt.Sprintf("%s[%d]", list.key, i), "is empty; write a pattern such as campus/b1/**, or ** for everything")
			}
		}
	}
	seen := map[point.Path]bool{}
	for i, one := range n.Rename {
		key := fmt.Sprintf("uplink.rename[%d]", i)
		if bad := badPlace(one.From); bad != "" {
			r(key+".from", "%q %s", one.From, bad)
		}
		if bad := badPlace(one.To); bad != "" {
			r(key+".to", "%q %s", one.To, bad)
		}
		if seen[one.From] {
			r(key+".from", "%q is renamed already; each place has one new name", one.From)
		}
		seen[one.From] = true
	}
	n.validateAllow(r)
	n.validateHear(r)
	n.validateRates(r)
	if n.Age < minUplinkAge || n.Age > maxUplinkAge {
		r("uplink.age", "%s is out of range; write 10ms to 1m, such as 200ms", duration(n.Age))
	}
	if n.Silence < minSilence || n.Silence > maxSilence {
		r("uplink.silence", "%s is out of range; write 1s to 10m, such as 30s", duration(n.Silence))
	}
}

func (n *Uplink) validateHear(r report) {
	for i, place := range n.Hear {
		bad := badPlace(place)
		if place == "" {
			bad = "is empty; write the place of what is heard, such as weather"
		}
		if bad != "" {
			r(fmt.Sprintf("uplink.hear[%d]", i), "%q %s", place, bad)
		}
	}
}

func (n *Uplink) validateAllow(r report) {
	for i, text := range n.Allow {
		if bad := badCapability(text); bad != "" {
			r(fmt.Sprintf("uplink.allow[%d]", i), "%q %s", text, bad)
		}
	}
}

// badCapability returns why a text is not a capability, or "". What follows its verb is checked by the node,
// which knows what can be granted.
func badCapability(text string) string {
	verb, object, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch verb {
	case "administer":
		return ""
	case "read", "subscribe", "call", "command", "hold":
		if strings.TrimSpace(object) != "" {
			return ""
		}
		return "says nothing of what it is for; write such as read campus/**, call boiler:tune or command campus/b1/**@8"
	case "publish", "record":
		return "cannot be allowed: ancestors neither publish nor record here; take it away"
	}
	return "is no capability; write such as read campus/**, subscribe campus/**, call boiler:tune, command campus/b1/**@8, hold tune or administer"
}

// badPlace returns why a path is invalid, or "". The empty path means everything.
func badPlace(p point.Path) string {
	switch {
	case p == "":
	case p.Validate() != nil:
		return fmt.Sprintf("is not a path: %v", p.Validate())
	case strings.Contains(string(p), "*"):
		return "is not a path: it holds *; write the place of the points without it"
	case strings.HasPrefix(string(p), "/") || strings.HasSuffix(string(p), "/") || strings.Contains(string(p), "//"):
		return "has an empty part; write single slashes between the parts"
	}
	return ""
}
