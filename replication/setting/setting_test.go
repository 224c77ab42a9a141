package setting_test

import (
	"fmt"
	"slices"
	"testing"

	"voltbus/replication/setting"
)

func TestAReplicaListensAtEveryInterfaceOrOne(t *testing.T) {
	for listen, wrong := range map[string]bool{"": false, ":6222": false, "0.0.0.0:6222": false, "[::1]:6222": false, "6222": true, "a": true, ":0": true, "a:b": true, "off": true} {
		c := setting.Cluster{Listen: listen, KeyFile: "k"}
		for i := range 3 {
			c.Replicas = append(c.Replicas, setting.Replica{Name: fmt.Sprint("r", i), Address: fmt.Sprint("10.0.0.1:", 1+i)})
		}
		var keys []string
		c.Validate("r0", func(name string) string { return name }, func(key, _ string, _ ...any) { keys = append(keys, key) })
		if got := slices.Contains(keys, "listen"); got != wrong || len(keys) > 1 {
			t.Errorf("listen %q: what is wrong is %q", listen, keys)
		}
	}
}
