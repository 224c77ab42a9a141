// Package campus is a campus of BACnet devices that behave: buildings with air handlers and rooms whose temperatures follow from the
// weather, the people in them, and what is commanded. Every device has an address of its own on the loopback interface.
//
//   - weather.go, room.go and handler.go are the physics and the controls, without BACnet; building.go joins them.
//   - signal.go is an object of a device: what the program of its controller wants, and what others command.
//   - devices.go lists the objects; campus.go opens the devices and lets the time pass.
package campus
