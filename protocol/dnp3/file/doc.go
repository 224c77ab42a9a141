// Package file encodes and decodes the file objects of DNP3 (IEEE 1815-2012 Annex A, group 70): opening, closing, deleting and describing
// files, their blocks, and directory entries. Each is decoded from an [object.Raw] and encoded into a slice; all travel in free format,
// one to an object header.
package file
