package model_test

import (
	"fmt"
	"time"

	"voltbus/control"
	"voltbus/control/model"
	"voltbus/point"
)

// A caller stores Changes, carries the writes out, and hands what came of them back.
func Example() {
	begin := time.Now()
	now := func() control.Instant { return control.Instant{Wall: time.Now(), Steady: time.Since(begin)} }
	device := map[point.Path]point.Value{}

	m := model.New(control.Limits{})
	if _, err := m.Declare(now(), []control.Spec{
		{Point: "site/ahu1/setpoint", Kind: point.Float, Writable: true, Default: point.FloatOf(20)},
	}); err != nil {
		fmt.Println(err)
	}
	carryOut := func(e control.Effects) {
		for len(e.Writes) > 0 {
			_ = m.Changes() // to the disk, before anything is written
			w := e.Writes[0]
			if !w.Read {
				device[w.Point] = w.Value
			}
			e.Writes = append(e.Writes[1:], m.Answer(now(), w.Point, control.Outcome{Write: w.ID, Value: device[w.Point]}).Writes...)
		}
	}

	d := m.Command(now(), control.Command{
		ID: "1", Point: "site/ahu1/setpoint", Requester: "tune", Level: 10, Value: point.FloatOf(22), Lease: time.Minute,
	})
	carryOut(d.Effects)
	fmt.Println(d.Status, device["site/ahu1/setpoint"])

	d = m.Command(now(), control.Command{ID: "1", Point: "site/ahu1/setpoint", Requester: "night", Level: 10, Value: point.FloatOf(17)})
	fmt.Println(d.Status, d.Why, d.Holders[0].Requester)

	carryOut(m.Leave(now(), "tune", control.CauseLeft, ""))
	fmt.Println(device["site/ahu1/setpoint"])
	// Output:
	// accepted 22
	// refused held tune
	// 20
}
