package reservation

import (
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/control"
	"voltbus/control/step"
)

// bookingState is a booking with its remaining windows.
type bookingState struct {
	Requester string           `json:"requester"`
	Priority  control.Priority `json:"priority"`
	Reason    string           `json:"reason,omitempty"`
	Order     uint64           `json:"order"`
	Started   bool             `json:"started,omitempty"`
	Preempted bool             `json:"preempted,omitempty"`
	Windows   []control.Window `json:"windows"`
}

// TouchAll marks the record of each reservation as changed.
func (r *Register) TouchAll() {
	for name := range r.bookings {
		r.step.Touch(step.Task, name)
	}
}

// Record encodes a reservation; nil if it has ended.
func (r *Register) Record(task string) ([]byte, error) {
	b := r.bookings[task]
	if b == nil {
		return nil, nil
	}
	s := bookingState{Requester: b.Requester, Priority: b.Priority, Reason: b.Reason, Order: b.order, Started: b.started, Preempted: b.preempted}
	for _, w := range b.windows {
		s.Windows = append(s.Windows, w.Window)
	}
	return json.Marshal(s)
}

// Restore loads a reservation from its record. Call Resume after the last one.
func (r *Register) Restore(task string, data []byte) error {
	var s bookingState
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	b := &booking{
		Reservation: control.Reservation{Requester: s.Requester, Task: task, Priority: s.Priority, Windows: s.Windows, Reason: s.Reason},
		register:    r, order: s.Order, started: s.Started, preempted: s.Preempted,
	}
	if len(s.Windows) == 0 || r.bookings[task] != nil {
		return errors.New("the task has no windows, or is there twice")
	}
	for i := range s.Windows {
		w := &s.Windows[i]
		if !w.From.Before(w.Until) || w.From.Year() < firstYear || w.Until.Year() > lastYear {
			return fmt.Errorf("window %d ends before it starts, or is centuries away", i+1)
		}
	}
	r.bookings[task] = b
	for _, w := range s.Windows {
		b.add(w)
	}
	return nil
}

// Resume starts and ends the windows of restored reservations whose time has come.
func (r *Register) Resume() {
	for _, b := range r.sorted() {
		b.startDue()
	}
}
