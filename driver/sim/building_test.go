package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/fault"
)

// noon is a time at which a hot day needs much cooling.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// tower opens a building with rooms on one line.
func tower(t testing.TB, count int, change func(c *Config)) (rooms []*session, meter *session) {
	t.Helper()
	l := &line{}
	open := func(model string, seed int64) *session {
		c := config(model, seed)
		c.Line, c.Climate = "tower", "hot"
		change(c)
		s, err := l.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return s.(*session)
	}
	for i := range count {
		rooms = append(rooms, open("room", int64(i+1)))
	}
	return rooms, open("building", 1)
}

func asItIs(*Config) {}

func TestABuildingTakesWhatItsRoomsAndTheRestTake(t *testing.T) {
	rooms, meter := tower(t, 10, asItIs)
	rapid.Check(t, func(t *rapid.T) {
		at := noon.Add(time.Duration(rapid.Int64Range(0, int64(300*24*time.Hour)).Draw(t, "time")))
		sum := number(meter.at(at, []string{"common_power"}))
		for _, r := range rooms {
			sum += number(r.at(at, []string{"power"}))
		}
		if power := number(meter.at(at, []string{"power"})); power-sum > 1e-6 || sum-power > 1e-6 {
			t.Fatalf("the building takes %v kW, its rooms and the rest %v kW", power, sum)
		}
	})
}

func TestAHigherSetPointTakesLessPowerAtOnceAndForGood(t *testing.T) {
	rooms, meter := tower(t, 10, asItIs)
	before := number(meter.at(noon, []string{"power"}))
	for _, r := range rooms {
		r.byName["setpoint"].set.value = 26
	}
	soon := noon.Add(5 * time.Minute)
	if now := number(meter.at(soon, []string{"power"})); now > before-15 {
		t.Errorf("5 min later it takes %v kW, want at least 15 less than %v: nothing is cooled", now, before)
	}
	later := number(meter.at(noon.Add(4*time.Hour), []string{"power"}))
	free, without := tower(t, 10, asItIs)
	usual := number(without.at(noon.Add(4*time.Hour), []string{"power"}))
	if later > usual-3 || later < usual-10 {
		t.Errorf("4 h later it takes %v kW, want 3 to 10 less than the %v of one that is left alone", later, usual)
	}
	if warm, cool := number(rooms[0].at(noon.Add(4*time.Hour), []string{"temp"})), number(free[0].at(noon.Add(4*time.Hour), []string{"temp"})); warm < cool+2 || warm > 26.6 {
		t.Errorf("the room has %v degC, want 2 more than %v, and 26.6 at most", warm, cool)
	}
}

func TestOneSeedIsOneCourseAndAnotherSeedAnotherOne(t *testing.T) {
	_, a := tower(t, 3, asItIs)
	_, b := tower(t, 3, asItIs)
	_, other := tower(t, 3, func(c *Config) { c.Seed += 50 })
	a.at(noon.Add(-90*time.Minute), []string{"power"})
	one, same := number(a.at(noon, []string{"power"})), number(b.at(noon, []string{"power"}))
	if one-same > 0.05 || same-one > 0.05 {
		t.Errorf("the same building takes %v kW and %v kW", one, same)
	}
	if far := number(other.at(noon, []string{"power"})); far == one {
		t.Errorf("two buildings take the same %v kW", one)
	}
}

func TestTheRoomsOfABuildingHaveOneWeatherAndDifferOtherwise(t *testing.T) {
	rooms, meter := tower(t, 2, asItIs)
	a, b := rooms[0].at(noon, []string{"gains"}), rooms[1].at(noon, []string{"gains"})
	if number(a) == number(b) {
		t.Errorf("both rooms gain %v kW", number(a))
	}
	if hot := number(meter.at(noon, []string{"outdoor_temp"})); hot < 27 || hot > 37 {
		t.Errorf("a hot noon has %v degC, want 27 to 37", hot)
	}
}

func TestARoomThatIsClosedIsNotCounted(t *testing.T) {
	rooms, meter := tower(t, 3, asItIs)
	for range 2 {
		if err := rooms[1].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := number(meter.at(noon, []string{"rooms"})); n != 2 {
		t.Errorf("it counts %v rooms, want 2", n)
	}
}

func TestAFastClockLivesADayInMinutes(t *testing.T) {
	begin := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	_, fast := tower(t, 5, func(c *Config) { c.Speed, c.Begin, c.Shows = 60, begin, noon })
	_, real := tower(t, 5, asItIs)
	for minutes := range 24 {
		at := begin.Add(time.Duration(minutes) * time.Minute)
		samples := fast.at(at, []string{"power", "hour"})
		if !samples[0].Time.Equal(at) {
			t.Fatalf("a sample is of %v, want the real time %v", samples[0].Time, at)
		}
		want := real.at(noon.Add(time.Duration(minutes)*time.Hour), []string{"power", "hour"})
		for i := range samples {
			if got, want := number(samples[i:]), number(want[i:]); got-want > 0.05 || want-got > 0.05 {
				t.Errorf("after %d min %s is %v, want %v as an hour later each", minutes, samples[i].Point, got, want)
			}
		}
	}
}

func TestAFastClockHasNoEnd(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_, meter := tower(t, 2, func(c *Config) { c.Speed, c.Begin, c.Shows = maxSpeed, begin, noon })
	for _, years := range []int{0, 1, 10, 200} {
		if power := number(meter.at(begin.AddDate(years, 0, 0), []string{"power"})); power < 5 || power > 60 {
			t.Errorf("after %d years it takes %v kW, want 5 to 60", years, power)
		}
	}
}

func TestDevicesOfALineNeedOneClock(t *testing.T) {
	rooms, meter := tower(t, 1, asItIs)
	c := config("room", 9)
	c.Line, c.Speed = "tower", 60
	_, err := meter.line.Open(t.Context(), c)
	if fault.KindOf(err) != fault.Invalid {
		t.Fatalf("got %v, want invalid", err)
	}
	_, _ = rooms[0].Close(), meter.Close()
	if _, err := meter.line.Open(t.Context(), c); err != nil {
		t.Errorf("with nobody else on the line: %v", err)
	}
}
