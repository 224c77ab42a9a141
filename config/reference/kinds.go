package main

import (
	"voltbus/driver"
	"voltbus/driver/all"
)

// kinds lists the drivers whose keys the reference describes.
func kinds() []driver.Kind { return all.Kinds() }
