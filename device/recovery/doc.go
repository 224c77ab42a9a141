// Package recovery does for a device that is reachable again what its scans cannot do: it fills the gaps of points from the log
// that the device keeps by itself. [Watch] does the same for other tasks. The owner of the devices reads them as usual meanwhile; what
// is asked here waits in the queue of their line, a small part at a time.
package recovery
