package dnp3

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/internal/strictyaml"
	"voltbus/protocol/dnp3/channel"
)

// What a scan requests, and the source of event times.
const (
	scanIntegrity = "integrity"
	scanClass0    = "class0"
	scanRanges    = "ranges"
	scanEvents    = "events"

	clockDevice   = "device"
	clockTrust    = "trust"
	clockReceived = "received"
)

// maxAddress is the highest link address of a single station (IEEE 1815-2012 clause 9).
const maxAddress = 65519

// checker collects problems.
type checker struct{ problems []error }

func (k *checker) add(wrong bool, key, text string, args ...any) {
	if wrong {
		k.problems = append(k.problems, &driver.Problem{Key: key, Text: fmt.Sprintf(text, args...), Kind: strictyaml.Kind(text)})
	}
}

func (k *checker) oneOf(key, got string, want ...string) {
	k.add(!slices.Contains(want, got), key, "%q is not known; write %s", got, strings.Join(want, ", "))
}

// Validate reports every problem of the configuration and of each point, as *driver.Problem.
func (c *Config) Validate() []error {
	k := &checker{}
	k.oneOf("transport", c.Transport, transportTCP, transportListen, transportUDP, transportSerial)
	k.add(c.Address == "", "address", "is missing; write host or host:port, or for serial the port such as /dev/ttyUSB0")
	c.checkAddresses(k)
	c.checkSerial(k)
	c.TLS.check(k, c.Transport)
	k.add(c.Master < 0 || c.Master > maxAddress, "master", "%d is out of range; write a link address from 0 to 65519", c.Master)
	k.add(c.Outstation < 0 || c.Outstation > maxAddress, "outstation", "%d is out of range; write a link address from 0 to 65519", c.Outstation)
	k.add(c.Outstation == c.Master, "outstation", "%d is the address of the master too; write the device's own", c.Outstation)
	k.add(c.Timeout <= 0 || c.Timeout > 5*time.Minute, "timeout", "%v is out of range; write a duration up to 5m, such as 3s", c.Timeout)
	k.add(c.Retries < 0 || c.Retries > 10, "retries", "%d is out of range; write a number from 0 to 10", c.Retries)
	k.add(c.KeepAlive < 0, "keep_alive", "%v is negative; write a duration such as 1m, or 0 for none", c.KeepAlive)
	k.oneOf("scan", c.Scan, scanIntegrity, scanClass0, scanRanges, scanEvents)
	checkClasses(k, "unsolicited", c.Unsolicited, 1)
	for i, p := range c.Polls {
		key := fmt.Sprintf("polls[%d]", i)
		checkClasses(k, key+".classes", p.Classes, 0)
		k.add(len(p.Classes) == 0, key+".classes", "is empty; write classes such as [1, 2, 3]")
		k.add(p.Interval < 100*time.Millisecond, key+".interval", "%v is too short; write at least 100ms", p.Interval)
	}
	k.add(c.MaxEvents < 1 || c.MaxEvents > 1_000_000, "max_events", "%d is out of range; write a number from 1 to 1000000", c.MaxEvents)
	k.oneOf("time_sync", c.TimeSync, "none", "lan", "non_lan", "write")
	k.oneOf("clock", c.Clock, clockDevice, clockTrust, clockReceived)
	k.add(c.ClockAhead < time.Millisecond || c.ClockAhead > time.Minute, "clock_ahead", "%v is out of range; write a duration from 1ms to 1m, such as 2s", c.ClockAhead)
	k.add(c.ClockBehind < 0, "clock_behind", "%v is negative; write a duration such as 8760h, or 0 for any age", c.ClockBehind)
	k.oneOf("operate", c.Operate, pointlist.OperateSBO, pointlist.OperateDirect, pointlist.OperateNoAnswer)
	k.add(c.Registry.Missing(), "registry",
		"is missing; write a list of points, the name of a CSV or YAML file, or [] to find out first which points there are")
	c.compile()
	return append(k.problems, c.problems...)
}

func (c *Config) checkSerial(k *checker) {
	k.add(c.Baudrate < 50 || c.Baudrate > 4_000_000, "baudrate", "%d is out of range; write a speed such as 9600 or 19200", c.Baudrate)
	k.add(c.Databits != 7 && c.Databits != 8, "databits", "%d is not possible; write 7 or 8", c.Databits)
	k.add(c.Stopbits != 1 && c.Stopbits != 2, "stopbits", "%d is not possible; write 1 or 2", c.Stopbits)
	k.oneOf("parity", c.Parity, "none", "even", "odd")
}

// checkClasses checks a list of classes; lowest is the first allowed.
func checkClasses(k *checker, key string, classes []int, lowest int) {
	for i, n := range classes {
		k.add(n < lowest || n > 3, fmt.Sprintf("%s[%d]", key, i), "%d is no class; write numbers from %d to 3", n, lowest)
	}
}

func (c *Config) checkAddresses(k *checker) {
	if c.Transport != transportSerial && c.Address != "" {
		lowest := 1
		if c.Transport == transportListen {
			lowest = 0 // any free one
		}
		text := badPort(c.Address, lowest)
		k.add(text != "", "address", "%s", text)
	}
	k.add(len(c.Alternatives) > 0 && c.Transport != transportTCP, "alternatives", "is for tcp only; leave it out")
	for i, address := range c.Alternatives {
		text := badPort(address, 1)
		k.add(text != "", fmt.Sprintf("alternatives[%d]", i), "%s", text)
	}
	k.add(len(c.Allow) > 0 && c.Transport != transportListen, "allow", "is for listen only; leave it out")
	for i, text := range c.Allow {
		if _, err := channel.ParseAllowed(text); err != nil {
			k.add(true, fmt.Sprintf("allow[%d]", i), "%v", err)
		}
	}
}

// badPort returns what is wrong with an address and its port, or "".
func badPort(address string, lowest int) string {
	host, port, err := net.SplitHostPort(withPort(address))
	if err != nil || host == "" && lowest > 0 {
		return fmt.Sprintf("%q is not an address; write host or host:port, an IPv6 address in [ ]", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < lowest || n > 65535 {
		return fmt.Sprintf("port %q is out of range; write a number from 1 to 65535", port)
	}
	return ""
}
