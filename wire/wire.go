// Package wire encodes and decodes samples, blocks and live messages, and maps paths to bus subjects. It is the only place that knows
// these forms; docs/formats describes them.
package wire
