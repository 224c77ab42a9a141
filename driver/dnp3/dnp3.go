// Package dnp3 is the driver for DNP3 outstations (IEEE 1815) over TCP, TLS, UDP or a serial port; the node is their master.
//
//   - dnp3.go defines the configuration; check.go validates it. Package pointlist reads the list of
//     points and knows what they mean.
//   - dial.go, secure.go and serial_linux.go open streams. protocol/dnp3/channel drives the state machines over them, with
//     workers shared by all lines (engine.go); line.go knows which stations share a line.
//   - station.go is the association with one outstation; collector.go keeps what it reports
//     for each session.
//   - session.go reads and listens, write.go operates. readonly.go is for read-only sessions. Package survey finds out which
//     points a device has.
//
// What a device reports on its own arrives at any time and is kept until it is taken: Read
// returns the present values, Take the events, each with the device's time.
//
// # Confirmed events come once
//
// An outstation forgets confirmed events, and a fragment is confirmed as a whole, whichever session's
// points it holds. So every session of an outstation has its collector in place before the first
// fragment is received: the owner opens the sessions of all devices that subscribe while the line is
// paused, and only then lets it receive. It pauses the line again to change sessions, takes what they
// have received before it closes them, and opens their successors in the same pause. A device that is
// added later, or enabled again, gets the present values by a read that is repeated until it is
// answered; events from before that are not its own.
package dnp3

import (
	"net"
	"strconv"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/point"
)

// Transports.
const (
	transportTCP    = "tcp"
	transportListen = "listen" // the devices dial in
	transportUDP    = "udp"
	transportSerial = "serial"
)

const defaultPort = "20000"

// Kind returns the DNP3 driver.
func Kind() driver.Kind {
	return driver.Kind{
		Name:      "dnp3",
		Doc:       "DNP3 (IEEE 1815) master over TCP, TLS, UDP and serial lines.",
		NewConfig: func() driver.Config { return NewConfig() },
		Dial:      newEngine().dial,
	}
}

// Config is one outstation. Outstations with the same transport and address share the line; what
// concerns the line must then be equal.
type Config struct {
	// Transport is tcp (the default), listen for devices that dial in, udp or serial.
	Transport string `yaml:"transport"`
	// Address is host or host:port (20000 if left out); for listen the address to listen on,
	// for serial the port.
	Address string `yaml:"address"`
	// Alternatives are more addresses of the device, for tcp: they are tried in order when the earlier ones cannot be
	// reached.
	Alternatives []string `yaml:"alternatives" example:"[10.0.1.5]"`
	// Allow are the addresses, or ranges of addresses such as 10.0.0.0/24, that devices may dial
	// from, for listen; any if left out.
	Allow []string `yaml:"allow" example:"[10.0.0.0/24]"`
	// LocalAddress is the host:port that UDP datagrams are sent from; any if left out.
	LocalAddress string `yaml:"local_address"`
	// TLS secures tcp and listen, with certificates on both sides.
	TLS TLS `yaml:"tls"`

	// Baudrate is the speed of the serial port in bit/s; 9600 if left out.
	Baudrate int `yaml:"baudrate"`
	// Databits is 8 (the default) or 7.
	Databits int `yaml:"databits"`
	// Parity is none (the default), even or odd.
	Parity string `yaml:"parity"`
	// Stopbits is 1 (the default) or 2.
	Stopbits int `yaml:"stopbits"`
	// OneAtATime polls only one outstation of the line at a time, as a half-duplex line with several requires. A serial
	// line always does.
	OneAtATime bool `yaml:"one_at_a_time"`

	// Master is the link address of this node, 0 to 65519; 1 if left out.
	Master int `yaml:"master"`
	// Outstation is the link address of the device, 0 to 65519; 10 if left out.
	Outstation int `yaml:"outstation"`
	// Timeout is how long one answer may take; 3s if left out.
	Timeout time.Duration `yaml:"timeout"`
	// Retries is how often a request without an answer is repeated. Commands never are.
	Retries int `yaml:"retries"`
	// KeepAlive is how long a device may be silent before its link status is asked for, which finds dead connections:
	// its points are bad a Timeout later. 10s if left out, 0 for never. Slow serial lines and metered links may need
	// more; a device that is scanned more often is found offline by its scans.
	KeepAlive time.Duration `yaml:"keep_alive"`

	// Scan is what a scan asks for: integrity (events, then all present values; the default),
	// class0 (present values), ranges (just the points of the registry), or events, which
	// answers with what was reported before.
	Scan string `yaml:"scan"`
	// Unsolicited are the classes that the device may report by itself: 1, 2 and 3 if left
	// out, [] for none.
	Unsolicited []int `yaml:"unsolicited"`
	// Polls are read periodically, in addition to scans. Their values arrive as reports, so the device needs subscribe.
	Polls []Poll `yaml:"polls"`
	// EventsWhenTold reads events as soon as the device says that some wait; true if left out.
	EventsWhenTold bool `yaml:"events_when_told"`
	// MaxEvents is how many reports are buffered until they are processed; 20000 if left out. Beyond it the oldest are
	// dropped, and the next sample is uncertain.
	MaxEvents int `yaml:"max_events"`

	// TimeSync sets the device's clock when it asks for it: none (the default), lan for IP,
	// non_lan for serial lines, or write for devices that know neither.
	TimeSync string `yaml:"time_sync"`
	// Clock sets the time of events: device (the default; uncertain while the device asks for the time), trust (the
	// device's, always good) or received (when they arrived).
	Clock string `yaml:"clock"`
	// ClockAhead is how far a time of the device may be in the future, 1ms to 1m; 2s if left out. A later event gets
	// the time of its arrival, is uncertain(clock) and is counted.
	ClockAhead time.Duration `yaml:"clock_ahead"`
	// ClockBehind is how old an event may be when it arrives; 8760h, a year, if left out, 0 for any age from 1980 on.
	// Older ones are treated in the same way.
	ClockBehind time.Duration `yaml:"clock_behind"`

	// Operate is how commands are sent unless the registry says otherwise: sbo (select before operate; the default),
	// direct, or no_answer.
	Operate string `yaml:"operate"`
	// Tolerate are settings for devices that deviate from the standard.
	Tolerate Tolerate `yaml:"tolerate"`

	// Registry is the list of points, the name of a CSV or YAML file that holds it, or the text of such a
	// file. With [], testing the device lists the points that it has.
	Registry pointlist.Registry `yaml:"registry"`

	items    []pointlist.Item // the registry, checked, in its order
	compiled bool
	problems []error // of compile
	readOnly bool    // events are left at the device
}

