package device

import "voltbus/device/acquisition"

// The words that callers of a [Fleet] need, which are those of voltbus/device/acquisition.
type (
	Config = acquisition.Config // of one device
	Forms  = acquisition.Forms  // in which samples are published
	Limits = acquisition.Limits // of every line
	Outlet = acquisition.Outlet // takes scans
	State  = acquisition.State  // of one device
	Status = acquisition.Status // of one device, in a word
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
	Starting = acquisition.Starting
	Online   = acquisition.Online
	Offline  = acquisition.Offline
	Disabled = acquisition.Disabled
	Hung     = acquisition.Hung
)
