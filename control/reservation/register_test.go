package reservation

import (
	"fmt"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/point"
)

var epoch = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

func at(d time.Duration) control.Instant {
	return control.Instant{Wall: epoch.Add(d), Steady: time.Hour + d}
}

func newRegister() (*Register, *step.Step) {
	s := step.New(control.Limits{})
	s.Enter(at(0))
	return New(s, func(string, point.Path) {}), s
}

func TestReservationsThatAreOverLeaveNothingInTheCalendar(t *testing.T) {
	r, s := newRegister()
	for i := range 1000 {
		begin := epoch.Add(time.Duration(i/100) * time.Minute)
		d := r.Reserve(control.Reservation{
			Requester: "ann", Task: fmt.Sprint("task", i), Priority: control.Low,
			Windows: []control.Window{{Path: point.Path(fmt.Sprintf("b/ahu%d", i%100)), From: begin, Until: begin.Add(time.Minute)}},
		})
		if d.Status != control.Accepted {
			t.Fatalf("reservation %d: %v", i, d.Err)
		}
	}
	s.Enter(at(time.Hour))
	if c := &r.calendar; len(r.bookings)+c.count+len(c.at)+len(c.below)+len(c.active) > 0 {
		t.Errorf("something is left: %d reservations, %+v", len(r.bookings), r.calendar)
	}
}

func TestSeveralActiveWindowsGoOnWhenTheirTaskIsReservedAgain(t *testing.T) {
	r, s := newRegister()
	asked := control.Reservation{Requester: "ann", Task: "night", Priority: control.Low, Windows: []control.Window{
		{Path: "b/ahu1", From: epoch, Until: epoch.Add(time.Hour)},
		{Path: "b/ahu2", From: epoch, Until: epoch.Add(time.Hour)},
		{Path: "b/ahu3", From: epoch, Until: epoch.Add(time.Hour)},
	}}
	if d := r.Reserve(asked); d.Status != control.Accepted {
		t.Fatal(d.Err)
	}
	s.Enter(at(time.Minute))
	for i := range asked.Windows {
		asked.Windows[i].Until = epoch.Add(2 * time.Hour)
	}
	if d := r.Reserve(asked); d.Status != control.Accepted {
		t.Fatal(d.Err)
	}
	for _, w := range asked.Windows {
		if active, is := r.Active(w.Path); !is || !active.Until.Equal(w.Until) {
			t.Errorf("%s is reserved as %+v, want until %v", w.Path, active, w.Until)
		}
	}
	if tasks := r.Tasks(); len(tasks) != 1 || len(tasks[0].Windows) != 3 {
		t.Errorf("got %+v", tasks)
	}
}
