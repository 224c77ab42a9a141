package keeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/document"
	"voltbus/fault"
	"voltbus/schedule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf keeps documents in memory.
type shelf struct {
	mu   sync.Mutex
	docs map[string]document.Document
}

func (s *shelf) List(context.Context, string) (list []document.Document, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.docs {
		list = append(list, d)
	}
	return list, nil
}

func (s *shelf) Get(_ context.Context, k document.Key, _ int) (document.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.docs[k.Name], nil
}

func (s *shelf) Set(_ context.Context, d document.Document, expect int) (document.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if expect != document.AnyVersion && expect != s.docs[d.Name].Version {
		return d, fault.E("shelf", fault.Conflict, d.Name, errors.New("is another version"))
	}
	d.Version = s.docs[d.Name].Version + 1
	s.docs[d.Name] = d
	return d, nil
}

func (s *shelf) Delete(_ context.Context, k document.Key, _, _ string, _ int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.docs, k.Name)
	return nil
}

// plant takes commands as control does: a repeat of an identifier is done once, and what is held stays over a restart.
type plant struct {
	mu sync.Mutex

	held  map[Held]string
	done  map[string]bool
	out   []string // what happened
	fails string
	away  bool   // nobody controls
	alert string // the newest
}

func newPlant() *plant { return &plant{held: map[Held]string{}, done: map[string]bool{}} }

func (p *plant) Set(_ context.Context, o *Order) (problems []Problem, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away {
		return nil, fault.E("plant", fault.Unavailable, "control", errors.New("nobody controls at this moment"))
	}
	for _, path := range o.Points {
		if p.fails != "" {
			problems = append(problems, Problem{path, p.fails})
			continue
		}
		if id := o.Schedule + o.ID + path; !p.done[id] {
			p.done[id] = true
			p.held[Held{o.Schedule, path, o.Level}] = o.Value.String()
			p.out = append(p.out, fmt.Sprintf("%s %s@%d=%s", time.Now().UTC().Format("Mon 15:04"), path, o.Level, o.Value))
		}
	}
	return problems, nil
}

func (p *plant) Release(_ context.Context, list []Held) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range list {
		delete(p.held, h)
		p.out = append(p.out, fmt.Sprintf("%s %s@%d released", time.Now().UTC().Format("Mon 15:04"), h.Point, h.Level))
	}
	return nil
}

func (p *plant) Held(context.Context) (list []Held, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for h := range p.held {
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b Held) int { return strings.Compare(a.Point, b.Point) })
	return list, nil
}

func (p *plant) raise(_ string, message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alert = string(message)
	return nil
}

// fail has commands fail with a text; "" ends it.
func (p *plant) fail(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fails = text
}

func (p *plant) told() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.alert
}

// took returns what happened since the last call.
func (p *plant) took() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := strings.Join(p.out, ", ")
	p.out = nil
	return out
}

// building is a keeper at work in virtual time, from Saturday, 1 January 2000, at 00:00 UTC.
type building struct {
	*Keeper

	docs  *shelf
	plant *plant
	stop  func()
}

// start starts a keeper on the same documents and plant.
func (b *building) start(t *testing.T) {
	b.Keeper = New(Options{
		Documents: b.docs, Commander: b.plant, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Raise: b.plant.raise,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	b.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	synctest.Wait()
}

func inBuilding(t *testing.T, do func(t *testing.T, b *building)) {
	synctest.Test(t, func(t *testing.T) {
		b := &building{docs: &shelf{docs: map[string]document.Document{}}, plant: newPlant()}
		b.start(t)
		do(t, b)
		b.stop()
	})
}

func (b *building) put(t *testing.T, text string) {
	t.Helper()
	var s schedule.Schedule
	err := schedule.Parse([]byte(text), &s)
	if err == nil {
		_, err = b.Put(t.Context(), s, "ann", "", document.AnyVersion)
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func (b *building) sees(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	if got := b.plant.took(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// after lets time pass.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

const office = `{"name":"office","points":["b/fan"],"week":{"saturday":[{"at":"07:00","value":true},{"at":"18:00","value":false}],"sunday":[{"at":"08:00","value":true}]}}`

func TestPointsAreCommandedAtTheirTimesAndReleasedWhenNothingHolds(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.put(t, office)
		b.sees(t, "")
		after(7*time.Hour + time.Second)
		b.sees(t, "Sat 07:00 b/fan@15=true")
		after(24 * time.Hour)
		b.sees(t, "Sat 18:00 b/fan@15=false, Sun 00:00 b/fan@15 released")
		list := b.Schedules()
		if len(list) != 1 || list[0].Next == nil || list[0].Next.Time.UTC().Hour() != 8 || list[0].Version != 1 || list[0].By != "ann" {
			t.Errorf("the list is %+v", list)
		}
	})
}

func TestARestartCommandsWhatHoldsAndRepeatsNothing(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.put(t, office)
		after(8 * time.Hour)
		b.sees(t, "Sat 07:00 b/fan@15=true")
		b.stop()
		b.start(t)
		b.sees(t, "")
		b.stop()
		after(11 * time.Hour) // the change at 18:00 is missed
		b.start(t)
		b.sees(t, "Sat 19:00 b/fan@15=false")
		b.stop()
		after(7 * time.Hour) // so is the end of the day
		b.start(t)
		b.sees(t, "Sun 02:00 b/fan@15 released")
	})
}

func TestWhatAScheduleNoLongerWantsIsReleased(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.put(t, `{"name":"office","points":["b/fan","b/lamp"],"default":1,"week":{}}`)
		b.sees(t, "Sat 00:00 b/fan@15=1, Sat 00:00 b/lamp@15=1")
		b.put(t, `{"name":"office","points":["b/fan"],"level":12,"default":1,"week":{}}`)
		b.sees(t, "Sat 00:00 b/fan@12=1, Sat 00:00 b/fan@15 released, Sat 00:00 b/lamp@15 released")
		if err := b.Delete(t.Context(), "office", "ann", ""); err != nil {
			t.Fatal(err)
		}
		b.sees(t, "Sat 00:00 b/fan@12 released")
		after(48 * time.Hour)
		b.sees(t, "")
	})
}

