package sender_test

import (
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/judge/setting"
	"voltbus/point"
	"voltbus/uplink/judged"
	"voltbus/wire"
)

// judging is a site whose child judges what it sends.
type judging struct {
	*site

	dir   string
	rules setting.Rules
	log   *judged.Log
	end   func()
}

func newJudging(t *testing.T, seed uint64, rules ...setting.Rule) *judging {
	t.Helper()
	j := &judging{site: newSite(t, seed), dir: t.TempDir()}
	j.cfg.File = filepath.Join(j.dir, "uplink.json")
	for _, r := range rules {
		j.rules = append(j.rules, r.Completed())
	}
	return j
}

// start opens the child with what its folder has.
func (j *judging) start() {
	j.t.Helper()
	var err error
	j.log, err = judged.Open(j.t.Context(), judged.Config{
		Rules: j.rules, Origin: "child~1", Dir: j.dir, Blocks: j.child, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Shared: func() bool { return j.sender != nil && j.sender.Shared() },
	})
	if err != nil {
		j.t.Fatal(err)
	}
	j.cfg.Own = j.own
	j.log.Join(&j.cfg)
	j.end = goRun(j.log.Run)
	j.startChild()
}

func (j *judging) finish() {
	j.stopDown()
	j.end()
}

// crash has the child begin with what was on disk, without a last word.
func (j *judging) crash() {
	synctest.Wait()
	files := map[string][]byte{}
	for _, name := range []string{"uplink.json", "sinks/parent.judge", "sinks/parent.json", "sinks/parent.withheld", "sinks/parent.verdicts"} {
		if data, err := os.ReadFile(filepath.Join(j.dir, name)); err == nil {
			files[name] = data
		}
	}
	j.finish()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(j.dir, name), data, 0o600); err != nil {
			j.t.Fatal(err)
		}
	}
	j.start()
}

// has returns how often the parent's log has each value of child~1, with its own time, and how many of them are marked.
func (j *judging) has() (values map[int64]int, marked int) {
	values = map[int64]int{}
	for _, data := range j.parent.entries {
		var b point.Block
		if err := new(wire.Decoder).DecodeBlock(data, &b); err != nil {
			j.t.Fatal(err)
		}
		for i := range b.Len() {
			s := b.Sample(i)
			n, _ := s.Value.Int()
			if s.Time.UnixMicro() != n {
				j.t.Errorf("%d has the time %v", n, s.Time)
			}
			values[n]++
			if !s.Quality.IsGood() {
				marked++
			}
		}
	}
	return values, marked
}

func (j *judging) adds(s judged.State) bool {
	return s.Withheld == uint64(s.Held+s.Sending)+s.Released+s.Discarded+s.Unkept
}

func high(verdict string, points ...string) setting.Rule {
	return setting.Rule{Name: verdict, Check: setting.Range, Points: points, High: new(float64(99)), Verdict: verdict, To: []string{setting.Parent}}
}

func TestWhatIsWithheldFromTheParentComesWhenAPersonReleasesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJudging(t, 1, high(setting.Withhold, "ahu1/**"))
		j.startParent()
		j.start()
		for range 3 {
			j.record("child~1", path(1), 50)
		}
		j.until("it arrives", j.arrived)
		_, left, _ := j.account()
		values, _ := j.has()
		if left["child~1"] != 50 || len(values) != 100 {
			t.Errorf("%d are left out, and %d have come", left["child~1"], len(values))
		}
		if list, err := j.log.Withheld("", 0, 100); err != nil || len(list) != 50 || list[0].Value != "100" || list[0].Rule != setting.Withhold {
			t.Errorf("withheld are %v, %v", list, err)
		}
		j.setAway(true)
		if n, err := j.log.Release("withhold"); n != 50 || err != nil {
			t.Errorf("released are %d, %v", n, err)
		}
		if s := j.log.State(); s.Sending != 50 || s.Held != 0 || !j.adds(s) {
			t.Errorf("the state is %+v", s)
		}
		j.crash()
		j.record("child~1", path(1), 10)
		j.setAway(false)
		j.until("all are there", func() bool { s := j.log.State(); return j.arrived() && s.Released == 50 && s.Held == 10 })
		values, _ = j.has()
		if len(values) != 150 {
			t.Errorf("%d have come", len(values))
		}
		if n, err := j.log.Dismiss(""); n != 10 || err != nil {
			t.Errorf("discarded are %d, %v", n, err)
		}
		if s := j.log.State(); s.Discarded != 10 || s.Rules[0].Withheld != 60 || !j.adds(s) {
			t.Errorf("the state is %+v", s)
		}
		if _, err := j.log.Release("nobody"); err == nil {
			t.Error("a rule that does not exist released something")
		}
		j.finish()
		j.stopUp()
	})
}

