// Package pointlist knows the points of BACnet devices: the lists that people write, which object and property
// each point is, and how values of BACnet become values of points and back. It is pure: nothing here asks a
// device.
//
//   - entry.go and registry.go read lists of points, item.go checks one.
//   - value.go converts values, unit.go engineering units, name.go names of objects.
package pointlist
