// Package systemd contains the systemd unit that runs a node as a service.
package systemd

import _ "embed" // the unit

// Unit is the unit file voltbus.service.
//
//go:embed voltbus.service
var Unit string
