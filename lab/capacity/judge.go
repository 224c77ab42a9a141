package capacity

import (
	"fmt"
	"math"
)

// What a node may use of the machine: the rest is for peaks, queries and the system.
const (
	usableCPU    = 0.6
	usableMemory = 0.5
	usableDisk   = 0.5
	devicePoints = 18 // of the device that the sentences speak of
)

// bound is a resource and the number of things that it carries.
type bound struct {
	name   string
	number float64
}

// least returns the resource that is used up first. One that costs nothing measurable binds nothing.
func least(bounds ...bound) bound {
	out := bound{number: math.Inf(1)}
	for _, b := range bounds {
		if !math.IsNaN(b.number) && b.number < out.number {
			out = b
		}
	}
	return out
}

// judge works out what the machine carries.
func (f *Found) judge() {
	m := &f.Figures
	cores := usableCPU * float64(f.Machine.Cores)
	memory := usableMemory*float64(f.Machine.Memory) - float64(m.MemoryBase)
	perDevice := m.MemoryPerDevice + devicePoints*m.MemoryPerPoint
	devices := func(every float64) bound {
		rate := devicePoints / every // samples a second of a device
		return least(
			bound{"processor", cores / (rate * m.CPUPerSample)},
			bound{"memory", memory / perDevice},
			bound{"disk", usableDisk * m.Written / (rate * m.LogPerSample)},
		)
	}
	clients := least(
		bound{"processor", cores / (devicePoints * m.CPUPerDelivery)}, // 18 messages a second each
		bound{"memory", memory / m.MemoryPerClient},
	)
	second, minute := devices(1), devices(60)
	points := least(bound{"processor", cores / m.CPUPerSample}, bound{"disk", usableDisk * m.Written / m.LogPerSample})
	f.Carries = []Carry{
		{"devices of 18 points, read each second", whole(second.number), second.name},
		{"devices of 18 points, read each minute", whole(minute.number), minute.name},
		{"samples a second, stored", whole(points.number), points.name},
		{"clients that hear 18 messages a second each", whole(clients.number), clients.name},
	}
	f.BindsFirst = second.name
	f.Words = []string{
		fmt.Sprintf("This machine carries about %s devices of 18 points that are read each second (%s points), or %s that are read each minute.",
			about(second.number), about(devicePoints*second.number), about(minute.number)),
		fmt.Sprintf("It stores about %s samples a second, and serves about %s clients that hear 18 messages a second each.",
			about(points.number), about(clients.number)),
		fmt.Sprintf("With devices that are read each second the %s binds first, with devices read each minute the %s, with clients the %s.",
			second.name, minute.name, clients.name),
		fmt.Sprintf("These are estimates from short loads. They leave 40 %% of the processor, half of the memory and half of the disk's writing free; "+
			"a sample costs %.2f µs of a core, the disk has a piece of 64 KiB after %.2f ms.", m.CPUPerSample*1e6, m.Flush*1e3),
	}
}

// whole rounds down; what cannot be counted is 0.
func whole(v float64) uint64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return uint64(v)
}

// about writes a number with two digits, for people.
func about(v float64) string {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return "no"
	}
	scale := math.Pow(10, max(0, math.Floor(math.Log10(v))-1))
	v = math.Floor(v/scale) * scale
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g million", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%d,%03d", int(v)/1000, int(v)%1000)
	}
	return fmt.Sprintf("%.0f", v)
}
