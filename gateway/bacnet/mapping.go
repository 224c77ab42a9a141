package bacnet

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"voltbus/internal/strictyaml"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Mapping is a mapping file.
type Mapping struct {
	// Local is the own address on the BACnet network with the length of its subnet.
	Local string `yaml:"local" example:"10.0.0.5/24"`
	// BBMD registers the gateway as a foreign device with this BBMD, which passes on its broadcasts.
	BBMD string `yaml:"bbmd" example:"10.1.0.2"`
	// BBMDPeers are the BBMDs of other subnets. With them, or with foreign devices, the gateway is the BBMD of its subnet.
	BBMDPeers []string `yaml:"bbmd_peers" example:"[10.1.0.2, 10.2.0.2]"`
	// ForeignDevices is how many foreign devices may register with the gateway as their BBMD: those that allow has.
	ForeignDevices int `yaml:"foreign_devices" example:"64"`
	// Device is the instance of the device, unique in the whole BACnet network.
	Device int `yaml:"device" example:"4001"`
	// Name, Description and Location are properties of the device. The name must be unique in the whole network.
	Name        string `yaml:"name" example:"voltbus campus"`
	Description string `yaml:"description"`
	Location    string `yaml:"location"`
	// Vendor is the vendor identifier that ASHRAE assigned to who operates the gateway; 0 if none is.
	Vendor int `yaml:"vendor"`
	// MaxAPDU is the length in bytes of the longest message that is taken and sent.
	MaxAPDU int `yaml:"max_apdu"`
	// MaxSubscriptions bounds the COV subscriptions of all clients.
	MaxSubscriptions int `yaml:"max_subscriptions"`
	// Allow are the addresses, or ranges of addresses, that may speak to the device; empty for any. Of a station behind a router it is the
	// address of the router.
	Allow []string `yaml:"allow" example:"[10.0.0.0/24]"`
	// Instances is the file that keeps which object is which point's; beside the mapping file if empty.
	Instances string `yaml:"instances" example:"campus.instances.csv"`
	// Points are points to serve.
	Points []Point `yaml:"points"`
	// Patterns select more points to serve: those that no entry before has, with instances of the gateway's choice.
	Patterns []Pattern `yaml:"patterns"`
	// Trend says how trend logs are made of the history.
	Trend Trend `yaml:"trend"`
	// Writers may command points; without one all objects are read-only.
	Writers []Writer `yaml:"writers"`
	// Status is a host:port where /health and /metrics tell how the gateway is doing; empty: nowhere.
	Status string `yaml:"status" example:"127.0.0.1:9108"`
}

// Point maps one point of the node to an object.
type Point struct {
	// Point is the path of the point.
	Point string `yaml:"point" example:"site/ahu/supply_temp"`
	// Type is the type of the object; by the kind of the point and whether it is writable if empty.
	Type string `yaml:"type" enum:"analog-input,analog-output,analog-value,binary-input,binary-output,binary-value,multi-state-input,multi-state-output,multi-state-value,characterstring-value"`
	// Instance is the object's instance, unique within the type; the gateway's choice if left out.
	Instance *int `yaml:"instance"`
	// Name is the object's name, unique in the device; the path of the point if empty.
	Name string `yaml:"name"`
	// Description is that of the point if empty.
	Description string `yaml:"description"`
	// Unit is an engineering unit of the standard, such as degrees-celsius; by the unit of the point if empty.
	Unit string `yaml:"unit"`
	// Increment is how much an analog value must change for a notification; 0 for any change.
	Increment float64 `yaml:"increment"`
	// Min and Max limit what may be written to an analog object.
	Min *float64 `yaml:"min"`
	Max *float64 `yaml:"max"`
	// States are the texts of the states: of a multi-state object from state 1 on, of a binary one inactive and active.
	States []string `yaml:"states" example:"[off, low, high]"`
	// First is the value of the point in state 1; 1 if left out.
	First *int `yaml:"first"`
	// ReadOnly has a writable point refuse commands.
	ReadOnly bool `yaml:"read_only"`
	// TrendLog is the instance of a trend log with the history of the point; left out: there is none.
	TrendLog *int `yaml:"trend_log"`
}

// Pattern selects points of the node.
type Pattern struct {
	// Pattern is a path with wildcards, such as site/*/temp or site/ahu/**.
	Pattern string `yaml:"pattern" example:"site/**"`
	// Increment is how much an analog value must change for a notification; 0 for any change.
	Increment float64 `yaml:"increment"`
	// ReadOnly has writable points refuse commands.
	ReadOnly bool `yaml:"read_only"`
	// TrendLogs gives each point that is no text a trend log.
	TrendLogs bool `yaml:"trend_logs"`
}

