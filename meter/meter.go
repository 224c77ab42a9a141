// Package meter defines the nouns of metering: meters with channels and registers, where they are installed, what they report, and
// readings with their versions. It is pure: no storage, no messages, no clock. Terms follow IEC 61968-9; OBIS codes follow IEC 62056-61.
//
// Readings are columns, never one object each: a History keeps the versions of one channel, package vee
// validates blocks of consecutive intervals.
package meter

import (
	"errors"
	"fmt"
	"time"
)

// Commodity is what a meter measures. The numbers may be stored: never change them.
type Commodity uint8

// The commodities.
const (
	Electricity Commodity = 1 + iota
	Gas
	Heat
	Water
)

var commodityNames = [...]string{"", "electricity", "gas", "heat", "water"}

// String returns the name, such as "electricity".
func (c Commodity) String() string {
	if c >= Electricity && int(c) < len(commodityNames) {
		return commodityNames[c]
	}
	return fmt.Sprintf("commodity(%d)", uint8(c))
}

// ParseCommodity is the inverse of String.
func ParseCommodity(name string) (Commodity, error) {
	for i, n := range commodityNames[1:] {
		if n == name {
			return Commodity(i + 1), nil
		}
	}
	return 0, fmt.Errorf("commodity %q: write electricity, gas, heat or water", name)
}

// Channel is one series of a meter: a register, or a load profile of interval readings.
type Channel struct {
	Number      int // 1 and up, unique within the meter
	ReadingType ReadingType
	OBIS        OBIS          // zero when the meter has none
	Interval    time.Duration // of a load profile, 1 s to 24 h; 0 for a register
	Multiplier  float64       // of current and voltage transformers: quantity = reading × Multiplier; above 0
	Register    Register      // how the register behind the channel rolls over; zero when unknown
}

// Unit returns the unit with its power of ten, such as "kWh".
func (c Channel) Unit() string { return c.ReadingType.UnitName() }

// Validate returns everything that is wrong with the channel, joined.
func (c Channel) Validate() error {
	var problems []error
	if c.Number < 1 {
		problems = append(problems, fmt.Errorf("number: %d: write 1 or more", c.Number))
	}
	if err := c.ReadingType.Check(); err != nil {
		problems = append(problems, fmt.Errorf("reading type: %w", err))
	}
	if c.Interval != 0 && (c.Interval < time.Second || c.Interval > 24*time.Hour || (24*time.Hour)%c.Interval != 0) {
		problems = append(problems, fmt.Errorf("interval: %s: write a length from 1s to 24h that divides a day, or 0 for a register", c.Interval))
	}
	if length := c.ReadingType.Length(); c.Interval != 0 && length != 0 && length != c.Interval {
		problems = append(problems, fmt.Errorf("interval: %s: the reading type says %s", c.Interval, length))
	}
	if !(c.Multiplier > 0) {
		problems = append(problems, fmt.Errorf("multiplier: %v: write a number above 0; 1 without transformers", c.Multiplier))
	}
	if err := c.Register.check(); err != nil {
		problems = append(problems, fmt.Errorf("register: %w", err))
	}
	return errors.Join(problems...)
}

// Meter is a device with channels.
type Meter struct {
	ID        string
	Commodity Commodity
	Channels  []Channel
}

// Validate returns everything that is wrong with the meter and its channels, joined.
func (m Meter) Validate() error {
	var problems []error
	if m.ID == "" {
		problems = append(problems, errors.New("id: missing"))
	}
	if m.Commodity < Electricity || m.Commodity > Water {
		problems = append(problems, errors.New("commodity: write electricity, gas, heat or water"))
	}
	seen := make(map[int]bool, len(m.Channels))
	for i, c := range m.Channels {
		if err := c.Validate(); err != nil {
			problems = append(problems, fmt.Errorf("channels[%d]: %w", i, err))
		}
		if seen[c.Number] {
			problems = append(problems, fmt.Errorf("channels[%d]: number %d is given twice", i, c.Number))
		}
		seen[c.Number] = true
	}
	return errors.Join(problems...)
}

// Key names a reading: all its versions share it.
type Key struct {
	Meter   string
	Channel int
	End     time.Time // end of the interval; the moment of reading for a register
}
