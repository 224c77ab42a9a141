package campus

import (
	"testing"
	"time"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/server"
)

// midnight is the beginning of a workday.
var midnight = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// until lets time pass in a building until an hour of the day.
func until(b *building, now *time.Time, hour int) {
	for now.Sub(midnight) < time.Duration(hour)*time.Hour {
		*now = now.Add(time.Minute)
		b.step(*now, time.Minute)
	}
}

// command writes to an object at a priority.
func command(t *testing.T, s *signal, v float64, priority uint8) {
	t.Helper()
	if err := s.command(t.Context(), server.Command{Value: s.encode(v), Priority: priority}); err != nil {
		t.Fatal(err)
	}
}

func TestRoomsStayBetweenTheirSetpointsOnAWorkday(t *testing.T) {
	b, now := newBuilding(1), midnight
	until(b, &now, 5)
	if b.handlers[0].Running || b.rooms[0].Air > 0 {
		t.Errorf("the fan runs at night: %+v", b.handlers[0])
	}
	until(b, &now, 15)
	for i := range b.rooms {
		if r := &b.rooms[i]; r.Temperature < 20.5 || r.Temperature > 25 || r.CO2 < outdoorCO2 || r.CO2 > 1500 {
			t.Errorf("room %d in the afternoon: %+v", i, r)
		}
	}
	for i := range b.handlers {
		if h := &b.handlers[i]; !h.Running || h.Supply < 12 || h.Supply > 18 || h.Pressure <= 0 || h.Hours <= 0 {
			t.Errorf("air handler %d in the afternoon: %+v", i, h)
		}
	}
	if power := b.board.power.value(); power < 200 || power > 1000 {
		t.Errorf("the building takes %v kW", power)
	}
}

func TestAFanThatIsStoppedLetsItsRoomsWarmUp(t *testing.T) {
	b, now := newBuilding(1), midnight
	until(b, &now, 11)
	command(t, b.board.handlers[0].command, 0, 8)
	until(b, &now, 16)
	stopped, served := b.rooms[0].Temperature, b.rooms[1].Temperature
	if b.handlers[0].Running || stopped < served+1 || b.rooms[0].CO2 < b.rooms[1].CO2 {
		t.Errorf("the room of the stopped fan is at %.1f °C, another at %.1f", stopped, served)
	}
	if b.board.handlers[0].status.value() != 0 || b.board.handlers[1].status.value() != 1 {
		t.Error("the status of the fans is wrong")
	}
}

func TestAValveThatIsForcedOpenCoolsTheSupplyAir(t *testing.T) {
	b, now := newBuilding(2), midnight
	until(b, &now, 12)
	before := b.handlers[2].Supply
	command(t, b.board.handlers[2].cooling, 100, 5)
	until(b, &now, 13)
	if b.handlers[2].Supply > before-3 || b.board.handlers[2].mode.value() != modeCooling {
		t.Errorf("the supply air is at %.1f °C after %.1f", b.handlers[2].Supply, before)
	}
}

func TestTheMostUrgentCommandHolds(t *testing.T) {
	b := newBuilding(1)
	s := b.floors[0].rooms[0].cooling
	command(t, s, 26, 16)
	command(t, s, 22, 8)
	if s.value() != 22 || s.set(25) != 22 {
		t.Errorf("the setpoint is %v", s.value())
	}
	_ = s.command(t.Context(), server.Command{Value: encoding.Null(), Priority: 8})
	if want := (constructed.PriorityArray{15: encoding.Real(26)}); s.value() != 26 || s.point.Commands() != want {
		t.Errorf("the setpoint is %v, the array %v", s.value(), s.point.Commands())
	}
	_ = s.command(t.Context(), server.Command{Value: encoding.Null(), Priority: 16})
	if s.value() != 25 || s.point.Value() != encoding.Real(25) {
		t.Errorf("without commands the setpoint is %v, not what the program wants", s.value())
	}
}
