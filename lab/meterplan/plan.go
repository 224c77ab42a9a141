package meterplan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/fault"
)

// Order is what is to be planned.
type Order struct {
	Meters   int
	Channels int           // of each meter, one reading each an interval
	Interval time.Duration // between two readings of a channel
	Keep     time.Duration // how long readings stay
	Use      float64       // share of the limits that may be used; the rest is for peaks and for what came late
	// Spare is how many nodes of each kind there are more than needed, for those that fail.
	Spare int
}

// Plan is what it takes.
type Plan struct {
	Order
	Limits       Limits  `json:"limits"`
	Rate         float64 // readings a second of all meters
	PerNode      float64 // readings a second that an MDS may get
	Systems      int     // MDS, the spare ones among them
	Concentrator int     // concentrators, the spare ones among them
	MetersEach   int     // meters of a concentrator
	Cores        int     // of all MDS
	Memory       float64 // bytes of one MDS
	Disk         float64 // bytes of all MDS for all that is kept
	Daily        float64 // readings a day
}

func (o *Order) check() error {
	problem := ""
	switch {
	case o.Meters < 1 || o.Meters > 1e9:
		problem = "meters: write 1 to 1000M, such as 1.2M"
	case o.Channels < 1 || o.Channels > 100:
		problem = "channels: write 1 to 100"
	case o.Interval < time.Second || o.Interval > 24*time.Hour:
		problem = "interval: write 1s to 24h, such as 15m"
	case o.Keep < 24*time.Hour:
		problem = "keep: write a day or more, such as 1095d"
	case !(o.Use > 0) || o.Use > 1:
		problem = "use: write a share above 0 and up to 1, such as 0.5"
	case o.Spare < 0 || o.Spare > 100:
		problem = "spare: write 0 to 100"
	}
	if problem == "" {
		return nil
	}
	return fault.E("meter plan", fault.Invalid, "", errors.New(problem))
}

// Make plans. It fails with fault.Invalid for an order that cannot be.
func Make(o Order, l Limits) (Plan, error) {
	if err := o.check(); err != nil {
		return Plan{}, err
	}
	p := Plan{Order: o, Limits: l}
	each := float64(o.Channels) / o.Interval.Seconds() // readings a second of a meter
	p.Rate = float64(o.Meters) * each
	p.Daily = p.Rate * (24 * time.Hour).Seconds()
	limit := l.MDS
	if l.Validated > 0 {
		limit = min(limit, l.Validated)
	}
	p.PerNode = limit * o.Use
	p.Systems = int(math.Ceil(p.Rate/p.PerNode)) + o.Spare
	p.MetersEach = max(1, min(o.Meters, int(l.Concentrator*o.Use/each)))
	p.Concentrator = int(math.Ceil(float64(o.Meters)/float64(p.MetersEach))) + o.Spare
	p.Cores = p.Systems * l.Cores
	p.Memory = l.MemoryBase + l.MemoryPerMeter*math.Ceil(float64(o.Meters)/float64(max(1, p.Systems-o.Spare)))
	p.Disk = p.Daily * o.Keep.Hours() / 24 * l.DiskPerReading
	return p, nil
}

// Words says the plan in lines.
func (p *Plan) Words() []string {
	l := &p.Limits
	lines := []string{
		fmt.Sprintf("%s meters with %s each %s are %s readings/s, %s a day.", number(float64(p.Meters)), channels(p.Channels), p.Interval, number(p.Rate), number(p.Daily)),
		fmt.Sprintf("Metering data systems: %d (%d of them to spare), each with %d cores, for %s readings/s at most; %d cores in all.", p.Systems, p.Spare, l.Cores, number(p.PerNode), p.Cores),
		fmt.Sprintf("Concentrators: %d (%d of them to spare), with %s meters each.", p.Concentrator, p.Spare, number(float64(p.MetersEach))),
		fmt.Sprintf("Memory: %s for each metering data system, besides its cache for queries.", inBytes(p.Memory)),
		fmt.Sprintf("Disk: %s in all for %.0f days, raw and validated; more where readings are edited often.", inBytes(p.Disk), p.Keep.Hours()/24),
	}
	if l.Shipped {
		lines = append(lines, fmt.Sprintf("No run of %s was found for this machine: these are the figures that came with the program, of %s, %d cores, measured %s (load before: %s). Measure yours: voltbus lab run %s",
			Experiment, l.CPU, l.Cores, l.Measured.Format(time.DateOnly), l.Load, Experiment))
	} else {
		lines = append(lines, fmt.Sprintf("Limits are those of run %s on this machine (%s, %d cores, load before: %s).", l.Run, l.CPU, l.Cores, l.Load))
	}
	return append(lines, fmt.Sprintf("%.0f %% of the limits is planned for: %s readings/s of a concentrator, %s of a metering data system, %s imported and validated. More than one metering data system is a multiple of one, which nobody measured.",
		100*p.Use, number(l.Concentrator), number(l.MDS), number(l.Validated)))
}

func channels(n int) string {
	if n == 1 {
		return "one reading"
	}
	return fmt.Sprintf("%d readings", n)
}

// number writes a large number for people.
func number(n float64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.3g G", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3g M", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.3g k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}

func inBytes(n float64) string {
	switch {
	case n >= 1e12:
		return fmt.Sprintf("%.3g TB", n/1e12)
	case n >= 1e9:
		return fmt.Sprintf("%.3g GB", n/1e9)
	}
	return fmt.Sprintf("%.0f MB", n/1e6)
}
