package schedules

import (
	"encoding/json"
	"time"

	"voltbus/api/answer"
	"voltbus/schedule"
	"voltbus/schedule/keeper"
)

// Schedules are the schedules of a node.
type Schedules struct {
	Schedules []Kept `json:"schedules"`
}

// Kept is a schedule with its document, and what it does.
type Kept struct {
	_ struct{} `api:"schema=KeptSchedule"`

	Schedule schedule.Schedule `json:"schedule"`
	Version  int               `json:"version" api:"min=0" doc:"Of its document"`
	By       string            `json:"by" doc:"Who wrote it"`
	Wrong    string            `json:"wrong" doc:"What is wrong with it, so that it commands nothing new; empty if nothing is"`
	Now      *Change           `json:"now" doc:"What it commands; null if it is wrong"`
	Next     *Change           `json:"next" doc:"Its next change to another value; null for none within 400 days"`
	Problems []Problem         `json:"problems" doc:"Points that it cannot command; it tries again each minute"`
}

// Change is a value from a time on.
type Change struct {
	_ struct{} `api:"schema=ScheduleChange"`

	Time  time.Time       `json:"time"`
	Value json.RawMessage `json:"value" api:"schema=Value" doc:"null: nothing is commanded"`
	Why   string          `json:"why" doc:"The day of the week, or the name of the exception"`
}

// Problem is a point that cannot be commanded.
type Problem struct {
	_ struct{} `api:"schema=ScheduleProblem"`

	Point   string `json:"point" doc:"Empty for all"`
	Message string `json:"message"`
}

// Changes are what a schedule would command.
type Changes struct {
	_ struct{} `api:"schema=ScheduleChanges"`

	Now     Change   `json:"now" doc:"What holds at the start"`
	Changes []Change `json:"changes" doc:"To other values, in the order of time"`
}

// Holding is what became of commands until the next change.
type Holding struct {
	_ struct{} `api:"schema=ScheduleHolding"`

	Until   time.Time          `json:"until" doc:"The next change"`
	Results []answer.Commanded `json:"results"`
}

// Calendars are the calendars of a node.
type Calendars struct {
	Calendars []KeptCalendar `json:"calendars"`
}

// KeptCalendar is a calendar with its document.
type KeptCalendar struct {
	Calendar schedule.Calendar `json:"calendar"`
	Version  int               `json:"version" api:"min=0" doc:"Of its document"`
	By       string            `json:"by" doc:"Who wrote it"`
	Wrong    string            `json:"wrong" doc:"What is wrong with it; empty if nothing is"`
	Next     []Day             `json:"next" doc:"Its next dates within 400 days, ten at most"`
}

// Day is a date of a calendar.
type Day struct {
	_ struct{} `api:"schema=CalendarDay"`

	Date string `json:"date"`
	Name string `json:"name"`
}

func changeOf(c *schedule.Change) *Change {
	return &Change{Time: c.Time.UTC(), Value: c.Value.AppendJSON(nil), Why: c.Why}
}

func keptOf(s *keeper.Schedule) Kept {
	out := Kept{Schedule: s.Schedule, Version: s.Version, By: s.By, Problems: make([]Problem, len(s.Problems))}
	if s.Wrong != nil {
		out.Wrong = s.Wrong.Error()
	} else {
		out.Now = changeOf(&s.Now)
	}
	if s.Next != nil {
		out.Next = changeOf(s.Next)
	}
	for i, p := range s.Problems {
		out.Problems[i] = Problem{Point: p.Point, Message: p.Text}
	}
	return out
}

// shownDates is how many of its next dates are told of a calendar.
const shownDates = 10

func calendarOf(c *keeper.Calendar, now time.Time) KeptCalendar {
	out := KeptCalendar{Calendar: c.Calendar, Version: c.Version, By: c.By, Next: []Day{}}
	if c.Wrong != nil {
		out.Wrong = c.Wrong.Error()
		return out
	}
	for _, d := range c.Next(now, shownDates) {
		out.Next = append(out.Next, Day{Date: d.Date, Name: d.Name})
	}
	return out
}
