// Package promql answers PromQL queries of the history through the HTTP API that Prometheus offers to readers, so that Grafana's built-in
// data source works with a node. The language is that of Prometheus' own engine; this package gives it the points as series:
//
//	voltbus_point{path="site/ahu1/temp", device="site/ahu1", point="temp", unit="degC", kind="float", tag_equip="ahu"}
//
// A point is also a series named after the last segment of its path, with everything that a metric's
// name may not hold as "_": temp{device="site/ahu1", …}. Texts are no series.
package promql
