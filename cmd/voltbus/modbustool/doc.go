// Package modbustool contains the field tool for Modbus devices.
package modbustool
