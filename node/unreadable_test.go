package node

import (
	"strings"
	"testing"

	"voltbus/device"
)

func TestHealthSaysWhichDevicesAnswerOnlyInPart(t *testing.T) {
	devices := []device.State{{Path: "a"}, {Path: "b", Problem: "the device refuses 2 of 9 registers"}, {Path: "c", Problem: "the scan was cut"}}
	if err := unreadable(devices[:1]); err != nil {
		t.Errorf("a device without a problem: %v", err)
	}
	if err := unreadable(devices[:2]); err == nil || err.Error() != "b: the device refuses 2 of 9 registers" {
		t.Errorf("one device: %v", err)
	}
	if err := unreadable(devices); err == nil || !strings.HasPrefix(err.Error(), "2 devices answer, but not for all points; b: ") {
		t.Errorf("two devices: %v", err)
	}
}
