// Package enum names the enumerations of BACnet (ASHRAE 135 clause 21): object types,
// properties, engineering units, error classes and codes, reasons of reject and abort,
// event states, event types and reliabilities.
//
// The tables are text files, one a kind, with a number and a name a line; units have a
// symbol too. A number outside a table, such as a vendor's property, is valid: it is
// shown as its number and read back from it.
package enum
