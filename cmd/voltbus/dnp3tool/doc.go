// Package dnp3tool has the commands with which an engineer looks at DNP3 outstations in the field.
package dnp3tool
