// Package setting defines the section "metering" of the configuration.
package setting

import (
	"time"
	_ "time/tzdata" // zones must not depend on the machine

	"voltbus/meter/vee"
	database "voltbus/store/postgres/setting"
)

// Section is the section "metering".
type Section struct {
	// Role is mds for a node that keeps meters and all their readings: a metering data system. concentrator is for one
	// that collects readings and forwards them in bulk.
	Role string `yaml:"role" enum:"off,mds,concentrator"`
	// Zone is the IANA time zone of billing days. A store keeps the zone that it was created with.
	Zone string `yaml:"zone" example:"Europe/Berlin"`
	// Store says where meters and readings are kept.
	Store Store `yaml:"store"`
	// Memory is the most that the metering store may use for its work, in MiB.
	Memory int `yaml:"memory" example:"512"`
	// Unregistered is how many readings of unregistered meters are kept here until the meters are registered, at most a
	// quarter of them from one child. Further ones stay in the log of the child that sends them, with everything after
	// them.
	Unregistered int `yaml:"unregistered" example:"1000000"`
	// Grace is how long after its end a day is validated.
	Grace time.Duration `yaml:"grace" example:"1h"`
	// GiveUp is how far back the list of readings to recover begins.
	GiveUp time.Duration `yaml:"give_up" example:"30d"`
	// Negative flags values below 0 of channels that are not net.
	Negative bool `yaml:"negative" example:"true"`
	// Spike flags the highest value of a day if it exceeds the third highest by this factor: 1.8 is 180 % above it. 0
	// disables the rule.
	Spike float64 `yaml:"spike" example:"1.8"`
	// SpikeFloor is the value up to which nothing counts as a spike.
	SpikeFloor float64 `yaml:"spike_floor" example:"0.5"`
	// Stuck flags this many equal consecutive values other than 0. 0 disables the rule.
	Stuck int `yaml:"stuck" example:"12"`
	// Change flags a larger change from one interval to the next. 0 disables the rule.
	Change float64 `yaml:"change" example:"5"`
	// High flags the readings of a day whose sum exceeds this multiple of the same days in the weeks before. 0 disables
	// the rule.
	High float64 `yaml:"high" example:"3"`
	// Low flags the readings of a day whose sum is less than this part of it. 0 disables the rule.
	Low float64 `yaml:"low" example:"0.3"`
	// Sum is how far the sum of the intervals between two reads of the register may differ from its advance. 0 disables
	// the rule.
	Sum float64 `yaml:"sum" example:"0.5"`
	// Maximum flags a value above this multiple of the highest one of the 28 days before. 0 disables the rule.
	Maximum float64 `yaml:"maximum" example:"1.5"`
	// Concentrator sets how a concentrator collects and forwards readings.
	Concentrator Concentrator `yaml:"concentrator"`
	// Reads lists channels of meters that this node reads itself, from points of its devices.
	Reads []Read `yaml:"reads"`
	// Cluster lists metering data systems that share the meters among themselves.
	Cluster Cluster `yaml:"cluster"`
}

// Store is the section "metering.store".
type Store struct {
	// Engine keeps meters and readings: duckdb in files of this node, postgres in a database server.
	Engine string `yaml:"engine" enum:"duckdb,postgres"`
	// URL is the address of the database, for the engine postgres, without a password in it. If it is left out and
	// store.engine is postgres, readings are kept in the database of the history, and password_file and tls are those of store.
	URL string `yaml:"url" example:"postgres://voltbus@db.example.org/voltbus"`
	// PasswordFile holds the password for the database, relative to this file. It is read anew for each connection.
	// Without it the environment variable PGPASSWORD and ~/.pgpass are used.
	PasswordFile string `yaml:"password_file" example:"secrets/postgres"`
	// Schema is the schema of the tables in the database. It is created if it is missing. Each metering data system needs one of
	// its own. If left out, that of the history in the same database, else voltbus.
	Schema string `yaml:"schema" example:"metering"`
	// TLS secures the connection to the database.
	TLS database.TLS `yaml:"tls"`
}

