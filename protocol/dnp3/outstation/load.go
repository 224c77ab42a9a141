package outstation

import (
	"fmt"

	"voltbus/protocol/dnp3/outstation/database"
)

// load fills the database with points.
func load(d *database.Database, points []PointConfig) error {
	var counts [database.Slots]int
	for i := range points {
		counts[database.SlotOf(points[i].Kind)]++
	}
	for s, n := range counts {
		d.Grow(database.Slot(s), n)
	}
	for i := range points {
		p := &points[i]
		s := database.SlotOf(p.Kind)
		d.Add(s, newRecord(s, p))
		if p.CommandClass != 0 {
			events := PointConfig{Index: p.Index, Class: p.CommandClass, Event: p.CommandEvent}
			at := database.CommandSlot(s)
			d.Add(at, newRecord(at, &events))
		}
	}
	if s, index, twice := d.Sort(); twice {
		return fmt.Errorf("outstation: %v %d %w", database.TraitsOf(s).Kind, index, errIndex)
	}
	return nil
}

func newRecord(s database.Slot, p *PointConfig) database.Record {
	r := database.NewRecord(s, uint16(p.Index), p.Initial)
	r.Class, r.Deadband, r.Hidden = p.Class, p.Deadband, p.NotInClass0
	if p.Static != 0 {
		r.Static = p.Static.Number()
	}
	if p.Event != 0 {
		r.Event = p.Event.Number()
	}
	return r
}
