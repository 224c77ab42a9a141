// Package dnp3tool contains the field tool for DNP3 outstations.
package dnp3tool
