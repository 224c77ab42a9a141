// Package field is a Modbus TCP server whose registers are the outputs and inputs of models, for the driver of a node.
package field

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/simonvetter/modbus"
)

const (
	most     = 247       // units on a line: Modbus over serial line V1.02, 2.2
	width    = 4         // registers of a number of 64 bits
	idle     = time.Hour // how long a client may be silent
	clients  = 16        // connections at a time
	attempts = 10        // to find a free port
)

// Device is a unit: outputs are input registers, commands holding registers, each a number of 64 bits.
type Device struct {
	Outputs  []string
	Values   []float64 // of the outputs
	Commands []string
	Defaults []float64 // of the commands, until they are written
}

// Registry returns the list of registers, as the driver modbus reads it.
func (d *Device) Registry() []byte {
	var b strings.Builder
	b.WriteString("name,table,address,type,writable\n")
	for i, name := range d.Outputs {
		fmt.Fprintf(&b, "%s,input,%d,float64,\n", name, width*i)
	}
	for i, name := range d.Commands {
		fmt.Fprintf(&b, "%s,holding,%d,float64,TRUE\n", name, width*i)
	}
	return []byte(b.String())
}

// Server is a line of devices, with the units 1 to N. Its methods are safe for concurrent use.
type Server struct {
	server  *modbus.ModbusServer
	address string
	wrote   func(device, command int, value float64)

	mu    sync.Mutex
	units []unit
}

type unit struct {
	outputs, commands []float64
	off               bool
}

// Open serves devices at any free port of loopback. wrote is told what clients write, in this order. Close ends it.
func Open(ctx context.Context, devices []Device, wrote func(device, command int, value float64)) (*Server, error) {
	if len(devices) > most {
		return nil, fmt.Errorf("%d models do not fit on a line; write at most %d for a site", len(devices), most)
	}
	s := &Server{wrote: wrote}
	for i := range devices {
		d := &devices[i]
		s.units = append(s.units, unit{outputs: append([]float64(nil), d.Values...), commands: append([]float64(nil), d.Defaults...)})
	}
	return s, s.listen(ctx)
}

// listen starts the server. The library does not tell which port it got, so a free one is chosen, and another one if that was taken meanwhile.
func (s *Server) listen(ctx context.Context) error {
	for try := 1; ; try++ {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		s.address = l.Addr().String()
		if err := l.Close(); err != nil {
			return err
		}
		s.server, err = modbus.NewServer(&modbus.ServerConfiguration{
			URL: "tcp://" + s.address, Timeout: idle, MaxClients: clients, Logger: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		}, s)
		if err != nil {
			return err
		}
		if err = s.server.Start(); err == nil || try == attempts || !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
}

// Addr returns where it listens, as host:port.
func (s *Server) Addr() string { return s.address }

// Close ends all connections.
func (s *Server) Close() error { return s.server.Stop() }

// Set sets the outputs of a device. Without values it does not answer from now on.
func (s *Server) Set(device int, values []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units[device].off = len(values) == 0 && len(s.units[device].outputs) > 0
	copy(s.units[device].outputs, values)
}

// HandleCoils implements modbus.RequestHandler: there are none.
func (s *Server) HandleCoils(*modbus.CoilsRequest) ([]bool, error) {
	return nil, modbus.ErrIllegalDataAddress
}

// HandleDiscreteInputs implements modbus.RequestHandler: there are none.
func (s *Server) HandleDiscreteInputs(*modbus.DiscreteInputsRequest) ([]bool, error) {
	return nil, modbus.ErrIllegalDataAddress
}

// HandleInputRegisters implements modbus.RequestHandler.
func (s *Server) HandleInputRegisters(r *modbus.InputRegistersRequest) ([]uint16, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.unit(r.UnitId)
	if err != nil {
		return nil, err
	}
	return read(u.outputs, r.Addr, r.Quantity)
}

// HandleHoldingRegisters implements modbus.RequestHandler.
func (s *Server) HandleHoldingRegisters(r *modbus.HoldingRegistersRequest) ([]uint16, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.unit(r.UnitId)
	if err != nil {
		return nil, err
	}
	if !r.IsWrite {
		return read(u.commands, r.Addr, r.Quantity)
	}
	if r.Addr%width != 0 || len(r.Args)%width != 0 || int(r.Addr)+len(r.Args) > width*len(u.commands) {
		return nil, modbus.ErrIllegalDataAddress
	}
	for i := 0; i < len(r.Args); i += width {
		n := (int(r.Addr) + i) / width
		u.commands[n] = number(r.Args[i:])
		s.wrote(int(r.UnitId)-1, n, u.commands[n])
	}
	return nil, nil
}

func (s *Server) unit(id uint8) (*unit, error) {
	if id < 1 || int(id) > len(s.units) || s.units[id-1].off {
		return nil, modbus.ErrGWTargetFailedToRespond
	}
	return &s.units[id-1], nil
}

func read(values []float64, addr, quantity uint16) ([]uint16, error) {
	if int(addr)+int(quantity) > width*len(values) {
		return nil, modbus.ErrIllegalDataAddress
	}
	words := make([]uint16, quantity)
	for i := range words {
		at := int(addr) + i
		words[i] = uint16(math.Float64bits(values[at/width]) >> (16 * (width - 1 - at%width))) //nolint:gosec // the word is meant
	}
	return words, nil
}

func number(words []uint16) float64 {
	var bits uint64
	for _, w := range words[:width] {
		bits = bits<<16 | uint64(w)
	}
	return math.Float64frombits(bits)
}
