// Package archtest tests the table of allowed imports and the size limits of packages and types. A package missing from the table fails
// it: a new folder must declare its layer.
package archtest
