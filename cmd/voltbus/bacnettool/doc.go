// Package bacnettool is the field tool for BACnet devices, and the command that serves points of a node as one.
package bacnettool
