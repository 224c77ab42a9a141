package keeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/document"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/schedule"
)

// Where the documents are among the shared ones.
const (
	Folder    = "schedules/"
	Calendars = "calendars/"
)

// Schedule is a schedule and what it does now.
type Schedule struct {
	schedule.Schedule

	Version  int
	By       string // who wrote it
	Wrong    error
	Now      schedule.Change  // what holds, and since when at least
	Next     *schedule.Change // nil: none within 400 days
	Problems []Problem
}

// Calendar is a calendar, with what is wrong with its document.
type Calendar struct {
	schedule.Calendar

	Version int
	By      string
	Wrong   error
}

// Changed has schedules read again if the document is one of them, or a calendar.
func (k *Keeper) Changed(c document.Change) {
	name := strings.ToLower(c.Name)
	if k != nil && c.Owner == document.Shared && (strings.HasPrefix(name, Folder) || strings.HasPrefix(name, Calendars)) {
		k.signal()
	}
}

// identifier begins the identifiers of the commands of a change.
func identifier(version int, at time.Time) string {
	return strconv.Itoa(version) + "." + strconv.FormatInt(at.Unix(), 36)
}

// Schedules lists the schedules by name, also those whose documents are wrong.
func (k *Keeper) Schedules() []Schedule {
	now := k.o.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]Schedule, 0, len(k.schedules))
	for _, s := range k.schedules {
		out := Schedule{Schedule: s.schedule, Version: s.version, By: s.by, Wrong: s.wrong, Problems: slices.Clone(s.problems)}
		if s.plan != nil {
			out.Now, out.Next = s.plan.At(now), s.coming(now)
		}
		list = append(list, out)
	}
	slices.SortFunc(list, func(a, b Schedule) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Calendars lists the calendars by name, also those whose documents are wrong.
func (k *Keeper) Calendars() []Calendar {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]Calendar, 0, len(k.calendars))
	for _, c := range k.calendars {
		list = append(list, Calendar{c.calendar, c.version, c.by, c.wrong})
	}
	slices.SortFunc(list, func(a, b Calendar) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Plan reads a schedule with the calendars of the node.
func (k *Keeper) Plan(s *schedule.Schedule) (*schedule.Plan, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return schedule.NewPlan(s, k.calendar)
}

// calendar returns a calendar that is right. The caller holds mu.
func (k *Keeper) calendar(name string) (schedule.Calendar, bool) {
	c := k.calendars[name]
	if c == nil || c.wrong != nil {
		return schedule.Calendar{}, false
	}
	return c.calendar, true
}

// Put writes a schedule as a new version of its document.
func (k *Keeper) Put(ctx context.Context, s schedule.Schedule, by, note string, expect int) (Schedule, error) {
	if _, err := k.Plan(&s); err != nil {
		return Schedule{}, err
	}
	if err := k.write(ctx, Folder+s.Name, &s, document.Document{By: by, Note: note}, expect); err != nil {
		return Schedule{}, err
	}
	for _, has := range k.Schedules() {
		if has.Name == s.Name {
			return has, nil
		}
	}
	return Schedule{}, fault.E("schedule.Put", fault.Conflict, s.Name, errors.New("was deleted by somebody else meanwhile"))
}

// PutCalendar writes a calendar as a new version of its document.
func (k *Keeper) PutCalendar(ctx context.Context, c schedule.Calendar, by, note string, expect int) (Calendar, error) {
	if err := c.Validate(); err != nil {
		return Calendar{}, err
	}
	if err := k.write(ctx, Calendars+c.Name, &c, document.Document{By: by, Note: note}, expect); err != nil {
		return Calendar{}, err
	}
	for _, has := range k.Calendars() {
		if has.Name == c.Name {
			return has, nil
		}
	}
	return Calendar{}, fault.E("schedule.PutCalendar", fault.Conflict, c.Name, errors.New("was deleted by somebody else meanwhile"))
}

func (k *Keeper) write(ctx context.Context, name string, what any, d document.Document, expect int) error {
	text, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return fault.E("schedule.Put", fault.Internal, name, err)
	}
	d.Key, d.Type, d.Text = document.Key{Owner: document.Shared, Name: name}, document.JSON, string(text)+"\n"
	if _, err := k.o.Documents.Set(ctx, d, expect); err != nil {
		return err
	}
	defer k.signal()
	return k.load(ctx)
}