// Poll is a read that is repeated.
type Poll struct {
	// Classes are what is read: 0 for present values, 1 to 3 for events.
	Classes []int `yaml:"classes" example:"[1, 2, 3]"`
	// Interval is the time between two reads.
	Interval time.Duration `yaml:"interval" example:"1m"`
}

// Tolerate are settings for devices that deviate from the standard.
type Tolerate struct {
	// IgnoreEarly leaves reports unconfirmed until the present values are read.
	IgnoreEarly bool `yaml:"ignore_early"`
	// KeepRestart does not clear the restart indication, for devices that refuse the write.
	KeepRestart bool `yaml:"keep_restart"`
	// LoosePartial accepts parts of a long answer that ask for no confirmation.
	LoosePartial bool `yaml:"loose_partial"`
	// NarrowIndexes sends commands with one-byte indexes.
	NarrowIndexes bool `yaml:"narrow_indexes"`
}

// NewConfig returns a configuration with the defaults.
func NewConfig() *Config {
	return &Config{
		Transport: transportTCP, Baudrate: 9600, Databits: 8, Parity: "none", Stopbits: 1,
		Master: 1, Outstation: 10, Timeout: 3 * time.Second, KeepAlive: 10 * time.Second,
		Scan: scanIntegrity, Unsolicited: []int{1, 2, 3}, EventsWhenTold: true, MaxEvents: 20_000,
		TimeSync: "none", Clock: clockDevice, ClockAhead: 2 * time.Second, ClockBehind: 365 * 24 * time.Hour, Operate: pointlist.OperateSBO,
	}
}

// Load reads the registry and certificates that the configuration names.
func (c *Config) Load(files driver.Files) []error {
	problems := c.Registry.Load(files)
	c.compiled = false
	c.compile()
	return append(problems, c.TLS.load(files)...)
}

// LineName is the transport and the address, such as "tcp://10.0.0.5:20000".
func (c *Config) LineName() string {
	if c.Transport == transportSerial {
		return transportSerial + "://" + c.Address
	}
	return c.Transport + "://" + c.hostPort()
}

// Points lists the points of the registry in order.
func (c *Config) Points() []point.Info {
	c.compile()
	infos := make([]point.Info, len(c.items))
	for i := range c.items {
		infos[i] = c.items[i].Info()
	}
	return infos
}

// hostPort returns the address with its port.
func (c *Config) hostPort() string { return withPort(c.Address) }

// withPort returns an address with its port.
func withPort(address string) string {
	if strings.HasSuffix(address, "]") || !strings.Contains(address, ":") {
		return net.JoinHostPort(strings.Trim(address, "[]"), defaultPort)
	}
	return address
}

// subject names the device in errors.
func (c *Config) subject() string {
	return "outstation " + strconv.Itoa(c.Outstation) + " at " + c.LineName()
}

// compile checks the registry, once.
func (c *Config) compile() {
	if !c.compiled {
		c.compiled = true
		c.items, c.problems = c.Registry.Items(c.Operate)
	}
}

// Encode implements driver.Encoder.
func (c *Config) Encode(place int, v point.Value) (point.Value, error) {
	return c.items[place].Encode(v)
}

var _ driver.Encoder = (*Config)(nil)