// Trend says how trend logs are made of the history.
type Trend struct {
	// Interval is the time between two records: each holds the last value before it.
	Interval time.Duration `yaml:"interval" example:"1m"`
	// Records is how many of the newest records a log has.
	Records int `yaml:"records"`
}

// Writer is who may command points: stations of the BACnet network, in the name of a person of the node.
type Writer struct {
	// From are addresses, or ranges of addresses, of the stations, or of the router before them.
	From []string `yaml:"from" example:"[10.0.0.7, 10.0.1.0/24]"`
	// Networks are the numbers of networks behind routers whose stations may command; stations of others may not.
	Networks []int `yaml:"networks"`
	// TokenFile holds a token of the person.
	TokenFile string `yaml:"token_file" example:"bms.token"`
	// MinPriority is the most urgent priority that they may command at.
	MinPriority int `yaml:"min_priority"`
	// Lease ends a command by itself unless it is written again; 0: it lasts until it is relinquished.
	Lease time.Duration `yaml:"lease"`
}

// newMapping returns the defaults.
func newMapping() *Mapping {
	return &Mapping{Name: "voltbus", MaxAPDU: 1476, MaxSubscriptions: 10_000, Device: -1, Trend: Trend{Interval: time.Minute, Records: 10_080}}
}

// ParseMapping parses a mapping file strictly. It returns every problem with its place.
func ParseMapping(file string, data []byte) (*Mapping, []strictyaml.Problem) {
	m := newMapping()
	node, problem := strictyaml.Parse(file, data)
	if problem != nil {
		return nil, []strictyaml.Problem{*problem}
	}
	problems := strictyaml.Decode(file, "", node, m)
	if len(problems) == 0 {
		c := &checker{file: file}
		c.mapping(m)
		problems = c.problems
	}
	return m, problems
}

// checker collects problems beyond the syntax.
type checker struct {
	file     string
	problems []strictyaml.Problem
}

func (c *checker) add(wrong bool, key, text string, args ...any) {
	if wrong {
		c.problems = append(c.problems, strictyaml.Problem{File: c.file, Key: key, Text: fmt.Sprintf(text, args...)})
	}
}

func (c *checker) mapping(m *Mapping) {
	c.add(m.Device < 0 || m.Device > encoding.MaxInstance, "device", "is missing or out of range; write an instance from 0 to %d that no other device of the network has", encoding.MaxInstance)
	c.add(m.Name == "", "name", "is empty; write a name that no other device of the network has")
	c.add(m.Vendor < 0 || m.Vendor > math.MaxUint16, "vendor", "%d is out of range; write 0 to 65535", m.Vendor)
	c.add(m.MaxAPDU < 50 || m.MaxAPDU > 1476, "max_apdu", "%d is out of range; write a number from 50 to 1476", m.MaxAPDU)
	c.add(m.MaxSubscriptions < 1 || m.MaxSubscriptions > 1_000_000, "max_subscriptions", "%d is out of range; write a number from 1 to 1000000", m.MaxSubscriptions)
	c.add(m.Trend.Interval < time.Second || m.Trend.Interval > 24*time.Hour || m.Trend.Interval%time.Second != 0, "trend.interval", "%v is out of range; write whole seconds up to 24h, such as 1m", m.Trend.Interval)
	c.add(m.Trend.Records < 1 || m.Trend.Records > 1_000_000, "trend.records", "%d is out of range; write a number from 1 to 1000000", m.Trend.Records)
	c.add(len(m.Points)+len(m.Patterns) == 0, "points", `is empty, and patterns too; write one "- {point: site/ahu/supply_temp}" for each point, or "- {pattern: site/ahu/**}" below patterns`)
	c.addresses(m.Allow, "allow")
	c.management(m)
	names, logs := map[string]bool{m.Name: true}, map[int]bool{}
	for i := range m.Points {
		key := fmt.Sprintf("points[%d]", i)
		c.point(&m.Points[i], key)
		name := m.Points[i].name()
		c.add(names[name], key+".name", "%q is the name of another object already; give each its own", name)
		names[name] = true
		if log := m.Points[i].TrendLog; log != nil {
			c.add(logs[*log], key+".trend_log", "trend-log %d is that of another point already; give each its own instance", *log)
			logs[*log] = true
		}
	}
	for i := range m.Patterns {
		p, key := &m.Patterns[i], fmt.Sprintf("patterns[%d]", i)
		c.add(p.Pattern == "", key+".pattern", "is missing; write a path with wildcards, such as site/ahu/**")
		c.increment(p.Increment, key)
	}
	for i := range m.Writers {
		c.writer(&m.Writers[i], fmt.Sprintf("writers[%d]", i))
	}
}

