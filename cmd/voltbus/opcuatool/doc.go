// Package opcuatool is the command `voltbus opcua`: a field tool for OPC UA servers.
package opcuatool
