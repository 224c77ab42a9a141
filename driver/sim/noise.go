package sim

import (
	"math"
	"time"
)

// noise is a smooth, seeded function between -1 and 1 that varies over about one period: random values at its
// multiples, joined by cubic curves.
func noise(seed uint64, t time.Time, period time.Duration) float64 {
	n := t.UnixNano()
	i, rest := n/int64(period), n%int64(period)
	if rest < 0 { // before 1970, and where the nanoseconds overflow
		i, rest = i-1, rest+int64(period)
	}
	x := float64(rest) / float64(period)
	a, b := dice(seed, i), dice(seed, i+1)
	return a + (b-a)*x*x*(3-2*x)
}

// dice returns a random number between -1 and 1 for an index.
func dice(seed uint64, place int64) float64 {
	return float64(int64(scramble(seed^scramble(uint64(place))))) / (1 << 63)
}

// scramble is the finalizer of SplitMix64: each bit of x changes half of the result's bits.
func scramble(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// day is the elapsed fraction of the day, 0 to 1, in UTC.
func day(t time.Time) float64 {
	const seconds = 24 * 60 * 60
	return math.Mod(float64(t.Unix()%seconds)/seconds+1, 1)
}

// swing is a daily sine between -1 and 1, with its peak at the given hour.
func swing(t time.Time, hour float64) float64 {
	return math.Cos(2 * math.Pi * (day(t) - hour/24))
}

// worktime reports whether people are in the building: Monday to Friday, 7 to 18 hours UTC.
func worktime(t time.Time) bool {
	t = t.UTC()
	return t.Weekday() >= time.Monday && t.Weekday() <= time.Friday && t.Hour() >= 7 && t.Hour() < 18
}
