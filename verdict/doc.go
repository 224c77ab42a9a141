// Package verdict says whether all is well at a node, in one place for everybody who asks: health, the overview, the
// device list, the list of agents, the command line and the metrics. It is a pure function of facts; it asks nobody.
package verdict