// Whatever is cut off, crashes or is lost on the way: a reading is at the parent once, or it waits for a person.
func TestEachReadingIsAtTheParentOnceOrWithheld(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) { eachOnce(t, seed) })
	}
}

func eachOnce(t *testing.T, seed uint64) {
	j := newJudging(t, seed, high(setting.Withhold, "ahu1/**"), high(setting.Mark, "ahu2/**"))
	r := rand.New(rand.NewPCG(seed, 9))
	j.lossy = 0.05
	j.startParent()
	j.start()
	for range 60 {
		switch r.IntN(8) {
		case 0:
			j.setAway(r.IntN(2) == 0)
		case 1:
			j.cut()
		case 2:
			if _, err := j.log.Release(""); err != nil {
				t.Fatal(err)
			}
		case 3:
			j.crash()
		case 4:
			j.finish()
			j.start()
		default:
			j.record("child~1", path(1+r.IntN(3)), 1+r.IntN(40))
		}
		time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond) //nolint:forbidigo // virtual
	}
	j.setAway(false)
	j.until("all that nobody withholds is there", func() bool { return j.arrived() && j.log.State().Sending == 0 })
	s := j.log.State()
	values, marked := j.has()
	for n, times := range values {
		if times != 1 {
			t.Errorf("%d is there %d times", n, times)
		}
	}
	list, err := j.log.Withheld("", 0, 10_000)
	if err != nil || len(list) != s.Held || len(values)+s.Held != len(j.produced["child~1"]) || !j.adds(s) || s.Withheld == 0 {
		t.Errorf("seed %d: of %d, %d came, and %d are withheld: %+v, %v", seed, len(j.produced["child~1"]), len(values), len(list), s, err)
	}
	if got := s.Rules[1].Marked; got != uint64(marked) {
		t.Errorf("%d are marked, %d came so", got, marked)
	}
	j.finish()
	j.stopUp()
}

// A parent that lost its disk gets what was recorded again, without what is withheld.
func TestAParentThatBeginsAnewGetsNothingThatIsWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJudging(t, 1, high(setting.Withhold, "ahu1/**"))
		j.startParent()
		j.start()
		j.record("child~1", path(1), 150)
		j.until("it arrives", j.arrived)
		before, _ := j.has()
		j.setAway(true)
		j.stopUp()
		j.parent.entries, j.disk.kept = nil, 0
		j.startParent()
		j.rules = nil // verdicts hold for the log as it is, also without the rules
		j.finish()
		j.start()
		j.setAway(false)
		j.until("it is there again", j.arrived)
		if now, _ := j.has(); !maps.Equal(before, now) || len(now) != 100 {
			t.Errorf("the parent has %d, then %d", len(before), len(now))
		}
		j.finish()
		j.stopUp()
	})
}

func TestAPositionThatIsDamagedSendsNothingTwice(t *testing.T) {
	for _, name := range []string{"sinks/parent.judge", "sinks/parent.json", "uplink.json"} {
		synctest.Test(t, func(t *testing.T) {
			j := newJudging(t, 1, high(setting.Withhold, "ahu1/**"))
			j.startParent()
			j.start()
			j.record("child~1", path(1), 150)
			j.until("it is judged", j.arrived)
			if _, err := j.log.Release(""); err != nil {
				t.Fatal(err)
			}
			j.until("it arrives", func() bool { return j.arrived() && j.log.State().Released == 50 })
			j.finish()
			if err := os.WriteFile(filepath.Join(j.dir, name), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			j.start()
			j.record("child~1", path(1), 10)
			j.until("the rest arrives", j.arrived)
			if _, err := j.log.Release(""); err != nil {
				t.Fatal(err)
			}
			j.until("all is there", func() bool { s := j.log.State(); return s.Sending == 0 && s.Held == 0 })
			values, _ := j.has()
			for n, times := range values {
				if times != 1 {
					t.Errorf("%s: %d is there %d times", name, n, times)
				}
			}
			if len(values) != 160 {
				t.Errorf("%s: %d came, %+v", name, len(values), j.log.State())
			}
			j.finish()
			j.stopUp()
		})
	}
}
