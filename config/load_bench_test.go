package config

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkLoad reads 10,000 devices of 18 points: what a node does before its first scan.
func BenchmarkLoad(b *testing.B) {
	const repeated = `
devices:
  site/building{n:05}:
    driver: meter
    count: 10000
    config:
      address: "10.0.0.1:{n+1000}"
      registers: [p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18]
`
	file := filepath.Join(b.TempDir(), "plant.yaml")
	if err := os.WriteFile(file, []byte(repeated), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		cfg, err := Load(file, kinds())
		if err != nil || len(cfg.Devices) != 10_000 {
			b.Fatal(err)
		}
	}
}
