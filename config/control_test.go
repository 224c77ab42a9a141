package config

import (
	"testing"
	"time"

	"voltbus/control"
	"voltbus/point"
)

func TestTheLastRuleThatNamesAPointCounts(t *testing.T) {
	text := `
devices:
  hall:
    driver: meter
    config: {address: b, registers: [set temp, set fan, flow]}
    control:
      - {lease: 15m, default: 1}
      - points: [set fan]
        min: 0
        interlocks: [{point: flow, min: 5, from: 1}]
      - points: [set temp]
        heartbeat: 30s
`
	cfg, err := LoadText("x.yaml", []byte(text), kinds())
	if err != nil {
		t.Fatal(err)
	}
	points := cfg.Devices[0].Controlled()
	temp, fan, flow := points[0], points[1], points[2]
	if temp.Heartbeat != 30*time.Second || temp.Policy.Longest != 0 || temp.Default.Kind() != point.None {
		t.Errorf("temp is %+v", temp)
	}
	lock := fan.Policy.Interlocks[0]
	if fan.Heartbeat != 0 || *fan.Policy.Range.Min != 0 || lock.Other != "hall/flow" || *lock.Needs.Min != 5 || *lock.Guards.Min != 1 {
		t.Errorf("fan is %+v", fan)
	}
	if flow.Writable || flow.Policy != nil || flow.Point != "hall/flow" || flow.Device != "hall" {
		t.Errorf("flow is %+v", flow)
	}
}

func TestARegistryGivesDefaultAndLimitsThatARuleReplaces(t *testing.T) {
	low, high, least := 10.0, 30.0, 15.0
	info := point.Info{Path: "sp", Kind: point.Float, Writable: true, Default: point.FloatOf(20), Min: &low, Max: &high}
	d := Device{Path: "b", Control: []ControlRule{{Points: []string{"sp"}, Min: &least, Revert: "before"}}, Config: &meter{}}
	got, err := d.controlled(&info, 0, d.rules())
	if err != nil || got.Default != point.FloatOf(20) || got.Revert != control.RevertBefore || *got.Policy.Range.Min != 15 || *got.Policy.Range.Max != 30 {
		t.Errorf("got %+v, %v", got, err)
	}
	d.Control = nil
	if got, err = d.controlled(&info, 0, nil); err != nil || *got.Policy.Range.Min != 10 || *got.Policy.Range.Max != 30 {
		t.Errorf("without a rule it is %+v, %v", got, err)
	}
}
