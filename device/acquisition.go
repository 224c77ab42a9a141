package device

import "voltbus/device/acquisition"

// What callers of a [Fleet] need from voltbus/device/acquisition, under the same names.
type (
	// Config tells how one device is read.
	Config = acquisition.Config
	// Forms are the forms in which samples are published.
	Forms = acquisition.Forms
	// Limits are the limits for every line.
	Limits = acquisition.Limits
	// Outlet receives scans.
	Outlet = acquisition.Outlet
	// State is the state of one device.
	State = acquisition.State
	// Status is the state in one word.
	Status = acquisition.Status
)

// The forms of live messages.
const (
	FormScan         = acquisition.FormScan
	FormPoint        = acquisition.FormPoint
	FormBreadthScan  = acquisition.FormBreadthScan
	FormBreadthPoint = acquisition.FormBreadthPoint
)

// The statuses of a device.
const (
	Starting  = acquisition.Starting
	Online    = acquisition.Online
	Offline   = acquisition.Offline
	Disabled  = acquisition.Disabled
	Hung      = acquisition.Hung
	Elsewhere = acquisition.Elsewhere
)
