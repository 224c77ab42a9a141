package setting

import (
	"fmt"
	"strings"
	"time"
)

// Read maps a channel of a meter to a point of this node, from which it is read.
type Read struct {
	// Meter is the id of the meter.
	Meter string `yaml:"meter" example:"1EMH0001"`
	// Channel is the number of its channel.
	Channel int `yaml:"channel" example:"2"`
	// Point is the point of a device of this node that holds the register.
	Point string `yaml:"point" example:"cellar/meter-1/energy"`
	// Every is how often it is read, at times aligned to the local day: 15m reads at 0, 15, 30 and 45 minutes past the hour. 0 only reads on
	// demand.
	Every time.Duration `yaml:"every" example:"15m"`
	// As is value for a channel that is the register: its value at that time is the reading. advance is for a channel with intervals of this length: the
	// reading is how much the register advanced since the time before. Default: value.
	As string `yaml:"as" enum:"value,advance"`
}

// AsAdvance is Read.As of channels with intervals.
const AsAdvance = "advance"

// shortestEvery is how often a meter may be read.
const shortestEvery = time.Second

func (s *Section) validateReads(r Report) {
	if len(s.Reads) > maxMeters {
		r("reads", "lists %d; write at most %d", len(s.Reads), maxMeters)
	}
	if len(s.Reads) > 0 && !s.Enabled() && !s.Concentrates() {
		r("reads", "is for a metering data system or a concentrator, and the role is %s; write \"role: concentrator\", or remove it", s.Role)
	}
	type channel struct {
		meter  string
		number int
	}
	seen := map[channel]bool{}
	for i := range s.Reads {
		one := &s.Reads[i]
		at := func(key, format string, args ...any) { r(fmt.Sprintf("reads[%d].%s", i, key), format, args...) }
		if key := (channel{one.Meter, one.Channel}); seen[key] {
			at("channel", "%d of %.64q is there already; each channel has one entry", one.Channel, one.Meter)
		} else {
			seen[key] = true
		}
		one.validate(at)
	}
}

func (one *Read) validate(r Report) {
	if one.Meter == "" || len(one.Meter) > maxID {
		r("meter", "%.64q is no id of a meter; write up to %d bytes", one.Meter, maxID)
	}
	within(r, "channel", one.Channel, span{1, 65535, "1"})
	if one.Point == "" || strings.HasPrefix(one.Point, "/") || strings.HasSuffix(one.Point, "/") {
		r("point", "%q is no point; write the path of a point of a device, such as cellar/meter-1/energy", one.Point)
	}
	switch {
	case one.Every == 0 && one.As == AsAdvance:
		r("every", "is missing; an advance is read on schedule: write the length of the intervals, such as 15m")
	case one.Every != 0 && (one.Every < shortestEvery || one.Every > 24*time.Hour || (24*time.Hour)%one.Every != 0):
		r("every", "%s does not divide a day; write 1s to 24h, such as 15m", one.Every)
	}
}
