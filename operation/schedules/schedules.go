// Package schedules declares and carries out the operations on schedules and calendars.
package schedules

import (
	"context"
	"encoding/json"
	"time"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/schedule"
	"voltbus/schedule/keeper"
)

// Keeper keeps the schedules. See keeper.Keeper.
type Keeper interface {
	Schedules() []keeper.Schedule
	Calendars() []keeper.Calendar
	Plan(s *schedule.Schedule) (*schedule.Plan, error)
	Put(ctx context.Context, s schedule.Schedule, by, note string, expect int) (keeper.Schedule, error)
	PutCalendar(ctx context.Context, c schedule.Calendar, by, note string, expect int) (keeper.Calendar, error)
	Delete(ctx context.Context, name, by, note string) error
	DeleteCalendar(ctx context.Context, name, by, note string) error
}

// The arguments.
type (
	// NewSchedule is a schedule to write.
	NewSchedule struct {
		schedule.Schedule

		Note   string `json:"note" api:"max=1024" doc:"Why, for the history of the document"`
		Expect *int   `json:"expect" api:"min=-1" doc:"The version that it was made from, 0 for a schedule that is not there, -1 for whatever"`
	}
	// Preview asks for what a schedule would do.
	Preview struct {
		schedule.Schedule

		Start operation.Time `json:"start" doc:"Now if left out"`
		Most  int            `json:"most" api:"min=1,max=1000,default=50" doc:"So many changes at most"`
	}
	// NewCalendar is a calendar to write.
	NewCalendar struct {
		schedule.Calendar

		Note   string `json:"note" api:"max=1024" doc:"Why, for the history of the document"`
		Expect *int   `json:"expect" api:"min=-1" doc:"The version that it was made from, 0 for a calendar that is not there, -1 for whatever"`
	}
	// Name names a schedule.
	Name struct {
		Schedule string `json:"schedule" api:"required,max=64"`
		Note     string `json:"note" api:"query,max=1024" doc:"Why, for the history of the document"`
	}
	// CalendarName names a calendar.
	CalendarName struct {
		Calendar string `json:"calendar" api:"required,max=64"`
		Note     string `json:"note" api:"query,max=1024" doc:"Why, for the history of the document"`
	}
	// Hold holds the points of a schedule at a value until its next change.
	Hold struct {
		Schedule string          `json:"schedule" api:"required,max=64"`
		Value    json.RawMessage `json:"value" api:"required" doc:"A number, true, false or a text"`
		Points   []string        `json:"points" api:"max=1000" doc:"Of the schedule; all if left out"`
		Level    int             `json:"level" api:"min=0,max=16" doc:"More urgent than that of the schedule; 8 if left out"`
		Reason   string          `json:"reason" api:"max=1024"`
	}
)

const (
	smallBody = 64 << 10
	largeBody = 1 << 20
	devices   = time.Minute // for commands that wait for a device's response
)

// The operations.
var (
	List = operation.Declare[struct{}, Schedules](operation.Spec{
		Name: "schedule.list", ID: "listSchedules", HTTP: "GET /schedules", Role: identity.Viewer, Remote: true,
		Summary: "List the schedules, what they command now, and what next", Result: "By name, also those whose documents are wrong",
	})
	Put = operation.Declare[NewSchedule, Kept](operation.Spec{
		Name: "schedule.put", ID: "putSchedule", HTTP: "PUT /schedules", Role: identity.Engineer, Remote: true, Audited: true, Body: largeBody,
		Summary: "Write a schedule", Result: "The schedule",
		Doc: "It is kept as the shared document schedules/<name>, with its history, and commands its points from now on. 409 if expect is another version.",
	})
	Delete = operation.Declare[Name, operation.None](operation.Spec{
		Name: "schedule.delete", ID: "deleteSchedule", HTTP: "DELETE /schedules/{schedule}", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Delete a schedule", Doc: "Its commands end, so that points follow the next level or go back; the history of the document stays.",
	})
	Previewed = operation.Declare[Preview, Changes](operation.Spec{
		Name: "schedule.preview", ID: "previewSchedule", HTTP: "POST /schedules/preview", Role: identity.Viewer, Remote: true, Body: largeBody,
		Summary: "Say what a schedule would command, and when", Result: "Changes of the next 400 days", Doc: "Nothing is written.",
	})
	HoldUntil = operation.Declare[Hold, Holding](operation.Spec{
		Name: "schedule.hold", ID: "holdSchedule", HTTP: "POST /schedules/hold", Role: identity.Operator, Remote: true, Audited: true, Body: smallBody, Wait: operation.UsualWait + devices,
		Summary: "Command points of a schedule until its next change", Result: "What became of each command, and until when they last",
		Doc: "The commands are those of the caller, with a lease that ends at the next change; release them to resume sooner. 409 if no change comes within 400 days.",
	})
	ListCalendars = operation.Declare[struct{}, Calendars](operation.Spec{
		Name: "calendar.list", ID: "listCalendars", HTTP: "GET /calendars", Role: identity.Viewer, Remote: true,
		Summary: "List the calendars that schedules share", Result: "By name, with their next dates",
	})
	PutCalendar = operation.Declare[NewCalendar, KeptCalendar](operation.Spec{
		Name: "calendar.put", ID: "putCalendar", HTTP: "PUT /calendars", Role: identity.Engineer, Remote: true, Audited: true, Body: largeBody,
		Summary: "Write a calendar", Result: "The calendar",
		Doc: "It is kept as the shared document calendars/<name>, with its history. The schedules that use it follow at once. 409 if expect is another version.",
	})
	DeleteCalendar = operation.Declare[CalendarName, operation.None](operation.Spec{
		Name: "calendar.delete", ID: "deleteCalendar", HTTP: "DELETE /calendars/{calendar}", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Delete a calendar", Doc: "409 while a schedule uses it.",
	})
)

// Part carries out the operations on schedules.
type Part struct {
	Keeper Keeper // nil for a node without control
	// Table returns the operations of the node, among them those of control.
	Table func() *operation.Table
	Now   func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Put, nil, p.put), operation.Bind(Delete, nil, p.delete), operation.Bind(Previewed, nil, p.preview),
		operation.Bind(HoldUntil, nil, p.hold), operation.Bind(ListCalendars, nil, p.calendars), operation.Bind(PutCalendar, nil, p.putCalendar),
		operation.Bind(DeleteCalendar, nil, p.deleteCalendar),
	}
	if p.Keeper == nil {
		return operation.Absent(list)
	}
	return list
}
