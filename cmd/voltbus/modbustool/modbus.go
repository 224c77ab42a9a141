package modbustool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver"
	"voltbus/driver/modbus"
	"voltbus/internal/folder"
)

const modbusHelp = `A field tool for Modbus: find units, their registers and their SunSpec models, read raw words beside what
they mean as each type and byte order, write, watch, and decode words from elsewhere.

  voltbus modbus scan --tcp 10.0.0.5 --units 1-20
  voltbus modbus scan --tcp 10.0.0.5 --unit 3 holding:0-999
  voltbus modbus read --tcp 10.0.0.5 --unit 3 holding:0-9 --type float32
  voltbus modbus write --tcp 10.0.0.5 --unit 3 holding:100 21.5 --type float32
  voltbus modbus watch --serial /dev/ttyUSB0,9600,even --unit 3 input:30-39
  voltbus modbus decode 0x41ac 0x0000
  voltbus modbus sunspec --tcp 10.0.0.5 --unit 126 --registry inverter.csv

An area is a table (coil, discrete, input or holding) and numbers as they are on the wire, from 0:
register 40001 of a data sheet is holding:0.`

// NewModbus returns the command "modbus".
func NewModbus() *cobra.Command {
	cmd := &cobra.Command{Use: "modbus", Short: "Find, read, write, monitor and decode registers of Modbus devices", Long: modbusHelp}
	for _, sub := range []*cobra.Command{newModbusScan(), newModbusRead(), newModbusWrite(), newModbusWatch(), newModbusDecode(), newModbusSunSpec()} {
		cmd.AddCommand(sub)
		shell.StrictArgs(sub)
	}
	return cmd
}

// modbusFlags tell how to reach a unit.
type modbusFlags struct {
	tcp, rtu, serial string
	unit             int
	timeout          time.Duration
}

func (m *modbusFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&m.tcp, "tcp", "", "Modbus TCP at host:port (502 if left out)")
	fs.StringVar(&m.rtu, "rtu-over-tcp", "", "RTU frames through a serial device server at host:port")
	fs.StringVar(&m.serial, "serial", "", "a serial port: device[,baudrate[,none|even|odd]], such as /dev/ttyUSB0,9600,even")
	fs.IntVar(&m.unit, "unit", 1, "number of the unit on the line, 0 to 255")
	fs.DurationVar(&m.timeout, "timeout", time.Second, "how long an answer may take")
}

var errModbusWay = errors.New("write one way to reach the device: --tcp HOST, --rtu-over-tcp HOST or --serial DEVICE")

// config converts the flags to a driver configuration.
func (m *modbusFlags) config() (*modbus.Config, error) {
	c := modbus.NewConfig()
	c.Address, c.Unit, c.Timeout = cmp.Or(m.tcp, m.rtu, m.serial), m.unit, m.timeout
	ways := slices.DeleteFunc([]string{m.tcp, m.rtu, m.serial}, func(way string) bool { return way == "" })
	if len(ways) != 1 {
		return nil, shell.Usage(errModbusWay)
	}
	switch {
	case m.rtu != "":
		c.Transport = "rtuovertcp"
	case m.serial != "":
		c.Transport = "rtu"
		if err := m.port(c); err != nil {
			return nil, err
		}
	}
	for _, problem := range append(c.Load(folder.Any(".")), c.Validate()...) {
		if p, ok := errors.AsType[*driver.Problem](problem); ok && (p.Note || p.Key == "registry") {
			continue // the tool does not need it
		}
		return nil, shell.Usage(problem)
	}
	return c, nil
}

// port parses device[,baudrate[,parity]].
func (m *modbusFlags) port(c *modbus.Config) (err error) {
	parts := strings.Split(m.serial, ",")
	c.Address = parts[0]
	if len(parts) > 1 {
		if c.Baudrate, err = strconv.Atoi(parts[1]); err != nil {
			return shell.Usage(fmt.Errorf("--serial: %q is no speed; write such as /dev/ttyUSB0,9600,even", parts[1]))
		}
	}
	if len(parts) > 2 {
		c.Parity = parts[2]
	}
	return nil
}

// with dials, runs a function, and closes.
func (m *modbusFlags) with(cmd *cobra.Command, use func(ctx context.Context, p *modbus.Probe) error) error {
	c, err := m.config()
	if err != nil {
		return err
	}
	p, err := modbus.DialProbe(cmd.Context(), c)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	return use(cmd.Context(), p)
}

// areasOf parses areas, at least one.
func areasOf(args []string) ([]modbus.Area, error) {
	if len(args) == 0 {
		return nil, shell.Usage(errors.New("write what to read: a table and numbers, such as holding:0-9, input:30 or coil:0-7"))
	}
	areas := make([]modbus.Area, len(args))
	for i, arg := range args {
		var err error
		if areas[i], err = modbus.ParseArea(arg); err != nil {
			return nil, shell.Usage(err)
		}
	}
	return areas, nil
}

// readArea reads an area in as many requests as needed.
func readArea(ctx context.Context, p *modbus.Probe, unit int, a modbus.Area) ([]uint16, error) {
	most := 125
	if a.IsBits() {
		most = 2000
	}
	var words []uint16
	for int(a.Count) > len(words) {
		part := modbus.Area{Table: a.Table, First: a.First + uint16(len(words)), Count: uint16(min(most, int(a.Count)-len(words)))}
		w, err := p.Read(ctx, uint8(unit), part)
		if err != nil {
			return nil, err
		}
		words = append(words, w...)
	}
	return words, nil
}