func TestACalendarChangesTheSchedulesThatUseIt(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		with := strings.Replace(office, `"week"`, `"exceptions":[{"calendar":"holidays"}],"week"`, 1)
		var s schedule.Schedule
		if err := schedule.Parse([]byte(with), &s); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(t.Context(), s, "ann", "", 0); err == nil || !strings.Contains(err.Error(), "make it first") {
			t.Errorf("a schedule without its calendar gives %v", err)
		}
		holidays := schedule.Calendar{Name: "holidays"}
		put := func() {
			if _, err := b.PutCalendar(t.Context(), holidays, "ann", "", document.AnyVersion); err != nil {
				t.Fatal(err)
			}
		}
		put()
		b.put(t, with)
		after(10 * time.Hour)
		b.sees(t, "Sat 07:00 b/fan@15=true")
		holidays.Dates = []schedule.CalendarEntry{{Dates: schedule.Dates{Date: "2000-01-01"}, Name: "New Year's Day"}}
		put()
		b.sees(t, "Sat 10:00 b/fan@15 released")
		if err := b.DeleteCalendar(t.Context(), "holidays", "ann", ""); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "office") {
			t.Errorf("deleting a calendar in use gives %v", err)
		}
		if err := b.Delete(t.Context(), "office", "ann", ""); err != nil {
			t.Error(err)
		}
		if err := b.DeleteCalendar(t.Context(), "holidays", "ann", ""); err != nil || len(b.Calendars()) != 0 {
			t.Errorf("deleting it then gives %v, %v", err, b.Calendars())
		}
	})
}

func TestWhatCannotBeCommandedIsToldAndTriedAgain(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.plant.fail("is not known")
		b.put(t, `{"name":"office","points":["b/fan"],"default":1,"week":{}}`)
		if p := b.Schedules()[0].Problems; len(p) != 1 || p[0] != (Problem{"b/fan", "is not known"}) {
			t.Errorf("the problems are %v", p)
		}
		if last := b.plant.told(); !strings.Contains(last, "office cannot command b/fan: is not known") {
			t.Errorf("the alert is %s", last)
		}
		b.sees(t, "")
		b.plant.fail("")
		after(2 * pause)
		b.sees(t, "Sat 00:01 b/fan@15=1")
		if last := b.plant.told(); !strings.Contains(last, `"cleared":true`) || len(b.Schedules()[0].Problems) != 0 {
			t.Errorf("the alert is %s", last)
		}
	})
}

func TestWhileNobodyControlsItIsTriedAgainSoonWithoutAnAlert(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.plant.mu.Lock()
		b.plant.away = true
		b.plant.mu.Unlock()
		b.put(t, `{"name":"office","points":["b/fan"],"default":1,"week":{}}`)
		after(look)
		b.plant.mu.Lock()
		b.plant.away = false
		b.plant.mu.Unlock()
		after(2 * look)
		b.sees(t, "Sat 00:00 b/fan@15=1")
		if told := b.plant.told(); strings.Contains(told, "office") {
			t.Errorf("the alert is %s", told)
		}
	})
}

func TestADocumentThatIsWrongIsToldAndItsCommandsStay(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.put(t, `{"name":"office","points":["b/fan"],"default":1,"week":{}}`)
		b.sees(t, "Sat 00:00 b/fan@15=1")
		for text, says := range map[string]string{`{"name":"office"`: "EOF", `{"name":"lab","points":["b/fan"],"week":{}}`: "must be the same", `{"name":"office","points":[],"week":{}}`: "points"} {
			d, _ := b.docs.Set(t.Context(), document.Document{Key: document.Key{Owner: document.Shared, Name: "schedules/office"}, Type: document.JSON, Text: text}, document.AnyVersion)
			b.Changed(document.Change{Key: d.Key})
			synctest.Wait()
			if list := b.Schedules(); len(list) != 1 || list[0].Wrong == nil || !strings.Contains(list[0].Wrong.Error(), says) || list[0].Name != "office" {
				t.Errorf("%s gives %+v", text, list)
			}
			after(time.Minute)
			b.sees(t, "")
		}
	})
}
