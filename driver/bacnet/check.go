package bacnet

import (
	"fmt"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
	"voltbus/internal/strictyaml"
	"voltbus/protocol/bacnet/encoding"
)

// checker collects problems.
type checker struct{ problems []error }

func (k *checker) add(wrong bool, key, text string, args ...any) {
	if wrong {
		k.problems = append(k.problems, &driver.Problem{Key: key, Text: fmt.Sprintf(text, args...), Kind: strictyaml.Kind(text)})
	}
}

func (k *checker) err(key string, err error) { k.add(err != nil, key, "%v", err) }

// Validate reports every problem of the configuration and of each point, as *driver.Problem.
func (c *Config) Validate() []error {
	k := &checker{}
	_, err := network.ParseLocal(c.Local)
	k.err("local", err)
	if c.BBMD != "" {
		_, err = network.ParsePort(c.BBMD)
		k.err("bbmd", err)
	}
	k.add(c.BBMDTTL < 5*time.Second || c.BBMDTTL > 18*time.Hour, "bbmd_ttl", "%v is out of range; write a duration from 5s to 18h, such as 1m", c.BBMDTTL)
	c.SC.check(k, c)
	c.checkStation(k)
	k.add(c.Timeout < 50*time.Millisecond || c.Timeout > time.Minute, "timeout", "%v is out of range; write a duration from 50ms to 1m, such as 3s", c.Timeout)
	k.add(c.Retries < 0 || c.Retries > 10, "retries", "%d is out of range; write a number from 0 to 10", c.Retries)
	k.add(c.MaxInFlight < 1 || c.MaxInFlight > 64, "max_in_flight", "%d is out of range; write a number from 1 to 64", c.MaxInFlight)
	k.add(c.RequestsPerSecond < 0 || c.RequestsPerSecond > 10_000 || c.RequestsPerSecond != c.RequestsPerSecond, "requests_per_second",
		"%v is out of range; write a number up to 10000, such as 10, or 0 for no bound", c.RequestsPerSecond)
	k.add(c.MaxAPDU != 0 && (c.MaxAPDU < 50 || c.MaxAPDU > 1476), "max_apdu", "%d is out of range; write a number from 50 to 1476, or leave it out", c.MaxAPDU)
	k.add(c.MaxPerRequest < 0 || c.MaxPerRequest > 1000, "max_per_request", "%d is out of range; write a number from 1 to 1000, or leave it out", c.MaxPerRequest)
	k.add(c.COVLifetime < 10*time.Second || c.COVLifetime > 24*time.Hour, "cov_lifetime", "%v is out of range; write a duration from 10s to 24h, such as 5m", c.COVLifetime)
	k.add(c.Backfill < 0 || c.Backfill > 366*24*time.Hour, "backfill", "%v is out of range; write a duration up to 8784h, such as 168h, or 0s to leave gaps as they are", c.Backfill)
	k.add(c.Alarms != alarmsOff && c.Alarms != alarmsListen && c.Alarms != alarmsEnrol, "alarms", "%q is not known; write %s, %s or %s", c.Alarms, alarmsListen, alarmsEnrol, alarmsOff)
	k.add(c.TimeSync != syncOff && c.TimeSync != syncUTC && c.TimeSync != syncLocal, "time_sync", "%q is not known; write %s, %s or %s", c.TimeSync, syncUTC, syncLocal, syncOff)
	k.add(c.TimeSyncInterval < time.Minute || c.TimeSyncInterval > 31*24*time.Hour, "time_sync_interval", "%v is out of range; write a duration from 1m to 744h, such as 24h", c.TimeSyncInterval)
	k.add(c.MinPriority < 1 || c.MinPriority > 16, "min_priority", "%d is out of range; write 1, the most urgent, to 16", c.MinPriority)
	k.add(c.Registry.Missing(), "registry", "is empty; write a list of points, or the name of a CSV or YAML file")
	c.compile()
	return append(k.problems, c.problems...)
}

func (c *Config) checkStation(k *checker) {
	k.add(c.Device == nil && c.Address == "", "device", "is missing; write the instance number of the device, or its address")
	if c.Device != nil {
		k.add(*c.Device < 0 || *c.Device > encoding.MaxInstance, "device", "%d is out of range; write an instance from 0 to %d", *c.Device, encoding.MaxInstance)
	}
	if c.Address == "" {
		return
	}
	at, err := network.ParseStation(c.Address)
	k.err("address", err)
	k.add(err == nil && at.Known() && at.Secure() != c.SC.wanted(), "address",
		"%q is of another kind of network; write an IPv4 address for BACnet/IP, and one such as 02:1a:00:00:00:05 for BACnet/SC", c.Address)
	k.add(err == nil && !at.Known() && c.Device == nil, "device", "is missing; a device whose router is not in the address is found by its instance: write it, or router/network:mac as address")
}

// settings returns what the socket of the device is opened with. The configuration was validated.
func (c *Config) settings() (network.Settings, error) {
	local, err := network.ParseLocal(c.Local)
	if err != nil {
		return network.Settings{}, err
	}
	if c.SC.wanted() {
		return network.Settings{SC: network.SC{Hub: c.SC.Hub, Failover: c.SC.Failover, Secrets: c.SC.files}}, nil
	}
	s := network.Settings{Local: local}
	if c.BBMD != "" {
		s.TTL = c.BBMDTTL
		s.BBMD, err = network.ParsePort(c.BBMD)
	}
	return s, err
}
