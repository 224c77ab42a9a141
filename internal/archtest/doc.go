// Package archtest tests the table of allowed imports and the size limits of packages and types. A package that is not in the table fails
// it: a new folder must say in which layer it lives.
package archtest
