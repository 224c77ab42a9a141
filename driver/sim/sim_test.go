package sim

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"voltbus/driver"
	"voltbus/driver/drivertest"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(model string, seed int64) *Config {
	c := NewConfig()
	c.Model, c.Seed = model, seed
	return c
}

func TestEveryModelConforms(t *testing.T) {
	for model, h := range map[string]drivertest.Harness{
		"zone":     {Writable: "setpoint", Value: point.FloatOf(22.5), ReadOnly: "temp", TooMuch: point.FloatOf(99)},
		"ahu":      {Writable: "enable", Value: point.BoolOf(false), ReadOnly: "fan_speed", TooMuch: point.IntOf(2)},
		"meter":    {Writable: "relay", Value: point.BoolOf(false), ReadOnly: "energy", TooMuch: point.TextOf("on")},
		"weather":  {},
		"room":     {Writable: "setpoint", Value: point.FloatOf(24.5), ReadOnly: "temp", TooMuch: point.FloatOf(31)},
		"building": {},
		"random":   {},
	} {
		t.Run(model, func(t *testing.T) {
			h.Kind = Kind()
			h.Config = func(*testing.T, string) driver.Config { return config(model, 7) }
			drivertest.Run(t, h)
		})
	}
}

func names(c *Config) []string {
	var names []string
	for _, info := range c.Points() {
		names = append(names, string(info.Path))
	}
	return names
}

// anyTime draws a time of some years, in microseconds.
func anyTime(t *rapid.T, label string) time.Time {
	return time.UnixMicro(rapid.Int64Range(1_700_000_000_000_000, 1_900_000_000_000_000).Draw(t, label)).UTC()
}

func TestTwoSessionsOfOneSeedAgreeAtEveryTimeHoweverOftenOneIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config(rapid.SampledFrom([]string{"zone", "ahu", "meter", "weather", "random", "room", "building"}).Draw(t, "model"), rapid.Int64().Draw(t, "seed"))
		at := anyTime(t, "time")
		often, once := reader(c), reader(c)
		for range rapid.IntRange(0, 5).Draw(t, "reads before") {
			often(at.Add(-time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "before"))), names(c))
		}
		a, b := often(at, names(c)), once(at, names(c))
		for i := range a {
			x, isNumber := a[i].Value.Number()
			y, _ := b[i].Value.Number()
			if isNumber && (x-y > 0.05 || y-x > 0.05) || !isNumber && a[i] != b[i] {
				t.Fatalf("%s is %v in one session and %v in the other", a[i].Point, a[i].Value, b[i].Value)
			}
		}
	})
}

// reader opens a device without a clock.
func reader(c *Config) func(time.Time, []string) []point.Sample {
	if c.Model == "random" {
		return (&crowd{line: &line{}, seed: uint64(c.Seed), count: c.Count}).at
	}
	return newSession(&line{}, c).at
}

func TestValuesStayPlausible(t *testing.T) {
	limits := map[string][2]float64{
		"temp": {12, 36}, "outdoor_temp": {-20, 42}, "supply_temp": {5, 35}, "mixed_temp": {-20, 42}, "return_temp": {18, 26},
		"co2": {350, 1100}, "humidity": {10, 100}, "solar": {0, 1000}, "wind": {0, 12}, "power": {0, 60}, "energy": {0, 1e9},
		"voltage": {220, 240}, "current": {10, 110}, "power_factor": {0.85, 1}, "fan_speed": {0, 100}, "damper": {0, 100},
		"cooling": {0, 20}, "cooling_power": {0, 40}, "common_power": {5, 22}, "gains": {0, 7}, "hour": {0, 24},
		"heating_valve": {0, 100}, "cooling_valve": {0, 100}, "frequency": {49.9, 50.1},
	}
	rapid.Check(t, func(t *rapid.T) {
		c := config(rapid.SampledFrom([]string{"zone", "ahu", "meter", "weather", "room", "building"}).Draw(t, "model"), rapid.Int64Range(0, 1000).Draw(t, "seed"))
		for _, s := range reader(c)(anyTime(t, "time"), names(c)) {
			number, isNumber := s.Value.Number()
			limit, known := limits[string(s.Point)]
			if isNumber && known && (number < limit[0] || number > limit[1]) {
				t.Fatalf("%s of %s is %v at %v, want %v", s.Point, c.Model, number, s.Time, limit)
			}
		}
	})
}

func TestEnergyNeverFallsAndMatchesThePower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		read := reader(config("meter", 3))
		at := anyTime(t, "time")
		hour := rapid.Int64Range(1, 48).Draw(t, "hours")
		first := number(read(at, []string{"energy"}))
		last := number(read(at.Add(time.Duration(hour)*time.Hour), []string{"energy"}))
		mean := (last - first) / float64(hour)
		if at.After(NewConfig().Start) && (mean < baseLoad || mean > baseLoad+dayLoad) {
			t.Fatalf("the mean power of %d h is %v kW, want %v to %v", hour, mean, baseLoad, baseLoad+dayLoad)
		}
		if last < first {
			t.Fatalf("energy fell from %v to %v", first, last)
		}
	})
}

