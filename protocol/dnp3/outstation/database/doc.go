// Package database holds the current values of a DNP3 outstation: points by kind and
// index, with the class, dead-band and variations they are reported in.
package database
