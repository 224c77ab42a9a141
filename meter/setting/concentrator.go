package setting

import (
	"fmt"
	"net/url"
	"time"
)

// Concentrator sets how a concentrator collects and forwards readings.
type Concentrator struct {
	// Bulk is the maximum number of readings in one request: a request is sent when this many are waiting.
	Bulk int `yaml:"bulk" example:"120"`
	// Age is how long a reading waits at most for the bulk to fill.
	Age time.Duration `yaml:"age" example:"5s"`
	// To is the receiver of the readings: systems for those listed below, over their web service, or parent for the
	// parent node, over the uplink. Default: systems, if any are listed.
	To string `yaml:"to" enum:"systems,parent"`
	// Form is that of requests to systems. csv, cim and json are those of this program; a request in cim holds readings that came with a
	// reading type.
	Form string `yaml:"form" enum:"soap,soap12,json,csv,cim"`
	// Kept keeps connections to systems open; false makes a new one for each request.
	Kept bool `yaml:"kept"`
	// Parallel is how many requests may be in progress at once.
	Parallel int `yaml:"parallel" example:"1"`
	// Timeout is how long a system may take to answer a request.
	Timeout time.Duration `yaml:"timeout" example:"30s"`
	// OnlyListed refuses readings of meters that are not listed below.
	OnlyListed bool `yaml:"only_listed" example:"true"`
	// Systems are metering data systems. Requests are distributed among those that answer; if one refuses a request,
	// another gets it.
	Systems []System `yaml:"systems"`
	// Meters are those whose readings are taken if only_listed is true.
	Meters []Meter `yaml:"meters"`
}

// System is a metering data system.
type System struct {
	// URL is its address. Without a path, that of this program's web service is used.
	URL string `yaml:"url" example:"https://mds.example"`
	// TokenFile holds the token for recording there, relative to this file. It is read anew when the system refuses it.
	TokenFile string `yaml:"token_file" example:"mds.token"`
	// CAFile holds the certificates of the authorities that may vouch for it; those of the machine if left out.
	CAFile string `yaml:"ca_file" example:"mds-ca.pem"`
}

// Meter is a meter that a concentrator knows.
type Meter struct {
	// ID is its id.
	ID string `yaml:"id" example:"1EMH0001"`
}

func defaultConcentrator() Concentrator {
	return Concentrator{Bulk: 120, Age: 5 * time.Second, Form: "soap", Kept: true, Parallel: 1, Timeout: 30 * time.Second}
}

// Target is who gets the readings: systems or parent.
func (c *Concentrator) Target() string {
	switch {
	case c.To != "":
		return c.To
	case len(c.Systems) > 0:
		return ToSystems
	}
	return ToParent
}

// Who gets the readings of a concentrator.
const (
	ToSystems = "systems"
	ToParent  = "parent"
)

// The bounds of what may be written.
const (
	maxBulk     = 100_000
	minAge      = time.Millisecond
	maxAge      = 24 * time.Hour
	maxParallel = 64
	minTimeout  = 100 * time.Millisecond
	maxTimeout  = 10 * time.Minute
	maxSystems  = 16
	maxMeters   = 1_000_000
	maxID       = 64
)

func (c *Concentrator) validate(r Report) {
	within(r, "bulk", c.Bulk, span{1, maxBulk, "120"})
	within(r, "parallel", c.Parallel, span{1, maxParallel, "1"})
	lasts(r, "age", c.Age, period{minAge, maxAge, "1ms to 24h, such as 5s"})
	lasts(r, "timeout", c.Timeout, period{minTimeout, maxTimeout, "100ms to 10m, such as 30s"})
	switch {
	case c.To == ToSystems && len(c.Systems) == 0:
		r("systems", "is empty; write the addresses of the metering data systems, or \"to: parent\"")
	case c.To == ToParent && len(c.Systems) > 0:
		r("to", "is parent, and systems are listed; write \"to: systems\", or remove them")
	}
	if len(c.Systems) > maxSystems {
		r("systems", "lists %d; write at most %d", len(c.Systems), maxSystems)
	}
	for i := range c.Systems {
		c.Systems[i].validate(func(key, format string, args ...any) { r(fmt.Sprintf("systems[%d].%s", i, key), format, args...) })
	}
	if len(c.Meters) > maxMeters {
		r("meters", "lists %d; write at most %d", len(c.Meters), maxMeters)
	}
	seen := map[string]bool{}
	for i := range c.Meters {
		at := func(key, format string, args ...any) { r(fmt.Sprintf("meters[%d].%s", i, key), format, args...) }
		if seen[c.Meters[i].ID] {
			at("id", "%.64q is there already; each meter has one entry", c.Meters[i].ID)
		}
		seen[c.Meters[i].ID] = true
		c.Meters[i].validate(at)
	}
}

func (s *System) validate(r Report) {
	badAddress(r, "url", s.URL)
}

func (m *Meter) validate(r Report) {
	if m.ID == "" || len(m.ID) > maxID {
		r("id", "%.64q is no id of a meter; write up to %d bytes", m.ID, maxID)
	}
}

// badAddress reports what is wrong with the address of a web service. It repeats nothing of it, since it may hold a secret.
func badAddress(r Report, key, text string) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		r(key, "is missing; write the address of the web service, such as https://mds.example")
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		r(key, "is not the address of a web service; write one such as https://mds.example")
	case u.User != nil:
		r(key, "holds a password, which everybody who sees the settings could read; write a token into a file, and the file's name to token_file")
	}
}

// span is what may be written, with an example.
type span struct {
	low, high int
	such      string
}

func within(r Report, key string, v int, s span) {
	if v < s.low || v > s.high {
		r(key, "%d is out of range; write %d to %d, such as %s", v, s.low, s.high, s.such)
	}
}

// period is how long something may last, in words too.
type period struct {
	low, high time.Duration
	words     string
}

func lasts(r Report, key string, v time.Duration, p period) {
	if v < p.low || v > p.high {
		r(key, "%s is out of range; write %s", v, p.words)
	}
}
