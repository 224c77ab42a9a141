// Package payload is the protobuf form of Sparkplug B messages. payload.pb.go is generated from payload.proto.
package payload

//go:generate go -C ../../.. run ./protocol/sparkplug/generate
