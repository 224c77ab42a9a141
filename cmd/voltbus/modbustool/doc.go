// Package modbustool has the commands with which an engineer looks at Modbus devices in the field.
package modbustool
