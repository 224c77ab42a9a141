package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAttackWhatIsNoSerialPortIsNotOpened(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "ttyUSB0"), filepath.Join(dir, "port")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", ".", "/dev/null", "/dev/mem", "/dev/watchdog", "/dev/../dev/zero", "/proc/kmsg", "/etc/passwd", "/dev/pts", file, link} {
		if SerialPort(name) == nil {
			t.Errorf("%q is taken for a serial port", name)
		}
	}
	if _, err := os.Stat("/dev/tty"); err == nil && SerialPort("/dev/tty") != nil {
		t.Error("a terminal is not taken for one")
	}
}
