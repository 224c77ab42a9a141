// Package modbus is the driver for Modbus TCP, Modbus RTU over a serial port, and RTU over TCP.
//
// It is the example to follow for a driver; every other driver has the same structure:
//
//   - modbus.go defines the configuration: the Kind, the typed Config with its defaults, its
//     validation, and Dial.
//   - session.go does the communication: Read and Write of one device, and the mapping of errors to
//     qualities. line.go owns the connection.
//   - plan.go is the logic, pure and tested without a device: which registers go into one request,
//     and what to split when a device refuses one.
//
// The rest is specific to the protocol: registry.go and columns.go read register lists, register.go
// checks one entry, transform.go and decode.go convert registers to values and back, according to
// their layout (package layout).
//
// Nothing here logs, retries for long, schedules or starts a goroutine: the device owner does.
package modbus

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/driver/modbus/layout"
	"voltbus/internal/strictyaml"
	"voltbus/point"
)

// The transports.
const (
	transportTCP = "tcp"
	transportRTU = "rtu"        // serial port or pseudo terminal
	transportRTT = "rtuovertcp" // RTU frames through a serial device server
)

const (
	defaultPort = "502"
	maxUnit     = 255
)

// Kind returns the Modbus driver.
func Kind() driver.Kind {
	return driver.Kind{
		Name:      "modbus",
		Doc:       "Modbus TCP, Modbus RTU over a serial port, and RTU over TCP.",
		NewConfig: func() driver.Config { return NewConfig() },
		Dial:      dial,
	}
}

// Config is one Modbus device: a unit on a line, and its registers. Devices with the same
// transport and address share the line; their timeout and serial settings must then be equal.
type Config struct {
	// Transport is tcp (the default), rtu or rtuovertcp.
	Transport string `yaml:"transport"`
	// Address is host or host:port (502 if left out), for rtu the serial port.
	Address string `yaml:"address"`
	// Unit is the device's number on the line, 0 to 255; 1 if left out.
	Unit int `yaml:"unit"`
	// Timeout is how long one request may take; 1s if left out.
	Timeout time.Duration `yaml:"timeout"`

	// Baudrate is the speed of the serial port in bit/s; 19200 if left out.
	Baudrate int `yaml:"baudrate"`
	// Databits is 8 (the default) or 7.
	Databits int `yaml:"databits"`
	// Parity is none (the default), even or odd.
	Parity string `yaml:"parity"`
	// Stopbits is 1 (the default) or 2.
	Stopbits int `yaml:"stopbits"`

	// Addressing says what the addresses of the registry mean: offset (as on the wire, from 0;
	// the default), offset_plus (from 1) or address (from 1, 10001, 30001 and 40001).
	Addressing string `yaml:"addressing"`
	// ByteOrder is the order of the bytes of a 32-bit value, ABCD (the default), BADC, CDAB
	// or DCBA, for registers that state none.
	ByteOrder string `yaml:"byte_order"`
	// MaxRegisters is the most registers in one request, 1 to 125 (the default).
	MaxRegisters int `yaml:"max_registers"`
	// MaxGap is how many unneeded registers may be read to save a request; 0 if left out.
	MaxGap int `yaml:"max_gap"`
	// WriteMultiple chooses the functions for writing: true always 15 and 16, false always 5
	// and 6, one after another. Left out, single coils and registers are written by 5 and 6,
	// the rest by 16.
	WriteMultiple *bool `yaml:"write_multiple"`

	// Registry is the list of registers, the name of a CSV or YAML file that holds it, or the text of such a file.
	Registry Registry `yaml:"registry"`
	// RegisterMap is the name of a file that describes registers by their "Register Name",
	// for registries that only select from it and give point names.
	RegisterMap string `yaml:"register_map"`

	// registers is the checked registry in order; nil until compile has run.
	registers []register
	problems  []error // of compile
}

// NewConfig returns a configuration with the defaults.
func NewConfig() *Config {
	return &Config{
		Transport: transportTCP, Unit: 1, Timeout: time.Second,
		Baudrate: 19200, Databits: 8, Parity: "none", Stopbits: 1,
		Addressing: "offset", ByteOrder: "ABCD", MaxRegisters: layout.MaxRegisters,
	}
}

