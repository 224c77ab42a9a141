// Package verdict judges the health of a node in one place for all who show it: health, overview, the page's menu, device list, agent list, command line
// and metrics. It is a pure function of facts; it asks nobody.
package verdict
