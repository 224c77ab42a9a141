// Package wire encodes and decodes samples, blocks and live messages, and maps paths to bus subjects. It is the only package that
// knows these formats; docs/formats describes them.
package wire
