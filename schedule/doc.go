// Package schedule decides what points are set to by weekly schedules with exceptions and calendars: pure functions of a schedule and an
// instant, without a clock, a disk and control.
//
// # A day
//
// A day is a list of times with values. A value holds from its time on until the next one, at the latest until the day ends. Each day begins
// with the default of the schedule; without a default nothing is commanded, and points follow the next level of control. So it is in BACnet
// (ASHRAE 135-2024, 12.24.4).
//
// # Which day
//
// The first exception that has the date decides the whole day; without one it is the day of the week. Outside the effective period nothing is
// commanded.
//
// # Time
//
// Times are those of a clock in the time zone of the schedule. A time that a clock skips when summer time begins takes effect when it skips; a
// time that comes twice when summer time ends takes effect the first time, and is not repeated.
package schedule