func (c *checker) point(p *Point, key string) {
	c.add(p.Point == "", key+".point", "is missing; write the path of a point")
	c.add(p.Type != "" && !slices.Contains(typeNames(), p.Type), key+".type", "%q is no type of object that can be served; write one of %s", p.Type, strings.Join(typeNames(), ", "))
	if p.Instance != nil {
		c.add(*p.Instance < 0 || *p.Instance > encoding.MaxInstance, key+".instance", "%d is out of range; write a number from 0 to %d", *p.Instance, encoding.MaxInstance)
	}
	c.increment(p.Increment, key)
	c.add(p.Min != nil && p.Max != nil && *p.Min > *p.Max, key+".min", "is above max; write the smaller number as min")
	c.add(strings.HasPrefix(p.Type, "binary") && len(p.States) > 0 && len(p.States) != 2, key+".states", "has %d texts; a binary object has two, inactive and active", len(p.States))
	c.add(strings.HasPrefix(p.Type, "multi-state") && len(p.States) == 0, key+".states", "is missing; write the texts of all states, the one of state 1 first")
	if p.Unit != "" {
		_, known := enum.ParseUnit(p.Unit)
		c.add(!known, key+".unit", "%q is no unit of the standard; write such as degrees-celsius, or leave it out", p.Unit)
	}
	if p.TrendLog != nil {
		c.add(*p.TrendLog < 0 || *p.TrendLog > encoding.MaxInstance, key+".trend_log", "%d is out of range; write a number from 0 to %d", *p.TrendLog, encoding.MaxInstance)
		c.add(p.Type == characterString, key+".trend_log", "is of a text, which has no trend log; leave it out")
	}
}

func (c *checker) writer(w *Writer, key string) {
	c.add(len(w.From) == 0, key+".from", "is empty; write the addresses of the stations that may command, such as [10.0.0.7]")
	c.addresses(w.From, key+".from")
	for i, n := range w.Networks {
		c.add(n < 1 || n > 65534, fmt.Sprintf("%s.networks[%d]", key, i), "%d is no network; write its number from 1 to 65534", n)
	}
	c.add(w.TokenFile == "", key+".token_file", "is missing; write the name of a file with a token of the person in whose name they command")
	if w.MinPriority == 0 {
		w.MinPriority = 8
	}
	c.add(w.MinPriority < 1 || w.MinPriority > 16, key+".min_priority", "%d is out of range; write 1, the most urgent, to 16", w.MinPriority)
	c.add(w.Lease < 0, key+".lease", "%v is negative; write a duration, or leave it out", w.Lease)
}

func (c *checker) increment(v float64, key string) {
	c.add(v < 0 || v != v, key+".increment", "%v is no change; write a number from 0 on", v)
}

func (c *checker) addresses(list []string, key string) {
	for i, text := range list {
		_, err := parseFrom(text)
		c.add(err != nil, fmt.Sprintf("%s[%d]", key, i), "%q is no address; write such as 10.0.0.7 or 10.0.1.0/24", text)
	}
}

// maxForeign bounds what a broadcast of the subnet costs: a message to each.
const maxForeign = 1000

// management checks what the gateway does as a BBMD.
func (c *checker) management(m *Mapping) {
	c.add(m.ForeignDevices < 0 || m.ForeignDevices > maxForeign, "foreign_devices", "%d is out of range; write how many may register, up to %d", m.ForeignDevices, maxForeign)
	c.add(len(m.BBMDPeers) > maxForeign, "bbmd_peers", "has %d entries; write at most %d", len(m.BBMDPeers), maxForeign)
	if !m.IsBBMD() {
		return
	}
	c.add(m.BBMD != "", "bbmd", "is another BBMD, and with bbmd_peers or foreign_devices the gateway is one itself; leave one of them out")
	c.add(m.Local == "", "local", "is missing; a BBMD needs the address of its network card with the length of its subnet, such as 10.0.0.5/24")
}

// IsBBMD reports whether the gateway is the BBMD of its subnet.
func (m *Mapping) IsBBMD() bool { return len(m.BBMDPeers) > 0 || m.ForeignDevices > 0 }

// parseFrom reads an address or a range.
func parseFrom(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Prefix(a.BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

// name returns the name of the object.
func (p *Point) name() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Point
}
