// Package filetransfer serves files to the masters of a DNP3 outstation (IEEE 1815-2012 clause 5, g70): a [Service] defines which, and
// [Files] holds the open files of one master and answers its requests.
package filetransfer
