// Package bacnettool is the field tool for BACnet devices.
package bacnettool
