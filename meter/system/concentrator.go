package system

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/delivery"
	"voltbus/meter/gate"
	"voltbus/meter/setting"
	"voltbus/meter/store"
	"voltbus/meter/valve"
	"voltbus/point"
)

// DeliveryFile remembers how far readings were delivered, in the folder of the metering system.
const DeliveryFile = "delivery.json"

// EventDeliveryFile is DeliveryFile for events.
const EventDeliveryFile = "events.json"

// openConcentrator opens what collects readings and hands them on. Without systems the uplink does that.
func openConcentrator(c *Config) (*System, error) {
	section := &c.Section.Concentrator
	s := &System{now: c.Now, section: section, origin: point.MeterOrigin(c.Origin), held: c.Held}
	if section.Target() == setting.ToSystems {
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			return nil, fault.E("metering.Open", fault.Unavailable, c.Dir, err)
		}
		to := delivery.Config{Section: section, File: filepath.Join(c.Dir, DeliveryFile), Blocks: c.Blocks, Now: c.Now, Log: c.Log}
		to.Answers = func(system int) { s.urgent.Retry(system) } // who answers to one lane is tried at once by the other
		var err error
		if s.delivery, err = delivery.New(to); err != nil {
			return nil, err
		}
		to.File, to.Answers = filepath.Join(c.Dir, EventDeliveryFile), s.delivery.Retry
		if s.urgent, err = delivery.NewEvents(to); err != nil {
			return nil, err
		}
	}
	g := gate.New(gate.Config{
		Origin: point.MeterOrigin(c.Origin), Start: c.Last, Admit: admission(section),
		Forward: c.Forward, Bounds: c.Bounds, Now: c.Now,
	})
	s.events = gate.NewEvents(gate.EventConfig{
		Origin: point.MeterEventOrigin(c.Origin), Start: c.Events, Admit: listing(section), Forward: c.Forward, Bounds: c.Bounds, Now: c.Now,
	})
	s.gate, s.taken = g, g.Position
	if c.Valves {
		s.gate = valve.At(g)
	}
	return s, nil
}

// maxMeter is the most bytes of the id of a meter.
const maxMeter = 64

// listing returns why a concentrator refuses what comes of a meter.
func listing(c *setting.Concentrator) func(id string) string {
	listed := map[string]bool{}
	for i := range c.Meters {
		listed[c.Meters[i].ID] = true
	}
	return func(id string) string {
		switch {
		case len(id) > maxMeter:
			return fmt.Sprintf("meter: more than %d bytes", maxMeter)
		case store.EventPath(id).Validate() != nil || strings.Contains(id, "/"):
			return "meter: no id of a meter"
		case c.OnlyListed && !listed[id]:
			return "the meter is not listed at this concentrator: add it to metering.concentrator.meters"
		}
		return ""
	}
}

// admission returns why a concentrator refuses a reading, which knows no channels of meters.
func admission(c *setting.Concentrator) func(*meter.Reading) string {
	meters := listing(c)
	return func(r *meter.Reading) string {
		if why := meters(r.Meter); why != "" {
			return why
		}
		switch {
		case r.Channel < 0 || r.Channel > 65535:
			return "channel: write a number from 1 to 65535"
		case r.Channel == 0 && r.Type == meter.ReadingType{}:
			return "channel: missing: give the channel or the reading type"
		case r.Channel == 0 && c.Target() == setting.ToParent:
			return "channel: missing: this concentrator hands readings to its parent, which knows them by their channel"
		case r.Channel != 0 && c.Form == "cim" && c.Target() == setting.ToSystems:
			return "readingType: missing: this concentrator hands readings on as MeterReadings of IEC 61968-9; give the reading type instead of the channel"
		}
		return ""
	}
}

// CheckDelivery returns what is wrong with the content of the file DeliveryFile.
func CheckDelivery(content []byte) error { return delivery.Check(content) }

// CheckEventDelivery returns what is wrong with the content of the file EventDeliveryFile.
func CheckEventDelivery(content []byte) error { return delivery.CheckEvents(content) }

// Gathers returns how many readings of an origin go to the parent at once, and how long they may wait to be so many; false for the usual. Only
// a concentrator that hands readings to its parent gathers them.
func (s *System) Gathers(origin string) (bulk int, age time.Duration, is bool) {
	if s == nil || s.section == nil || s.delivery != nil || !point.IsMeterOrigin(origin) || point.IsMeterEventOrigin(origin) {
		return 0, 0, false
	}
	return s.section.Bulk, s.section.Age, true
}
