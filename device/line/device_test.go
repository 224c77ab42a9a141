package line

import (
	"testing"
	"time"

	"voltbus/device/acquisition"
	"voltbus/driver"
	"voltbus/point"
)

// wired is the configuration of a device with one point.
type wired struct{}

func (*wired) Validate() []error         { return nil }
func (*wired) Load(driver.Files) []error { return nil }
func (*wired) LineName() string          { return "l" }
func (*wired) Points() []point.Info      { return []point.Info{{Path: "p"}} }

func TestAReplacedDeviceOpensNoSessionAnyMore(t *testing.T) {
	u := NewDevice(acquisition.Config{Path: "b/d", Driver: &wired{}, Interval: time.Second}, 0, 0, nil, nil)
	if !u.claim() || !u.isClaimed() {
		t.Error("a present device cannot open its session")
	}
	u.release()
	u.Retire()
	if u.claim() || u.isClaimed() {
		t.Error("a replaced device can open a session")
	}
}
