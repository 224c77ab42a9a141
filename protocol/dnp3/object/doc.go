// Package object describes the objects of DNP3 (IEEE 1815-2012 Annex A): the groups and variations, their layouts, and the content of
// points, commands, times and device attributes.
//
// [Variation] names a form of object and [Variation.Layout] gives its layout;
// one table holds all of them. [Point] is the value of any input, output or counter
// in one shape; [Raw] is any other object as octets with typed views. Object headers
// and fragments are the business of package app.
package object