// Delete removes a schedule; its commands end.
func (k *Keeper) Delete(ctx context.Context, name, by, note string) error {
	return k.remove(ctx, Folder+name, by, note)
}

// DeleteCalendar removes a calendar that no schedule uses.
func (k *Keeper) DeleteCalendar(ctx context.Context, name, by, note string) error {
	for _, s := range k.Schedules() {
		if slices.ContainsFunc(s.Exceptions, func(x schedule.Exception) bool { return x.Calendar == name }) {
			return fault.E("schedule.DeleteCalendar", fault.Conflict, name, fmt.Errorf("the schedule %s uses it; take it out there first", s.Name))
		}
	}
	return k.remove(ctx, Calendars+name, by, note)
}

func (k *Keeper) remove(ctx context.Context, name, by, note string) error {
	if err := k.o.Documents.Delete(ctx, document.Key{Owner: document.Shared, Name: name}, by, note, document.AnyVersion); err != nil {
		return err
	}
	defer k.signal()
	return k.load(ctx)
}

// load reads the documents that have changed.
func (k *Keeper) load(ctx context.Context) error {
	k.loading.Lock()
	defer k.loading.Unlock()
	list, err := k.o.Documents.List(ctx, document.Shared)
	if err != nil {
		return err
	}
	k.mu.Lock()
	schedules, calendars := make(map[string]*kept, len(k.schedules)), make(map[string]*calendar, len(k.calendars))
	known, dates := k.schedules, k.calendars
	k.mu.Unlock()
	changed := false
	for i := range list {
		d := &list[i]
		if name, is := strings.CutPrefix(strings.ToLower(d.Name), Calendars); is {
			if c := dates[name]; c != nil && c.version == d.Version {
				calendars[name] = c
				continue
			}
			c := &calendar{version: d.Version, by: d.By}
			if c.wrong = k.read(ctx, d, name, &c.calendar, &c.calendar.Name); c.wrong == nil {
				c.wrong = c.calendar.Validate()
			}
			calendars[name], changed = c, true
		}
		if name, is := strings.CutPrefix(strings.ToLower(d.Name), Folder); is {
			if s := known[name]; s != nil && s.version == d.Version {
				schedules[name] = s
				continue
			}
			s := &kept{version: d.Version, by: d.By}
			s.unread = k.read(ctx, d, name, &s.schedule, &s.schedule.Name)
			schedules[name], changed = s, true
		}
	}
	if changed || len(schedules) != len(known) || len(calendars) != len(dates) {
		k.use(schedules, calendars)
	}
	return ctx.Err()
}

// read reads a document into a schedule or a calendar with a name.
func (k *Keeper) read(ctx context.Context, d *document.Document, name string, into any, named *string) error {
	whole, err := k.o.Documents.Get(ctx, d.Key, 0)
	if err == nil && whole.Type != document.JSON {
		err = fmt.Errorf("%s: it is a document of type json", d.Name)
	}
	if err == nil {
		err = schedule.Parse([]byte(whole.Text), into)
	}
	if err == nil && *named != name {
		err = fmt.Errorf("name: %q is in the document %s; they must be the same", *named, d.Name)
	}
	*named = name
	return err
}

// use makes plans of schedules. What one has commanded is commanded anew if it may be another value.
func (k *Keeper) use(schedules map[string]*kept, calendars map[string]*calendar) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.schedules, k.calendars, k.tidied = schedules, calendars, false
	for name, s := range schedules {
		next := &kept{schedule: s.schedule, unread: s.unread, wrong: s.unread, version: s.version, by: s.by, state: s.state}
		if next.sought = (time.Time{}); s.unread == nil {
			next.plan, next.wrong = schedule.NewPlan(&s.schedule, k.calendar)
		}
		schedules[name] = next
	}
}

// wants reports whether a schedule wants to hold a command. Those whose documents are wrong keep what they hold.
func (k *Keeper) wants(h *Held) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.schedules[h.Schedule]
	switch {
	case s == nil:
		return false
	case s.plan == nil:
		return true
	}
	return levelOf(&s.schedule) == h.Level && slices.Contains(s.schedule.Points, h.Point) && s.plan.At(k.o.Now()).Value.Kind() != point.None
}