// Default returns the section of a node that says nothing.
func Default() Section {
	return Section{Role: "off", Zone: "UTC", Store: Store{Engine: "duckdb", TLS: database.TLS{Mode: "verify"}}, Memory: 512, Unregistered: 1_000_000, Grace: time.Hour, GiveUp: 30 * 24 * time.Hour, Negative: true, Concentrator: defaultConcentrator(), Cluster: defaultCluster()}
}

// Enabled reports whether the node is a metering data system.
func (s *Section) Enabled() bool { return s.Role == "mds" }

// Concentrates reports whether the node is a concentrator.
func (s *Section) Concentrates() bool { return s.Role == "concentrator" }

// Rules are those of validation.
func (s *Section) Rules() vee.Rules {
	return vee.Rules{
		Negative: s.Negative, SpikeRatio: s.Spike, SpikeFloor: s.SpikeFloor, StuckCount: s.Stuck, DemandTolerance: s.Change,
		HighRatio: s.High, LowRatio: s.Low, SumTolerance: s.Sum, MaxRatio: s.Maximum,
	}
}

// The bounds of what may be written.
const (
	minMemory = 64
	maxMemory = 1 << 20
	// maxUnregistered is some gigabytes on the disk.
	maxUnregistered = 100_000_000
	maxGrace        = 7 * 24 * time.Hour
	minGiveUp       = 24 * time.Hour
	maxGiveUp       = 90 * 24 * time.Hour // the list has so many days
)

// Report notes a problem with a key of the section, such as "zone".
type Report func(key, format string, args ...any)

// Validate reports everything that is wrong.
func (s *Section) Validate(r Report) {
	if _, err := time.LoadLocation(s.Zone); err != nil || s.Zone == "" || s.Zone == "Local" {
		r("zone", "%q is no time zone; write an IANA name, such as Europe/Berlin", s.Zone)
	}
	if s.Memory < minMemory || s.Memory > maxMemory {
		r("memory", "%d is out of range; write %d to %d, such as 512", s.Memory, minMemory, maxMemory)
	}
	if s.Unregistered < 0 || s.Unregistered > maxUnregistered {
		r("unregistered", "%d is out of range; write 0 to %d, such as 1000000", s.Unregistered, maxUnregistered)
	}
	if s.Grace < 0 || s.Grace > maxGrace {
		r("grace", "%s is out of range; write 0s to 7d, such as 1h", s.Grace)
	}
	if s.GiveUp < minGiveUp || s.GiveUp > maxGiveUp {
		r("give_up", "%s is out of range; write 1d to 90d, such as 30d", s.GiveUp)
	}
	s.validateRules(r)
	s.Cluster.validate(func(key, format string, args ...any) { r("cluster."+key, format, args...) })
	if s.Cluster.Enabled() && !s.Enabled() {
		r("cluster", "is for metering data systems, and the role is %s; write \"role: mds\", or remove it", s.Role)
	}
	s.Concentrator.validate(func(key, format string, args ...any) { r("concentrator."+key, format, args...) })
	s.validateReads(r)
	if !s.Concentrates() && (s.Concentrator.To != "" || len(s.Concentrator.Systems) > 0) {
		r("concentrator", "is for a concentrator, and the role is %s; write \"role: concentrator\", or remove it", s.Role)
	}
}

func (s *Section) validateRules(r Report) {
	for _, n := range []struct {
		key   string
		value float64
	}{{"spike", s.Spike}, {"spike_floor", s.SpikeFloor}, {"change", s.Change}, {"sum", s.Sum}} {
		if !(n.value >= 0) {
			r(n.key, "%v is out of range; write a number above 0, or 0 to leave the rule out", n.value)
		}
	}
	if s.High != 0 && !(s.High >= 1) {
		r("high", "%v is out of range; write 1 or more, such as 3, or 0 to leave the rule out", s.High)
	}
	if !(s.Low >= 0 && s.Low <= 1) {
		r("low", "%v is out of range; write a number up to 1, such as 0.3, or 0 to leave the rule out", s.Low)
	}
	if s.Maximum != 0 && !(s.Maximum >= 1) {
		r("maximum", "%v is out of range; write 1 or more, such as 1.5, or 0 to leave the rule out", s.Maximum)
	}
	if s.Stuck != 0 && s.Stuck < 2 {
		r("stuck", "%d is out of range; write 2 or more, or 0 to leave the rule out", s.Stuck)
	}
}
