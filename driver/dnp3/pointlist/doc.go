// Package pointlist is the list of points of an outstation: how a registry writes it, what its objects mean to the platform, how
// they are asked for and how they are commanded. It does no input or output.
package pointlist
