// Package wire turns samples, blocks and live messages into bytes and back, and paths into bus
// subjects. It is the only place that knows these forms; docs/formats describes them.
package wire
