// Package archtest holds the rule who may import whom, as a table that is a test. A package that
// is not in the table fails it: a new folder must say in which layer it lives.
package archtest
