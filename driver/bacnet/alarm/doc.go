// Package alarm keeps the alarms and events of one BACnet device (ASHRAE 135 clause 13): from its notifications, and from what it
// answers to GetEventInformation. It enters the node into the recipient lists of a device, too.
package alarm