func number(samples []point.Sample) float64 {
	f, _ := samples[0].Value.Number()
	return f
}

func TestASetPointMovesTheRoomFromThenOn(t *testing.T) {
	s := newSession(&line{}, config("zone", 1))
	night := time.Date(2026, 1, 14, 22, 0, 0, 0, time.UTC)
	before := number(s.at(night, []string{"temp"}))
	s.byName["setpoint"].set.value = 28
	if now := number(s.at(night, []string{"temp"})); now != before {
		t.Errorf("the room jumped from %v to %v", before, now)
	}
	if later := number(s.at(night.Add(6*time.Hour), []string{"temp"})); later < before+2 {
		t.Errorf("six hours later the room has %v, want well above %v", later, before)
	}
}

func TestABladeThatSticksMixesOtherwiseThanTheSignalSays(t *testing.T) {
	winter := time.Date(2026, 1, 14, 11, 0, 0, 0, time.UTC)
	temps := []string{"damper", "outdoor_temp", "return_temp", "mixed_temp"}
	share := func(samples []point.Sample) (signal, mixed float64) {
		v := make([]float64, len(samples))
		for i := range samples {
			v[i], _ = samples[i].Value.Number()
		}
		return v[0], 100 * (v[3] - v[2]) / (v[1] - v[2])
	}
	healthy, stuck := config("ahu", 7), config("ahu", 7)
	stuck.StuckDamper = 80
	if signal, mixed := share(reader(healthy)(winter, temps)); mixed < signal-1 || mixed > signal+1 {
		t.Errorf("the mix has %v %% of outdoor air, want the %v %% of the signal", mixed, signal)
	}
	s := newSession(&line{}, stuck)
	if signal, mixed := share(s.at(winter, temps)); mixed < 79 || mixed > 81 || signal > 50 {
		t.Errorf("the mix has %v %% of outdoor air at a signal of %v %%, want 80 and less than 50", mixed, signal)
	}
	s.byName["stuck_damper"].set.value = moves
	if signal, mixed := share(s.at(winter, temps)); mixed < signal-1 || mixed > signal+1 {
		t.Errorf("repaired, the mix has %v %% of outdoor air, want the %v %% of the signal", mixed, signal)
	}
}

func TestAClockThatGoesBackDoesNotDisturbTheRoom(t *testing.T) {
	s, fresh := newSession(&line{}, config("zone", 1)), newSession(&line{}, config("zone", 1))
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	s.at(noon, []string{"temp"})
	s.at(noon.Add(-5*time.Hour), []string{"temp"})
	if got, want := number(s.at(noon.Add(time.Hour), []string{"temp"})), number(fresh.at(noon.Add(time.Hour), []string{"temp"})); got-want > 0.05 || want-got > 0.05 {
		t.Errorf("after the clock went back the room has %v, want %v", got, want)
	}
}

func TestDevicesShareALineOnlyIfTheySaySo(t *testing.T) {
	a, b := config("random", 1), config("random", 1)
	if a.LineName() != "" || b.LineName() != "" {
		t.Errorf("they are on the lines %q and %q, want one of its own each", a.LineName(), b.LineName())
	}
	a.Line, b.Line = "load", "load"
	if a.LineName() != "sim:load" || b.LineName() != a.LineName() {
		t.Errorf("they are on the lines %q and %q, want sim:load", a.LineName(), b.LineName())
	}
}

func TestValidateSaysWhatToWrite(t *testing.T) {
	c := config("house", 1)
	c.Count, c.StuckDamper, c.Climate, c.Speed = 0, 101, "mars", 0
	var got []string
	for _, problem := range c.Validate() {
		got = append(got, problem.Error())
	}
	want := []string{
		`model: "house" is not known; write zone, ahu, meter, weather, random, room, building`,
		`points: 0 is out of range; write a number from 1 to 100000`,
		`stuck_damper: 101 is out of range; write a number from 0 to 100, or -1`,
		`climate: "mars" is not known; write moderate, hot`,
		`speed: 0 is out of range; write a number from 1 to 3600`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARandomReadAllocatesNothing(t *testing.T) {
	read := reader(config("random", 1))
	all, now := names(config("random", 1)), time.Now()
	if n := testing.AllocsPerRun(100, func() { read(now, all) }); n != 0 {
		t.Errorf("a read allocates %v times, want none", n)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, model := range []string{"zone", "ahu", "meter", "weather", "random", "room", "building"} {
		b.Run(model, func(b *testing.B) {
			read, all, now := reader(config(model, 1)), names(config(model, 1)), time.Now()
			b.ReportAllocs()
			for b.Loop() {
				read(now, all)
			}
			b.ReportMetric(float64(b.N*len(all))/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
