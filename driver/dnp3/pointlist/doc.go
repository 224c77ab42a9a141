// Package pointlist defines the point list of an outstation: its registry format, the meaning of its objects for the platform, and
// how its points are read and commanded. It does no input or output.
package pointlist
