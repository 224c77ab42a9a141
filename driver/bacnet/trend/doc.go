// Package trend reads what devices have logged of their points in trend logs (ASHRAE 135 clause 12.25), by the time of the
// records. It finds out which object is logged where, and in which zone a device counts.
package trend
