package config

// validateCluster reports what is wrong with the section "cluster", by itself and beside the others.
func (c *Config) validateCluster(r report) {
	c.Cluster.Validate(c.Node.Name, nodeName, func(key, format string, args ...any) { r("cluster."+key, format, args...) })
	if c.Cluster.Enabled() && c.Metering.Role != "off" {
		r("cluster", "and metering.role exclude each other; remove one: several metering data systems share their meters by metering.cluster")
	}
	if !c.Cluster.Witness(c.Node.Name) {
		return
	}
	if c.Store.Engine != "none" {
		r("store.engine", `is %q, and this node is a witness, which has no history; write "engine: none"`, c.Store.Engine)
	}
	if c.Listen.Broker() {
		r("listen.mqtt", "has clients, and this node is a witness, which has none; write off for mqtt and mqtts, and false for mqtt_websocket")
	}
	if len(c.Devices) > 0 {
		r("devices", "are listed, and this node is a witness, which reads none; remove them here")
	}
}
