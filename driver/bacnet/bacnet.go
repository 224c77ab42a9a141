// Package bacnet is the driver for BACnet/IP and BACnet/SC devices (ANSI/ASHRAE 135), also behind routers and through a BBMD.
//
//   - bacnet.go is what the configuration sees, secure.go of it for BACnet/SC; check.go says what is wrong with it. Package pointlist reads the list
//     of points and converts values.
//   - line.go is a device, or all devices of a network behind a router: these are asked one after the other. All lines
//     share the sockets of package network, which also finds devices by their instances.
//   - station.go finds a device and learns what it takes, session.go reads, write.go commands, cov.go subscribes to
//     changes, discover.go lists what a device has. text.go says in words why a device declined.
//
// A line is not a socket: one goroutine that asks a thousand devices one after the other would be slow, and a silent
// one would delay the rest. The socket (protocol/bacnet/client) paces the requests to each device and bounds those
// to all.
package bacnet

import (
	"strconv"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/point"
)

// sockets are those of the process: a UDP port can be opened once, whoever uses it.
var sockets = &network.Sockets{} //nolint:gochecknoglobals // a port of the machine is one for all lines, and for trials of devices

// Kind returns the BACnet driver.
func Kind() driver.Kind {
	return driver.Kind{
		Name:      "bacnet",
		Doc:       "BACnet/IP and BACnet/SC client: reads, COV, commands with priorities; devices behind routers and BBMDs.",
		NewConfig: func() driver.Config { return NewConfig() },
		Dial:      dial,
		Search: &driver.Search{
			Without: map[string]any{"device": 0, "registry": []any{}}, Run: search, Covers: covers, Is: isThat, Compare: compare,
		},
	}
}

// Config is one BACnet device.
type Config struct {
	// Local is the node's own address on the BACnet network with the length of the subnet, such as 10.0.0.5/24, with
	// :port if that is not 47808. Left out, all addresses of the machine are used, and broadcasts go to
	// 255.255.255.255. Devices with the same local address share one socket.
	Local string `yaml:"local" example:"10.0.0.5/24"`
	// BBMD is the host:port of a BBMD where the node registers as a foreign device, to reach devices of other subnets.
	BBMD string `yaml:"bbmd" example:"10.1.0.2"`
	// BBMDTTL is how long a registration holds without being renewed; 1m if left out.
	BBMDTTL time.Duration `yaml:"bbmd_ttl"`

	// SC reaches the device through a BACnet/SC hub, in place of local and bbmd.
	SC SC `yaml:"sc"`

	// Device is the instance number of the device, 0 to 4194302. It finds the device by Who-Is unless there is an
	// address.
	Device *int `yaml:"device" example:"1234"`
	// Address is where the device is: an IPv4 address with or without a port; network:mac of a device behind a router,
	// such as 2001:12; or router/network:mac. With an IPv4 address, no Who-Is is sent. With sc it is the address of a
	// node, such as 02:1a:00:00:00:05, where others have an IPv4 address.
	Address string `yaml:"address" example:"10.0.0.11"`

	// Timeout is how long one answer may take; 3s if left out.
	Timeout time.Duration `yaml:"timeout"`
	// Retries is how often a request without an answer is repeated; 1 if left out. Writes never are.
	Retries int `yaml:"retries"`
	// MaxInFlight is how many requests may be under way to the device, such as subscriptions; 1 if left out.
	MaxInFlight int `yaml:"max_in_flight"`
	// RequestsPerSecond bounds the requests to the device; 0, the default, is no bound.
	RequestsPerSecond float64 `yaml:"requests_per_second"`
	// MaxAPDU is the most bytes in one message to or from the device; what the device says if left out.
	MaxAPDU int `yaml:"max_apdu"`
	// MaxPerRequest is the most properties that one request reads; as many as fit if left out. 1 reads each property by
	// itself (ReadProperty), for devices with defects.
	MaxPerRequest int `yaml:"max_per_request"`
	// StatusFlags reads the status flags of each object with its present value: points that are in fault or forced by
	// hand say so in their quality. true if left out.
	StatusFlags bool `yaml:"status_flags"`

	// COVLifetime is how long a subscription to changes holds without being renewed; 5m if left out. Subscriptions
	// need subscribe; interval then is the time between checks that nothing was missed.
	COVLifetime time.Duration `yaml:"cov_lifetime"`
	// COVConfirmed has the device repeat notifications that are lost; true if left out.
	COVConfirmed bool `yaml:"cov_confirmed"`

	// Backfill is how far back gaps of points are filled from the trend logs of the device once it can be reached again;
	// 168h, a week, if left out, 0s for not at all.
	Backfill time.Duration `yaml:"backfill"`

	// Alarms says what becomes of alarms and events that the device notifies of: listen shows them as alerts of the node, for which
	// the device must have the node among its recipients; enrol has the node enter itself there; off ignores them. listen if left
	// out.
	Alarms string `yaml:"alarms"`

	// TimeSync sets the clock of the device: utc (UTCTimeSynchronization), local (TimeSynchronization, in the zone of this machine) or
	// off; off if left out. Trend logs and schedules of a device go by its clock.
	TimeSync string `yaml:"time_sync"`
	// TimeSyncInterval is how often the clock is set, besides whenever the device was found; 24h if left out.
	TimeSyncInterval time.Duration `yaml:"time_sync_interval"`

	// MinPriority is the most urgent priority at which this node may command the device, 1 to 16; 1 if left out.
	MinPriority int `yaml:"min_priority"`

	// Registry is the list of points, the name of a CSV or YAML file that holds it, or the text of such
	// a file. With [] a trial of the device lists the points that it has.
	Registry pointlist.Registry `yaml:"registry"`

	items    []pointlist.Item // the registry, checked, in its order
	compiled bool
	problems []error // of compile
}

