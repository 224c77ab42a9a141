// Package sparkplug is Sparkplug B (Eclipse Sparkplug specification 3.0) as a library without sockets: topics, values of
// metrics, the state that a host application has of edge nodes, and the messages of an edge node. It neither connects nor
// waits; whoever uses it has an MQTT client or broker and a clock.
package sparkplug
