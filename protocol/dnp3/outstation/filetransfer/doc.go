// Package filetransfer serves files to the masters of a DNP3 outstation (IEEE 1815-2012
// clause 5, g70): a [Service] says which, and [Files] holds what one master has open and
// answers its requests.
package filetransfer
