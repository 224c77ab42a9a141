package campus

import (
	"context"
	"math"
	"sync"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/server"
)

// signal is an object of a device. The relinquish default of one that can be commanded is what the program of the controller wants.
type signal struct {
	point *server.Point
	kind  encoding.Kind

	mu       sync.Mutex // commands come from the network, the rest from the program
	commands constructed.PriorityArray
	program  float64
}

// newSignal makes an object; commandable says that others may command it.
func newSignal(c server.PointConfig, first float64, commandable bool) *signal {
	s := &signal{program: first, kind: encoding.KindReal}
	switch c.ID.Type {
	case enum.BinaryInput, enum.BinaryOutput, enum.BinaryValue:
		s.kind = encoding.KindEnumerated
	case enum.MultiStateInput, enum.MultiStateValue:
		s.kind = encoding.KindUnsigned
	default:
	}
	c.Value = s.encode(first)
	if c.Commandable = commandable; commandable {
		c.Command = s.command
	}
	s.point = server.NewPoint(c)
	s.publish()
	return s
}

// encode makes a value of the object, analog ones to a hundredth.
func (s *signal) encode(v float64) encoding.Value {
	switch s.kind {
	case encoding.KindEnumerated:
		return encoding.Enumerated(uint8(v))
	case encoding.KindUnsigned:
		return encoding.Unsigned(uint64(v))
	default:
		return encoding.Real(float32(math.Round(v*100) / 100))
	}
}

// set says what the program wants, or what a sensor shows, and returns what holds: the most urgent command before the program.
func (s *signal) set(v float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.program = v
	return s.publish()
}

// setBool is set of a binary object.
func (s *signal) setBool(is bool) bool {
	v := 0.0
	if is {
		v = 1
	}
	return s.set(v) != 0
}

// value returns what holds.
func (s *signal) value() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := s.holds().Float()
	return v
}

// holds returns the value that holds. The lock is held.
func (s *signal) holds() encoding.Value {
	if v, at := s.commands.Active(); at != 0 {
		return v
	}
	return s.encode(s.program)
}

// publish shows what holds. The lock is held.
func (s *signal) publish() float64 {
	now := s.holds()
	s.point.SetCommands(s.commands, s.encode(s.program))
	s.point.Update(server.State{Value: now})
	v, _ := now.Float()
	return v
}

// command takes what a client wrote.
func (s *signal) command(_ context.Context, c server.Command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands[c.Priority-1] = c.Value
	s.publish()
	return nil
}
