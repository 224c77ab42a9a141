// Package pointlist knows the points of OPC UA servers: the lists that people write, which node each point is, and how values of
// OPC UA become values of points and back. It is pure: nothing here asks a server.
//
//   - entry.go and registry.go read lists of points, item.go checks one, node.go is the address of a node.
//   - value.go converts values, unit.go engineering units, name.go browse names.
package pointlist
