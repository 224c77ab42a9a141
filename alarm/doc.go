// Package alarm decides which alarms are open, in the terms of ISA-18.2 and IEC 62682: rules look at readings, and each rule has one alarm
// for each point that it selects. It is pure: it has no clock, reads and writes nothing, and the same readings, times and acts of operators
// in the same order lead to the same states.
package alarm
