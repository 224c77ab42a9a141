// Package systemd carries the unit of a node as a service, for whoever installs one.
package systemd

import _ "embed" // the unit

// Unit is the unit file voltbus.service.
//
//go:embed voltbus.service
var Unit string