// NewConfig returns a configuration with the defaults.
func NewConfig() *Config {
	return &Config{
		BBMDTTL: time.Minute, Timeout: 3 * time.Second, Retries: 1, MaxInFlight: 1, StatusFlags: true,
		COVLifetime: 5 * time.Minute, COVConfirmed: true, Backfill: 7 * 24 * time.Hour, Alarms: alarmsListen, TimeSync: syncOff, TimeSyncInterval: 24 * time.Hour, MinPriority: 1,
	}
}

// Load reads the registry that the configuration names.
func (c *Config) Load(files driver.Files) []error {
	problems := append(c.Registry.Load(files), c.SC.load(files)...)
	c.compiled = false
	c.compile()
	return problems
}

// LineName is the socket with the device, or with the network behind a router: its devices share a slow trunk.
func (c *Config) LineName() string {
	local := c.Local
	if local == "" {
		local = "0.0.0.0"
	}
	name := "bacnet://" + local
	if c.BBMD != "" {
		name += "@" + c.BBMD
	}
	if c.SC.wanted() {
		name = "bacnet-sc://" + strings.TrimSuffix(strings.TrimPrefix(c.SC.Hub, "wss://"), "/")
	}
	at, err := network.ParseStation(c.Address)
	switch {
	case c.Address != "" && err == nil && at.Remote.Net != 0:
		if name += "/"; at.Link.IsValid() {
			name += network.Text(at.Link) + "/"
		}
		return name + "network " + strconv.Itoa(int(at.Remote.Net))
	case c.Address != "":
		return name + "/" + c.Address
	case c.Device != nil:
		return name + "/device " + strconv.Itoa(*c.Device)
	}
	return name
}

// Points lists the points of the registry, in its order.
func (c *Config) Points() []point.Info {
	c.compile()
	infos := make([]point.Info, len(c.items))
	for i := range c.items {
		infos[i] = c.items[i].Info()
	}
	return infos
}

// compile checks the registry, once.
func (c *Config) compile() {
	if !c.compiled {
		c.compiled = true
		c.items, c.problems = c.Registry.Items()
	}
}

// Encode implements driver.Encoder.
func (c *Config) Encode(place int, v point.Value) (point.Value, error) {
	return c.items[place].Rounded(v)
}

// Priority implements driver.Prioritizing.
func (c *Config) Priority(place int) int {
	if t := &c.items[place]; t.Prioritized && t.Writable {
		return int(t.Priority)
	}
	return 0
}

// LogSpan implements driver.Logged.
func (c *Config) LogSpan() time.Duration { return c.Backfill }

var (
	_ driver.Encoder      = (*Config)(nil)
	_ driver.Logged       = (*Config)(nil)
	_ driver.Prioritizing = (*Config)(nil)
)

// subject names the device in errors.
func (c *Config) subject() string {
	switch {
	case c.Device != nil && c.Address != "":
		return "device " + strconv.Itoa(*c.Device) + " at " + c.Address
	case c.Device != nil:
		return "device " + strconv.Itoa(*c.Device)
	}
	return "the device at " + c.Address
}
