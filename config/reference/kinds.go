package main

import "voltbus/driver"

// kinds lists the drivers whose keys the reference describes.
func kinds() []driver.Kind {
	return nil
}
