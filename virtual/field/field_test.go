package field_test

import (
	"math"
	"testing"

	"github.com/simonvetter/modbus"

	"voltbus/virtual/field"
)

func client(t *testing.T, s *field.Server, unit uint8) *modbus.ModbusClient {
	t.Helper()
	c, err := modbus.NewClient(&modbus.ClientConfiguration{URL: "tcp://" + s.Addr()})
	if err == nil {
		err = c.Open()
	}
	if err == nil {
		err = c.SetUnitId(unit)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // it was only read
	return c
}

func TestModelsAreReadAndCommandedByModbus(t *testing.T) {
	type write struct {
		device, command int
		value           float64
	}
	writes := make(chan write, 2)
	s, err := field.Open(t.Context(), []field.Device{
		{Outputs: []string{"temp"}, Values: []float64{21.25}},
		{Outputs: []string{"temp", "power"}, Values: []float64{20, math.Pi}, Commands: []string{"mode", "on"}, Defaults: []float64{2, 1}},
	}, func(device, command int, value float64) { writes <- write{device, command, value} })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := client(t, s, 2)
	if got, err := c.ReadFloat64s(0, 2, modbus.INPUT_REGISTER); err != nil || got[0] != 20 || got[1] != math.Pi {
		t.Errorf("outputs are %v, %v", got, err)
	}
	if got, err := c.ReadFloat64s(0, 2, modbus.HOLDING_REGISTER); err != nil || got[0] != 2 || got[1] != 1 {
		t.Errorf("commands are %v, %v, before they are written", got, err)
	}
	if err := c.WriteFloat64(4, -0.5); err != nil {
		t.Fatal(err)
	}
	if got := <-writes; got != (write{1, 1, -0.5}) {
		t.Errorf("%+v was written", got)
	}
	s.Set(1, []float64{19, 0})
	if got, err := c.ReadFloat64(0, modbus.INPUT_REGISTER); err != nil || got != 19 {
		t.Errorf("a changed output is %v, %v", got, err)
	}
	s.Set(1, nil)
	if got, err := c.ReadFloat64(0, modbus.INPUT_REGISTER); err == nil {
		t.Errorf("a device that is off answers %v", got)
	}
	if got, err := client(t, s, 1).ReadFloat64(0, modbus.INPUT_REGISTER); err != nil || got != 21.25 {
		t.Errorf("the other device says %v, %v", got, err)
	}
	for name, read := range map[string]func() error{
		"a register behind the last":  func() error { _, err := c.ReadFloat64(8, modbus.HOLDING_REGISTER); return err },
		"a write to half of a number": func() error { return c.WriteRegister(0, 1) },
		"a coil":                      func() error { _, err := c.ReadCoil(0); return err },
	} {
		if read() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