// Load reads the files named by the registry and the register map.
func (c *Config) Load(files driver.Files) []error {
	problems := c.Registry.Load(&registryTable, files)
	entries, table := c.Registry.Entries, []Entry(nil)
	if c.RegisterMap != "" {
		var found []error
		table, found = registryTable.ReadFile(files, "register_map", c.RegisterMap)
		problems = append(problems, found...)
	}
	if len(table) > 0 {
		var found []error
		entries, found = join(entries, table)
		problems = append(problems, found...)
	}
	c.Registry.Entries = entries
	c.compile()
	return problems
}

// Validate reports every problem of the configuration and of each register, as *driver.Problem.
func (c *Config) Validate() []error {
	var problems []error
	add := func(wrong bool, key, text string, args ...any) {
		if wrong {
			problems = append(problems, &driver.Problem{Key: key, Text: fmt.Sprintf(text, args...), Kind: strictyaml.Kind(text)})
		}
	}
	oneOf := func(key, got string, want ...string) {
		add(!slices.Contains(want, strings.ToLower(got)), key,
			"%q is not known; write %s", got, strings.Join(want, ", "))
	}
	oneOf("transport", c.Transport, transportTCP, transportRTU, transportRTT)
	add(c.Address == "", "address", "is missing; write the host, host:port, or for rtu the serial port such as /dev/ttyUSB0")
	if text := c.badPort(); text != "" {
		add(true, "address", "%s", text)
	}
	add(c.Unit < 0 || c.Unit > maxUnit, "unit", "%d is out of range; write a number from 0 to 255", c.Unit)
	add(c.Timeout <= 0, "timeout", "%v is too short; write a duration such as 1s", c.Timeout)
	add(c.Timeout > time.Minute, "timeout", "%v is too long; write at most 1m", c.Timeout)
	add(c.Baudrate < 50 || c.Baudrate > 4_000_000, "baudrate", "%d is out of range; write a speed such as 9600 or 19200", c.Baudrate)
	add(c.Databits != 7 && c.Databits != 8, "databits", "%d is not possible; write 7 or 8", c.Databits)
	add(c.Stopbits != 1 && c.Stopbits != 2, "stopbits", "%d is not possible; write 1 or 2", c.Stopbits)
	oneOf("parity", c.Parity, "none", "even", "odd")
	oneOf("addressing", c.Addressing, "offset", "offset_plus", "address")
	if _, err := layout.ParseOrder(c.ByteOrder); err != nil {
		add(true, "byte_order", "%v", err)
	}
	add(c.MaxRegisters < 1 || c.MaxRegisters > layout.MaxRegisters, "max_registers", "%d is out of range; write a number from 1 to 125", c.MaxRegisters)
	add(c.MaxGap < 0 || c.MaxGap >= layout.MaxRegisters, "max_gap", "%d is out of range; write a number from 0 to 124", c.MaxGap)
	add(c.Registry.None(), "registry",
		"is empty; write a list of registers, or the name of a CSV or YAML file")
	c.compile()
	return append(problems, c.problems...)
}

// badPort returns what is wrong with the port of a TCP address, or "".
func (c *Config) badPort() string {
	if c.serial() || c.Address == "" {
		return ""
	}
	_, port, err := net.SplitHostPort(c.hostPort())
	if err != nil {
		return fmt.Sprintf("%q is not an address; write host or host:port, an IPv6 address in [ ]", c.Address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Sprintf("port %q is out of range; write a number from 1 to 65535", port)
	}
	return ""
}

// LineName is the transport and the address, such as "tcp://10.0.0.5:502".
func (c *Config) LineName() string {
	if c.serial() {
		return transportRTU + "://" + c.Address
	}
	return strings.ToLower(c.Transport) + "://" + c.hostPort()
}

// Points lists the registers as points, in the registry's order.
func (c *Config) Points() []point.Info {
	c.compile()
	infos := make([]point.Info, len(c.registers))
	for i := range c.registers {
		infos[i] = c.registers[i].info()
	}
	return infos
}

func (c *Config) serial() bool { return strings.EqualFold(c.Transport, transportRTU) }

// hostPort returns the address with its port.
func (c *Config) hostPort() string {
	if strings.HasSuffix(c.Address, "]") || !strings.Contains(c.Address, ":") {
		return net.JoinHostPort(strings.Trim(c.Address, "[]"), defaultPort)
	}
	return c.Address
}
